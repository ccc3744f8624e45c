#![allow(
    clippy::unwrap_used,
    reason = "a test is over when something is not as it should be"
)]

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use dormouse_tests::artifacts;

use super::*;

/// Words, and what they are shown as.
const WORDS: [(&str, &str); 15] = [
    ("a-b_c.d/e:f=1", "a-b_c.d/e:f=1"),
    ("", "''"),
    ("~root/x", "'~root/x'"),
    ("a=~/x", "'a=~/x'"),
    ("two words", "'two words'"),
    ("$(x)", "'$(x)'"),
    ("it's", "'it'\\''s'"),
    ("x';touch y;'", "'x'\\'';touch y;'\\'''"),
    ("a\\nb", "'a\\nb'"),
    ("a\nb\\n'", "$'a\\nb\\\\n\\''"),
    ("a\u{1b}b\u{202e}1", "$'a\\x1bb\\u202e1'"),
    ("\u{3164}\u{e0041}2", "$'\\u3164\\U000e00412'"),
    ("`x`'\"", "$'\\x60x\\x60\\'\"'"),
    ("\\u{60}", "'\\u{60}'"),
    ("o\u{e9}\r\t`", "$'o\u{e9}\\r\\t\\x60'"),
];

#[test]
fn words_are_seen_as_what_they_are() {
    for (word, shown) in WORDS {
        assert_eq!(shell_word(word), shown);
    }
}

#[cfg(unix)]
#[test]
fn a_shell_reads_a_word_as_what_it_is() {
    use std::os::unix::ffi::OsStringExt as _;

    let words = WORDS.map(|(word, _)| OsString::from(word));
    let no_text = OsString::from_vec(b"/a\xff'b\xe2\x80c".to_vec());
    assert_eq!(shell_word(&no_text), "$'/a\\xff\\'b\\xe2\\x80c'");
    for word in words.into_iter().chain([no_text]) {
        let script = format!("printf %s {}", shell_word(&word));
        let output = std::process::Command::new("bash")
            .args(["-c", &script])
            .env("LC_ALL", "C.UTF-8")
            .output()
            .unwrap();
        assert_eq!(OsString::from_vec(output.stdout), word, "{script}");
    }
}

/// Returns what stands before the next backtick, or before the end of the text in quotes.
fn command_of(rest: &str) -> &str {
    let mut escaped = false;
    let end = rest.find(|c| {
        let is_end = c == '`' || c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        is_end
    });
    &rest[..end.unwrap_or(rest.len())]
}

/// Adds what is in backticks and begins with the name of a program that users are told to run, of all
/// sources below a folder.
fn add_commands(folder: &Path, commands: &mut Vec<String>) {
    const PROGRAMS: [&str; 6] = ["dormouse ", "chmod ", "chown ", "mkdir ", "mv ", "rm "];

    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_commands(&path, commands);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            for (at, _) in text.match_indices('`') {
                let command = command_of(&text[at + 1..]);
                if PROGRAMS.iter().any(|program| command.starts_with(program)) {
                    commands.push(format!("{}: {command}", path.display()));
                }
            }
        }
    }
}

#[test]
fn no_suggested_command_has_quotes_of_its_own_around_what_is_inserted() {
    let mut commands = Vec::new();
    for folder in ["host", "wit", "guest-sdk", "plugins"] {
        add_commands(&artifacts::workspace().join(folder), &mut commands);
    }
    // There are some: the sources were found.
    assert!(commands.len() > 100, "{}", commands.len());
    let quoted = |command: &&String| {
        ["'{", "\"{", "{}'"]
            .iter()
            .any(|part| command.contains(part))
    };
    let quoted: Vec<_> = commands.iter().filter(quoted).collect();
    assert!(
        quoted.is_empty(),
        "these have quotes of their own, and no `shell_word`: {quoted:#?}"
    );
}
