//! Texts that steer a terminal, from everybody who can write one: an upstream, a plugin, a web
//! server, an authorization server, an agent, a client of a host's port, a cloned project, another
//! program's file, a folder. All commands are run on a terminal, and none of the steering in these
//! texts reaches it.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test is over when something is not as it should be"
)]

mod place;
mod web;

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;

use crate::place::Place;
use crate::web::free_address;

/// A title of the window, hidden letters, a C1 control, an override of the direction, a
/// letter without width, an answer that would be typed, a step back, a bell, the start of a
/// line, ends of lines that are none in ASCII, a tag, which is not seen at all.
const TEXT: &str = "E\u{1b}]0;x\u{7}\u{1b}[8m\u{9b}8m\u{202e}\u{200b}\u{1b}[6n\u{8}\r\u{2603}\
                    \u{85}\u{2028}\u{2029}\u{e0041}F";

/// Part of it that can be in a header.
const HEADER: &str = "E\u{9b}8m\u{202e}\u{200b}\u{85}\u{2028}\u{2029}\u{e0041}F";

/// Parts of it that must not be seen raw. Dormouse itself writes colours, and `\r` before a line
/// that it replaces.
const STEERING: [&str; 13] = [
    "\u{1b}]",
    "\u{1b}[8m",
    "\u{1b}[6n",
    "\u{9b}",
    "\u{202e}",
    "\u{200b}",
    "\u{7}",
    "\u{8}",
    "\r\u{2603}",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{e0041}",
];

#[track_caller]
fn steers_nothing(words: &[&str], shown: &str) {
    // What goes to stdout under `serve` is MCP, for an agent.
    let mut logged = String::new();
    let shown = if words.first() == Some(&"serve") {
        let lines = shown.split_inclusive('\n');
        lines
            .filter(|line| !line.starts_with("{\"jsonrpc\""))
            .for_each(|line| logged.push_str(line));
        &logged
    } else {
        shown
    };
    for steering in STEERING {
        if let Some(at) = shown.find(steering) {
            let from = shown.floor_char_boundary(at.saturating_sub(120));
            let to = shown.ceil_char_boundary((at + 40).min(shown.len()));
            let part = shown.get(from..to).unwrap_or_default();
            panic!(
                "`dormouse {}` shows {steering:?}: {part:?}",
                words.join(" ")
            );
        }
    }
}

#[test]
fn no_command_lets_a_text_steer_the_terminal() {
    let place = Place::new();
    let address = free_address();
    let (bad_name, folder_name) = (format!("{TEXT}.wasm"), format!("folder {TEXT}"));
    let said = json!({ "text": TEXT }).to_string();
    let wrong = json!({ TEXT: TEXT }).to_string();
    let commands: &[(&str, &[&str])] = &[
        (".", &["sync", "up"]),
        (".", &["sync", "ends"]),
        (".", &["list"]),
        (".", &["list", "--json"]),
        (".", &["tools"]),
        (".", &["tools", "up"]),
        (".", &["tools", "up", "--json"]),
        (".", &["prompts"]),
        (".", &["prompts", "--json"]),
        (".", &["resources"]),
        (".", &["resources", "--json"]),
        (".", &["call", "up", "say", "{}"]),
        (".", &["call", "up", "say", "{}", "--json"]),
        (".", &["call", "up", "fail", "{}"]),
        (".", &["call", "up", "ask", "{}"]),
        (".", &["call", "up", TEXT, "{}"]),
        (".", &["call", TEXT, "say", "{}"]),
        (".", &["call", "up", "say", TEXT]),
        (".", &["call", "ends", "x", "{}"]),
        (".", &["prompt", "up", "p"]),
        (".", &["read", "x:one"]),
        (".", &["status"]),
        (".", &["status", "--json"]),
        (".", &["doctor"]),
        (".", &["doctor", "--json"]),
        (".", &["doctor", "--connect"]),
        (".", &["import", "cursor", "--dry-run"]),
        (".", &["import", "--dry-run"]),
        (".", &["install", "cursor", "--dry-run"]),
        (".", &["adapt", "up", "-o", "up.wasm"]),
        (".", &["inspect", "up.wasm"]),
        (".", &["check", "up.wasm"]),
        (".", &["inspect", TEXT]),
        (".", &["login", "up"]),
        (".", &["restart", "up"]),
        (".", &["disable", TEXT]),
        (".", &["cache", "list"]),
        (".", &["search", "say"]),
        (".", &["search", TEXT]),
        (".", &["search", TEXT, "--server", TEXT]),
        (".", &["secret", "list"]),
        (".", &["secret", "set", TEXT]),
        (".", &["secret", "remove", TEXT]),
        (".", &["wit"]),
        (".", &["completions", "bash"]),
        (".", &["completions", TEXT]),
        // Plugins: what they declare, and what they say.
        (".", &["inspect", "bad.wasm"]),
        (".", &["inspect", "bad.wasm", "--json"]),
        (".", &["check", "bad.wasm"]),
        (".", &["pack", "bad.wasm"]),
        (".", &["inspect", &bad_name]),
        (".", &["check", &bad_name]),
        (".", &["pack", &bad_name]),
        (".", &["add", "bad", "bad.wasm", "--yes"]),
        (".", &["add", "bad", &bad_name]),
        (".", &["add", "adapted", "up.wasm"]),
        (
            ".",
            &["add", "adapted", "up.wasm", "--yes", "--grant-upstream"],
        ),
        (
            ".",
            &["add", "more", "bad.wasm", "--grant-fs", &folder_name],
        ),
        (".", &["grants", "bad"]),
        (".", &["grants", "bad", "--json"]),
        (".", &["tools", "bad"]),
        (".", &["tokens", "--tools"]),
        (".", &["tokens", TEXT]),
        (".", &["tokens", "--client", TEXT]),
        (".", &["call", "bad", "say", &said]),
        (".", &["call", "loud", "say", &said]),
        (".", &["call", "loud", "say", &said, "--json"]),
        (".", &["call", "loud", "fail", &said]),
        (".", &["call", "loud", "panic", &said]),
        (".", &["call", "loud", "say", &wrong]),
        (".", &["-vvv", "call", "loud", "say", &said]),
        (".", &["remove", "bad"]),
        (".", &["remove", TEXT]),
        (".", &["enable", TEXT]),
        (".", &["disable", "loud"]),
        (".", &["enable", "loud"]),
        // Web servers, and who logs somebody in.
        (".", &["sync", "broken"]),
        (".", &["call", "broken", "x", "{}"]),
        (".", &["sync", "moved"]),
        (".", &["sync", "login"]),
        (".", &["login", "login"]),
        (".", &["login", "metadata"]),
        (".", &["-vvv", "login", "login"]),
        (".", &["logout", "login"]),
        (".", &["logout", TEXT]),
        // Folders.
        (".", &["grant", "folders"]),
        (".", &["grant", "folders", "--yes"]),
        (".", &["grant", TEXT]),
        (".", &["grants", "folders"]),
        (".", &["grants", "folders", "--json"]),
        (".", &["grants", TEXT]),
        (".", &["revoke", "folders", "--grant-env", TEXT]),
        (".", &["revoke", "folders", "--grant-fs", TEXT]),
        (".", &["revoke", "folders", "--grant-http", TEXT]),
        (".", &["revoke", "folders", "--all"]),
        (".", &["list"]),
        (".", &["status"]),
        (".", &["doctor"]),
        (".", &["serve"]),
        (".", &["serve", "-vv"]),
        (".", &["serve", "-vv", "--http", &address]),
        (".", &["call", "up", "discover", "{}"]),
        (".", &["read", "dormouse://instructions/up"]),
        (
            ".",
            &["install", "cursor", "--http", "127.0.0.1:9", "--dry-run"],
        ),
        (
            ".",
            &["install", "cursor", "--http", "127.0.0.1:9", "--no-sync"],
        ),
        (".", &["install", "cursor", "--no-sync"]),
        (".", &["import", "cursor", "--no-sync"]),
        (".", &["import", "--undo"]),
        (".", &["import", "cursor", "--replace", "--dry-run"]),
        (".", &["import", "cursor", "--replace", "--no-sync"]),
        (".", &["uninstall", "cursor", "--dry-run"]),
        (".", &["uninstall", "cursor"]),
        (".", &["import", "--undo", "--dry-run"]),
        (".", &["import", "--undo"]),
        (TEXT, &["list"]),
        (TEXT, &["trust"]),
        (TEXT, &["trust", "--yes"]),
        (TEXT, &["trust", "--list"]),
        (TEXT, &["doctor"]),
        ("project", &["list"]),
        ("project", &["doctor"]),
        ("project", &["trust"]),
        ("project", &["trust", "--list"]),
    ];
    let mut all = String::new();
    let mut tried = BTreeSet::new();
    for (folder, words) in commands {
        let command = words.iter().find(|word| !word.starts_with('-'));
        tried.extend(command.map(|word| (*word).to_owned()));
        if words == &["grant", "folders"] {
            // By now it is recorded where the link has led.
            let link = place.home.path().join("link");
            fs::remove_file(&link).unwrap();
            std::os::unix::fs::symlink(place.home.path().join(&folder_name), link).unwrap();
        }
        let shown = place.shown(words, folder);
        steers_nothing(words, &shown);
        all.push_str(&shown);
        if words.starts_with(&["serve", "-vv", "--http"]) {
            // Somebody who sits there may see it; elsewhere its file is named.
            let file = place.home.path().join("cache/data/dormouse/http-token");
            let token = fs::read_to_string(file).unwrap();
            assert!(shown.contains(token.trim()), "{shown}");
        }
    }
    // What has changed is shown to whoever is to approve it.
    fs::write(&place.changed, "").unwrap();
    for words in [
        &["sync", "up"][..],
        &["status"],
        &["approve", "up"],
        &["approve", "up", "--dry-run"],
        &["diff"],
        &["list"],
        &["approve", "up", TEXT, "--yes"],
        &["approve", "up", "--yes"],
        &["tools", "up"],
        &["read", "dormouse://instructions/up"],
        &["forget", "up"],
    ] {
        tried.extend(words.first().map(|word| (*word).to_owned()));
        let shown = place.shown(words, ".");
        steers_nothing(words, &shown);
        all.push_str(&shown);
    }
    assert_eq!(tried, place.home.subcommands().unwrap());
    for part in [
        "[y/N]",
        "is granted",
        "does not take Dormouse",
        "listening on",
        "logged in",
        "7 items of `up` allowed",
    ] {
        assert!(all.contains(part), "nobody has shown {part}: {all}");
    }
    // All of it was shown, as its escapes.
    let escapes = all.matches("\\u{202e}").count();
    assert!(escapes > 150, "{escapes} escapes: {all}");
    assert!(
        all.contains("\u{1b}["),
        "nothing was shown in colours: {all}"
    );
}
