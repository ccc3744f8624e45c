//! Servers that are programs or URLs, added by `dormouse add`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::json;

use crate::scripted::{Scripted, write};

/// Returns the text of the user's own configuration.
fn configuration(all: &Scripted) -> String {
    fs::read_to_string(all.home.config()).unwrap_or_default()
}

/// Runs `dormouse add` with those words. Returns its exit code and what it says.
fn add(all: &Scripted, words: &[&str]) -> (Option<i32>, String) {
    let mut command = all.home.command(&[&["add"], words].concat());
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

#[test]
fn a_program_is_added_and_called() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds a note.")]);
    let words = all.words("notes");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let options = [
        "notes",
        "--sync",
        "--env",
        "A_TOKEN=hunter-two",
        "--env",
        "HOME",
        "--",
    ];
    let (code, said) = add(&all, &[&options, words.as_slice()].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("`A_TOKEN` is written"), "{said}");
    assert!(!said.contains("hunter-two"), "{said}");
    let written = configuration(&all);
    assert!(written.contains("HOME = \"${HOME}\""), "{written}");
    // What is in it may be a secret.
    let mode = fs::metadata(all.home.config())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    let starts = all.starts("notes");
    let mut host = all.serve(&[]);
    host.text("notes__add", json!({})).unwrap();
    assert_eq!(all.starts("notes"), starts + 1);
    // It is not lost to another of its name.
    let (code, said) = add(&all, &["notes", "--", "true"]);
    assert_eq!((code, said.contains("--force")), (Some(1), true), "{said}");
    assert_eq!(configuration(&all), written);
}

/// A server of a client's whose name is taken is gone from all agents.
#[test]
fn who_takes_a_name_hears_whose_it_was() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds a note.")]);
    all.configure(&all.cursor(), &["notes"]);
    let words = ["notes", "--no-sync", "--", "true"];
    let (code, said) = add(&all, &words);
    assert_eq!(code, Some(0), "{said}");
    for part in [
        "`notes` of cursor at ",
        ".cursor/mcp.json",
        "shown no longer",
        "hint: `dormouse remove notes`",
    ] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    all.run(&["remove", "notes"]);
    let (_, said) = add(&all, &["other", "--no-sync", "--", "true"]);
    assert!(!said.contains("shown no longer"), "{said}");
}

/// Codex passes only the variables that its entry for Dormouse names.
#[test]
fn a_variable_that_codex_does_not_pass_is_told() {
    let all = Scripted::new();
    let entry = all.home.path().join(".codex/config.toml");
    write(&entry, "");
    all.run(&["install", "codex", "--no-sync"]);
    let words = ["notes", "--no-sync", "--env", "NOTES_TOKEN", "--", "true"];
    let (code, said) = add(&all, &words);
    assert_eq!(code, Some(0), "{said}");
    let doctor = || all.run_in(all.home.path(), &["doctor"]).1;
    for said in [said, doctor()] {
        for part in [
            "codex starts Dormouse without `NOTES_TOKEN`",
            "`dormouse install codex`",
        ] {
            assert!(said.contains(part), "no `{part}` in {said}");
        }
    }
    all.run(&["install", "codex", "--no-sync"]);
    let entry = fs::read_to_string(&entry).unwrap();
    assert!(entry.contains("NOTES_TOKEN"), "{entry}");
    let said = doctor();
    assert!(!said.contains("starts Dormouse without"), "{said}");
}

#[test]
fn a_url_is_added_with_its_headers() {
    let all = Scripted::new();
    let remote = Scripted::new();
    remote.offers("notes", &[("add", "Adds a note.")]);
    remote.own("notes", "");
    remote.run(&["sync"]);
    let server = remote.home.serve_http(&[]).unwrap();
    let (url, token) = (server.url(), server.token().unwrap());
    let header = "Authorization: Bearer ${A_TOKEN}";
    let words = ["add", "web", &url, "--header", header, "--sync"];
    let mut command = all.home.command(&words);
    let command = command.env("A_TOKEN", token).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!configuration(&all).contains(token));
    assert!(all.run(&["tools", "web"]).contains("web__notes__add"));
}

#[test]
fn what_no_server_can_be_is_not_added() {
    let all = Scripted::new();
    let before = configuration(&all);
    for (words, code, told) in [
        (
            &["x", "npx", "-y", "server"][..],
            2,
            "`dormouse add x -- npx …`",
        ),
        (&["x", "a.wasm", "--env", "A=1"], 2, "`--grant-env`"),
        (
            &["x", "--grant-env", "A", "--", "true"],
            2,
            "grants are for plugins",
        ),
        (
            &["x", "https://example.com/mcp", "--cwd", "/"],
            2,
            "a URL takes `--header`",
        ),
        (
            &["x", "-H", "A: b", "--", "true"],
            2,
            "a program takes `--env`",
        ),
        (
            &["x", "https://example.com", "--", "true"],
            2,
            "a server is one of them",
        ),
        (
            &["x", "npx", "-y", "server"],
            2,
            "Usage: dormouse add [OPTIONS] <NAME> <FILE>",
        ),
        (
            &["x", "--", "npx", "dormouse", "serve"],
            1,
            "Dormouse itself",
        ),
        (
            &["x", "ftp://example.com/mcp"],
            1,
            "`ftp://example.com/mcp`",
        ),
        (
            &["x", "https://example.com/mcp", "-H", "no name: b"],
            2,
            "no name of a header",
        ),
        (
            &["x", "--cwd", "/no/such/folder", "--", "true"],
            1,
            "`/no/such/folder`",
        ),
        (
            &["x", "-e", "A=1", "-e", "A=2", "--", "true"],
            1,
            "`A` is given twice",
        ),
    ] {
        let (exit, said) = add(&all, words);
        assert_eq!(exit, Some(code), "{words:?}: {said}");
        assert!(said.contains(told), "{words:?}: {said}");
        assert_eq!(configuration(&all), before, "{words:?}");
    }
}

/// A wrong value may be a secret all the same.
#[test]
fn a_malformed_value_is_not_repeated() {
    let all = Scripted::new();
    for words in [
        &[
            "s",
            "http://127.0.0.1:1/",
            "--header",
            "Authorization hunter-two",
        ][..],
        &[
            "s",
            "http://127.0.0.1:1/",
            "-H",
            "A: b",
            "-H",
            "hunter-two=",
        ],
        &["s", "--env", "=hunter-two", "--", "true"],
        &["s", "--", "http://me:hunter-two@127.0.0.1/"],
    ] {
        let words: Vec<&str> = words.to_vec();
        let (code, said) = add(&all, &words);
        assert_eq!(code, Some(2), "{words:?} {said}");
        assert!(!said.contains("hunter-two"), "{words:?} {said}");
    }
}
