//! Fuzz target: questions as a person or a model is asked them.

#![allow(
    clippy::expect_used,
    reason = "what does not hold has to end the run, with the input that has shown it"
)]

use dormouse_text::visible::{hides_something, visible_line, visible_prose};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use url::Url;

use crate::{Capability, Question, QuestionOrigin, attribution as attributed, question_links};

/// Questions: they are marked as their server's, and lead to pages of the web. The first line is a
/// text or a link, the rest the parameters.
pub fn attribution(data: &[u8]) {
    const MARK: &str = "[server `";
    let text = String::from_utf8_lossy(data);
    let (words, params) = text.split_once('\n').unwrap_or((&text, ""));
    let is_marked = |text: &str| {
        let rest = text.strip_prefix("[server `x`] ");
        let rest = rest.or_else(|| text.eq("[server `x`]").then_some(""));
        let rest = rest.expect("it begins with its server");
        assert!(!rest.to_ascii_lowercase().contains(MARK), "{text}");
        assert_eq!(visible_prose(text), text, "{text:?}");
        assert!(
            !hides_something(text) && !text.contains("\n\n\n\n"),
            "{text:?}"
        );
    };
    let is_page = |link: &str| {
        let url = Url::parse(link).expect("a link to a page is a URL");
        assert!(matches!(url.scheme(), "http" | "https") && url.has_host());
        assert!(url.username().is_empty() && url.password().is_none());
        assert_eq!(visible_line(link), link);
        assert!(!link.contains('\\'), "{link}");
    };
    is_marked(&attributed::message("x", &text));
    is_marked(&attributed::message("x", words));
    if question_links::is_page(words) {
        is_page(words);
    }
    let logger = attributed::logger(words, Some(&text));
    let name = logger.trim_start().to_ascii_lowercase();
    assert!(!name.starts_with("dormouse") && !logger.contains('\n'));
    let pages = attributed::error_data("x", -32042, params.to_owned());
    // What cannot be looked at does not pass.
    if pages != "null" {
        let pages: Value = serde_json::from_str(&pages).expect("what was JSON stays JSON");
        let pages = pages.get("elicitations").and_then(Value::as_array);
        for page in pages.expect("it has pages") {
            let of = |name: &str| page.get(name).and_then(Value::as_str);
            is_marked(of("message").expect("a page has a message"));
            is_page(of("url").expect("a page has a link"));
        }
    }
    let Ok(values) = serde_json::from_str::<Map<String, Value>>(params) else {
        return;
    };
    let kinds = [
        (Capability::ElicitationForm, "message"),
        (Capability::ElicitationUrl, "message"),
        (Capability::Sampling, "systemPrompt"),
        (Capability::Roots, ""),
    ];
    for (capability, shown) in kinds {
        let question = Question {
            id: words.to_owned(),
            origin: QuestionOrigin::Server,
            capability,
            params: values.clone(),
            text: RawValue::from_string(params.to_owned()).ok(),
        };
        let Ok(asked) = question.attributed("x") else {
            let may_hide = [Capability::ElicitationUrl, Capability::ElicitationForm];
            assert!(may_hide.contains(&capability));
            continue;
        };
        let sent: Map<String, Value> =
            serde_json::from_str(&asked.to_text()).expect("a question is an object");
        // What a reader takes that counts the first of two members, too.
        assert_eq!(sent, asked.params, "its text says something else");
        if capability == Capability::Sampling {
            let context = sent.get("includeContext");
            assert!(context.is_none_or(|context| context == "none"));
        }
        if !shown.is_empty() {
            let shown = sent.get(shown).and_then(Value::as_str);
            is_marked(shown.expect("it says who asks"));
        }
        if capability == Capability::ElicitationUrl {
            is_page(sent.get("url").and_then(Value::as_str).unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    dormouse_tests::fuzz_loops! { attribution }
}
