//! Counting in a process, which is the program of these tests, with a test in place of the subcommand.

use super::*;

fn command(test: &str) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    let name = format!("count_process::tests::{test}");
    command.args(["--exact", &name, "--ignored", "--nocapture"]);
    Ok(command)
}

pub(crate) fn counting() -> io::Result<Command> {
    command("counting_process")
}

fn failing() -> io::Result<Command> {
    command("failing_process")
}

fn ending_at_a_text() -> io::Result<Command> {
    command("process_that_ends_at_a_text")
}

#[test]
#[ignore = "the process that the other tests count in"]
fn counting_process() {
    run().unwrap();
    std::process::exit(0);
}

#[test]
#[ignore = "a process that cannot load the tokenizer"]
fn failing_process() {
    std::process::exit(1);
}

/// Does what [`run`] does, but for a text that ends it, as one would that takes too long.
#[test]
#[ignore = "a process that the system ends at a text"]
fn process_that_ends_at_a_text() {
    let mut output = io::stdout().lock();
    writeln!(output, "\n{LOADED}").unwrap();
    let mut input = io::stdin().lock();
    let mut length = [0; size_of::<u64>()];
    while input.read_exact(&mut length).is_ok() {
        let length = u64::from_le_bytes(length);
        let mut text = Vec::new();
        (&mut input).take(length).read_to_end(&mut text).unwrap();
        if text == b"the end" {
            std::process::abort();
        }
        writeln!(output, "{length}").unwrap();
        output.flush().unwrap();
    }
    std::process::exit(0);
}

#[test]
fn texts_are_counted_in_a_process_as_in_this_one() {
    let folder = tempfile::tempdir().unwrap();
    let long = "a".repeat(MAX_TEXT_BYTES + 1);
    let texts = ["hello world", "", &long, "ein\nanderer Text", "2"];
    let counts = count(counting, folder.path(), &texts).unwrap();
    let tokenizer = Tokenizer::load().unwrap();
    let expected = texts.map(|text| (text != long).then(|| tokenizer.count(text) as u64));
    assert_eq!(counts, expected);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_text_that_ends_the_process_has_no_count_and_the_others_have() {
    let folder = tempfile::tempdir().unwrap();
    let texts = ["a", "the end", "bb", "the end", "ccc"];
    let counts = count(ending_at_a_text, folder.path(), &texts).unwrap();
    assert_eq!(counts, [Some(1), None, Some(2), None, Some(3)]);
    // However many there are of them, the number of processes is bounded.
    let counts = count(ending_at_a_text, folder.path(), &["the end"; 9]).unwrap();
    assert_eq!(counts, [None; MAX_PROCESSES]);
}

#[test]
fn a_process_that_cannot_count_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = count(failing, folder.path(), &["a"]).unwrap_err();
    assert!(matches!(error, CountError::Failed(_)), "{error}");
}

/// The longest text that is counted takes a small part of the time that a process has, whatever
/// stands in it.
#[test]
fn texts_that_are_made_to_take_long_are_counted_in_time() {
    let tokenizer = Tokenizer::load().unwrap();
    for text in [
        " ", "a", "aA", "\n", "1", "é", "\u{300}", "a\u{300}", "'s", "!\r\n",
    ] {
        let text = text.repeat(MAX_TEXT_BYTES / text.len());
        let begun = Instant::now();
        let _ = tokenizer.count(&text);
        assert!(begun.elapsed() < Duration::from_secs(5), "{text:.20?}");
    }
}
