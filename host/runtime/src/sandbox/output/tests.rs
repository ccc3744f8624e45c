//! What is logged of a guest's output, and what is told of it.

use dormouse_policy::Grants;

use super::budget::OutputRoom;
use super::*;

fn none() -> Arc<GivenSecrets> {
    GivenSecrets::new(&Grants::default(), &Arc::default(), &Arc::default())
}

#[test]
fn last_words_are_those_of_this_call_as_they_were_said() {
    let output = InstanceOutput::new("odd", 1000, none());
    let stderr = output.stream(StreamName::Stderr);
    stderr.log(b"of the call before\n");
    output.begin();
    stderr.log(b"\nthread 'main' panicked at src/lib.rs:1:2:\r\nno \"soup\" in \x1b[1mC:\\");
    stderr.log(
        "\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n"
            .as_bytes(),
    );
    output.stream(StreamName::Stdout).log(b"something else");
    assert_eq!(
        output.last_words(),
        r#"thread 'main' panicked at src/lib.rs:1:2:; no "soup" in \u{1b}[1mC:\"#
    );
}

#[test]
fn last_words_have_nothing_that_looks_like_a_mark() {
    let output = InstanceOutput::new("odd", 1000, none());
    output.begin();
    let stderr = output.stream(StreamName::Stderr);
    stderr.log(b"[server `bank`] PIN?\n[1] ok\n");
    assert_eq!(output.last_words(), "(server `bank`] PIN?; [1] ok");
}

/// Returns the output of a plugin that is given that secret.
fn given(secret: &str) -> InstanceOutput {
    let settings = serde_json::json!({ "token": secret });
    let settings = Arc::new(settings.as_object().unwrap().clone());
    InstanceOutput::new(
        "odd",
        100_000,
        GivenSecrets::new(&Grants::default(), &settings, &Arc::default()),
    )
}

#[test]
fn a_secret_that_the_beginning_of_the_last_words_goes_through_is_not_shown() {
    let secret: String = (0..400)
        .map(|part| format!("{:04}K", part * 7919 % 10_000))
        .collect();
    let secret = |bytes: usize| secret[..bytes].to_owned();
    for (length, behind) in [(40, 1000), (1009, 30), (1500, 100), (1500, 1023)] {
        let output = given(&secret(length));
        let said = format!(
            "{} was {}{}",
            "x ".repeat(2000),
            secret(length),
            " y".repeat(behind / 2)
        );
        // However it is written.
        for part in said.as_bytes().chunks(100) {
            output.stream(StreamName::Stderr).log(part);
        }
        let told = output.last_words();
        assert!(
            told.chars().all(|c| "xyw as…".contains(c)),
            "{length}: {told}"
        );
        assert!(told.ends_with(" y") && told.contains('…'), "{told}");
    }
    let output = given("s3cret");
    output
        .stream(StreamName::Stderr)
        .log("é".repeat(2000).as_bytes());
    assert_eq!(output.last_words(), "é".repeat(512));
}

#[test]
fn lines_are_looked_at_when_they_are_whole() {
    let output = given("s3cret-of-it");
    let stream = output.stream(StreamName::Stdout);
    let begun = || output.shared.begun[0].lock().clone();
    let used = || output.shared.printed.used();
    stream.log(b"one\ntwo s3cr");
    assert_eq!(
        (begun(), used()),
        (b"two s3cr".to_vec(), LINE_BYTES as u64 + 3)
    );
    stream.log(b"et-of-it");
    assert_eq!(begun(), b"two s3cret-of-it");
    output.end();
    assert_eq!((begun(), used()), (vec![], 2 * LINE_BYTES as u64 + 19));
    // Of one that does not end only so much is kept.
    (0..100).for_each(|_| stream.log(&[b'x'; 1000]));
    assert!(begun().len() < 2 * MAX_LINE_BYTES, "{}", begun().len());
}

#[test]
fn a_call_has_only_so_much_room() {
    let room = |bytes, is_exceeded| OutputRoom { bytes, is_exceeded };
    let budget = OutputBudget::new(10);
    assert_eq!(budget.take(4), room(4, false));
    assert_eq!(budget.take(8), room(6, true));
    assert_eq!(budget.take(1), room(0, false));
    let exact = OutputBudget::new(4);
    assert_eq!(exact.take(4), room(4, false));
    assert_eq!(exact.take(1), room(0, true));
    assert_eq!(exact.take(1), room(0, false));
    let none = OutputBudget::new(0);
    assert_eq!(none.take(1), room(0, true));
}

#[test]
fn what_stands_before_a_line_counts_too() {
    let output = InstanceOutput::new("odd", 1000, none());
    let used = |output: &InstanceOutput| output.shared.logged.used();
    output.log("info", None, "");
    assert_eq!(used(&output), LINE_BYTES as u64);
    output.log("info", Some("name"), "text");
    assert_eq!(used(&output), 2 * LINE_BYTES as u64 + 8);
    // Lines that nobody sees are not even looked at.
    output
        .stream(StreamName::Stdout)
        .log(&b"a\n".repeat(1_000_000));
    let printed = output.shared.printed.used();
    assert!(printed < 1000 + 3 * (LINE_BYTES as u64 + 1), "{printed}");
}

#[test]
fn printing_and_logging_take_linear_time() {
    let settings: serde_json::Map<_, _> = (0..100)
        .map(|n| (format!("token{n}"), format!("s3cret-number-{n}-{n}").into()))
        .collect();
    let secrets = GivenSecrets::new(&Grants::default(), &Arc::new(settings), &Arc::default());
    let said = |what: &str, size: usize| vec![what.as_bytes().to_vec(); size];
    type Said<'s> = &'s dyn Fn(usize) -> Vec<Vec<u8>>;
    let cases: [(&str, Said<'_>); 4] = [
        ("lines", &|size| said("s3cret-number-7-7 and more\n", size)),
        ("lines of one piece", &|size| vec![b"a\n".repeat(size)]),
        ("pieces of one line", &|size| said("s3cret-number-", size)),
        ("one long piece", &|size| vec![b"s3cret-".repeat(size)]),
    ];
    for (what, said) in cases {
        dormouse_tests::growth::is_linear(what, 1_000, said, |said| {
            let output = InstanceOutput::new("odd", u64::MAX, Arc::clone(&secrets));
            for part in said {
                output.stream(StreamName::Stdout).log(part);
                output.stream(StreamName::Stderr).log(part);
                let text = std::str::from_utf8(part).unwrap();
                output.log("info", Some(text), text);
            }
            output.end();
            std::hint::black_box(output.last_words());
        });
    }
}
