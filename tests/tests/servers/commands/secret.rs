//! `dormouse secret`: what it takes and refuses, and that it prints no secret.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use super::streams;
use crate::scripted::Scripted;
use crate::trust::at_a_terminal;

const CANARY: &str = "canary-3fe19b";

/// Keeps what stands in stdin. Returns the exit code, and the output on both streams.
fn set(all: &Scripted, name: &str, stdin: &[u8]) -> (Option<i32>, String) {
    let mut command = all.home.command(&["secret", "set", name]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    // It need not read all of it.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let output = child.wait_with_output().unwrap();
    let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    (output.status.code(), said.concat())
}

fn names(all: &Scripted) -> Vec<String> {
    let listed = all.home.json(&["secret", "list", "--json"]).unwrap();
    let listed = listed.as_array().unwrap().iter();
    listed
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn secrets_are_kept_listed_and_forgotten_and_never_printed() {
    let all = Scripted::new();
    let (output, stdout, stderr) = streams(&all, &["secret", "list"]);
    assert!(output.status.success() && stdout.is_empty(), "{output:?}");
    assert!(
        stderr.contains("you have no secrets\nhint: `dormouse secret set NAME`"),
        "{stderr}"
    );
    assert_eq!(names(&all), [""; 0]);
    for name in ["token", "A-b_9", "token"] {
        let (code, said) = set(&all, name, CANARY.as_bytes());
        let kept = format!("the secret `{name}` is kept in an encrypted file\n");
        assert_eq!((code, said), (Some(0), kept));
    }
    let (_, stdout, _) = streams(&all, &["secret", "list"]);
    let lines: Vec<_> = stdout
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        lines,
        [
            "NAME PLACE",
            "A-b_9 an encrypted file",
            "token an encrypted file"
        ]
    );
    let listed = all.home.json(&["secret", "list", "--json"]).unwrap();
    let of = |name: &str| json!({ "name": name, "place": "file" });
    assert_eq!(listed, json!([of("A-b_9"), of("token")]));
    // Nothing gets one.
    for words in [
        &["secret", "get", "token"][..],
        &["secret", "show", "token"],
        &["secret"],
    ] {
        let (output, stdout, stderr) = streams(&all, words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
        assert!(!(stdout + &stderr).contains(CANARY));
    }
    let (output, stdout, stderr) = streams(&all, &["secret", "remove", "token"]);
    assert!(output.status.success() && stdout.is_empty(), "{output:?}");
    assert_eq!(stderr, "the secret `token` is forgotten\n");
    let (output, _, stderr) = streams(&all, &["secret", "remove", "token"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr.contains("you have no secret `token`\nhint: `dormouse secret list`"),
        "{stderr}"
    );
    assert_eq!(names(&all), ["A-b_9"]);
}

#[test]
fn names_that_are_none_are_refused_and_make_nothing() {
    let all = Scripted::new();
    let long = "a".repeat(65);
    for name in [
        "",
        "a b",
        "a/b",
        "../a",
        "a.b",
        "ä",
        "a\u{1b}[2J",
        "a\nb",
        &long,
    ] {
        for words in [&["secret", "set", name][..], &["secret", "remove", name]] {
            let (output, stdout, stderr) = streams(&all, words);
            assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
            assert!(stdout.is_empty());
            assert!(
                stderr.contains("use letters (a-z, A-Z), digits, `-` and `_`, at most 64")
                    || name.is_empty(),
                "{stderr}"
            );
            assert!(!stderr.contains("\u{1b}[2J"), "{stderr:?}");
        }
    }
    let data = all.home.path().join("cache/data/dormouse");
    assert!(!data.join("secrets").exists() && !data.join("age-identity.txt").exists());
    assert_eq!(set(&all, &"a".repeat(64), b"x").0, Some(0));
}

#[test]
fn texts_that_are_empty_huge_or_none_are_refused_and_change_nothing() {
    let all = Scripted::new();
    let most = vec![b'a'; 64 << 10];
    let with = |end: &[u8]| [&most, end].concat();
    for (stdin, why) in [
        (vec![], "its text is empty"),
        (b"\n".to_vec(), "its text is empty"),
        (b"\r\n".to_vec(), "its text is empty"),
        (with(b"a"), "its text is longer than 64 KiB"),
        (with(b"a\r\n"), "its text is longer than 64 KiB"),
        (vec![b'a'; 20 << 20], "its text is longer than 64 KiB"),
        ([CANARY.as_bytes(), b"\xff"].concat(), "is no text in UTF-8"),
    ] {
        let (code, said) = set(&all, "token", &stdin);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(why), "no `{why}` in {said}");
        assert!(said.len() < 300 && !said.contains(CANARY), "{said}");
        assert_eq!(names(&all), [""; 0], "{why}");
    }
    for stdin in [most.clone(), with(b"\n"), with(b"\r\n"), b" \n\n".to_vec()] {
        let (code, said) = set(&all, "token", &stdin);
        assert_eq!(code, Some(0), "{said}");
    }
}

#[test]
fn a_terminal_is_asked_and_shows_nothing_that_is_typed() {
    let all = Scripted::new();
    let home = all.home.path();
    let words = ["secret", "set", "token"];
    // A person sees the question before they type.
    let typed = |text: &str| json!([["text of the secret `token`", text, ["sleep", "1"]]]);
    let (shown, code) = at_a_terminal(&all, home, &words, &typed(&format!("{CANARY}\r")));
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains(CANARY), "{shown}");
    assert!(
        shown.contains("the secret `token` is kept in an encrypted file"),
        "{shown}"
    );
    assert_eq!(names(&all), ["token"]);
    let (shown, code) = at_a_terminal(&all, home, &words, &typed("\r"));
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("its text is empty"), "{shown}");
}
