//! Memory that marking takes.

use dormouse_tests::peak_memory::PeakMemory;
use parking_lot::Mutex;

use super::*;
use crate::MAX_QUESTION_BYTES;
use crate::attribution::mark::unmarked_for_model;

/// Parts of texts of which each takes work: marks, links, maths, references, tags, text from right to left,
/// and short lines.
const PARTS: [&str; 8] = [
    "[",
    "a[b](c)*",
    "[server `[b](c)*$$",
    "\\lbrack$$[server `",
    "&#91;server &#96;b",
    "<b>[",
    "א[",
    "\n\na",
];

/// Character that nobody sees, in place of which six are shown.
const HIDDEN: &str = "\u{7f}";

/// Way of showing a text, by its name.
type Way<'w> = (&'w str, &'w dyn Fn(&str));

/// Held by the test that measures: the memory is that of the process.
static MEASURING: Mutex<()> = Mutex::new(());

/// Shows long texts in some ways. For each byte they take `most` bytes of memory at once, and those of
/// characters that nobody sees three times as many.
fn check(most: usize, ways: &[Way<'_>]) {
    let _measuring = MEASURING.lock();
    // What one gives back may be kept for the next one: all count together.
    let Some(peak) = PeakMemory::begin() else {
        return;
    };
    let parts = PARTS.map(|part| (part, most)).into_iter();
    for (part, most) in parts.chain([(HIDDEN, 3 * most)]) {
        let text = part.repeat(MAX_QUESTION_BYTES / part.len());
        for (what, show) in ways {
            show(&text);
            let bytes = peak.bytes();
            eprintln!("{what} of {part:?}: at most {} KiB", bytes >> 10);
            let most = (most * MAX_QUESTION_BYTES) as u64;
            assert!(bytes <= most, "{what} of {part:?}: {bytes} bytes");
        }
    }
}

#[test]
fn showing_a_text_takes_memory_in_proportion_to_it() {
    check(
        8,
        &[
            ("unmarked_for_model", &|text| {
                drop(unmarked_for_model(text));
            }),
            ("message", &|text| drop(message("x", text))),
            ("remark", &|text| drop(remark(text))),
            ("logger", &|text| drop(logger("x", Some(text)))),
            ("progress_message", &|text| drop(progress_message(text))),
            ("error_message", &|text| drop(error_message(text))),
            ("log_data", &|text| drop(log_data(text.into()))),
        ],
    );
}

#[test]
fn showing_a_question_takes_memory_in_proportion_to_it() {
    let asked = |kind: Capability, params: Value| {
        let question = question(kind, params).attributed("x");
        std::hint::black_box(question.is_ok());
    };
    check(
        16,
        &[
            ("a sampling", &|text| {
                let message = json!({ "content": { "type": "text", "text": text } });
                asked(Capability::Sampling, json!({ "messages": [message] }));
            }),
            ("a system prompt", &|text| {
                asked(Capability::Sampling, json!({ "systemPrompt": text }));
            }),
            ("a form", &|text| {
                let schema = json!({ "properties": { "a": { "title": text } } });
                asked(
                    Capability::ElicitationForm,
                    json!({ "requestedSchema": schema }),
                );
            }),
        ],
    );
}
