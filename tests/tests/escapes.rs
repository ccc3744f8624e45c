//! Texts that steer a terminal, from everybody who can write one: an upstream, a cloned
//! project, another program's file. All commands are run on a terminal, and none of what
//! these texts have in them reaches it.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test is over when something is not as it should be"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dormouse_tests::{Home, artifacts};
use serde_json::{Value, json};

/// A title of the window, hidden letters, a C1 control, an override of the direction, a
/// letter without width, an answer that would be typed, a step back, a bell.
const TEXT: &str = "E\u{1b}]0;x\u{7}\u{1b}[8m\u{9b}8m\u{202e}\u{200b}\u{1b}[6n\u{8}\rF";

/// What of it must not be seen raw. Dormouse itself writes colours, and `\r` before a line
/// that it replaces.
const STEERING: [&str; 8] = [
    "\u{1b}]",
    "\u{1b}[8m",
    "\u{1b}[6n",
    "\u{9b}",
    "\u{202e}",
    "\u{200b}",
    "\u{7}",
    "\u{8}",
];

struct Place {
    home: Home,
    changed: PathBuf,
}

impl Place {
    fn new() -> Self {
        let home = Home::new().unwrap();
        let changed = home.path().join("changed");
        let words = Self::words(&changed);
        home.table("up", &format!("command = {}", json!(words)))
            .unwrap();
        home.table(
            "ends",
            &format!(
                "command = [\"sh\", \"-c\", \"printf '%s' \\\"$0\\\" >&2; exit 3\", {}]",
                json!(TEXT)
            ),
        )
        .unwrap();
        // A cloned project, and the file of a client that somebody else has written.
        let project = home.path().join("project");
        fs::create_dir_all(project.join(".git")).unwrap();
        let server = |more: &str| {
            json!({
                "command": format!("c{TEXT}"), "args": [TEXT, more], "cwd": format!("d{TEXT}"),
                "env": { format!("E{TEXT}"): TEXT }
            })
        };
        let remote = json!({
            "type": "http", "url": format!("https://example.com/{TEXT}"), "headers": { TEXT: TEXT }
        });
        let servers = json!({ "mcpServers": {
            format!("p{TEXT}"): server("1"), "plain": server("2"), "remote": remote, "bad": TEXT,
        } });
        fs::write(project.join(".mcp.json"), servers.to_string()).unwrap();
        fs::create_dir_all(home.path().join(".cursor")).unwrap();
        fs::write(home.path().join(".cursor/mcp.json"), servers.to_string()).unwrap();
        Self { home, changed }
    }

    fn words(changed: &Path) -> Vec<String> {
        let script = artifacts::workspace().join("tests/servers/escapes.py");
        [
            "python3".to_owned(),
            script.display().to_string(),
            TEXT.to_owned(),
            changed.display().to_string(),
        ]
        .into()
    }

    /// Runs a command on a terminal, where somebody says no to whatever is asked.
    fn shown(&self, words: &[&str], folder: &str) -> String {
        let script = artifacts::workspace().join("tests/clients/python/terminal.py");
        let run = self.home.command(words);
        let mut command = Command::new(artifacts::python("clients", "python").unwrap());
        let asked: Vec<Value> = match words.first() {
            Some(&"approve" | &"trust") => vec![json!(["[y/N]", "n\n"])],
            Some(&"call") if words.contains(&"ask") => vec![json!(["c = cancel: ", "c\n"])],
            _ => Vec::new(),
        };
        command
            .arg(script)
            .arg(Value::from(asked).to_string())
            .arg(run.get_program())
            .args(run.get_args())
            .current_dir(self.home.path().join(folder))
            .envs(self.home.environment())
            .env("TERM", "xterm-256color");
        let output = command.output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

#[track_caller]
fn steers_nothing(words: &[&str], shown: &str) {
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
        ("project", &["list"]),
        ("project", &["doctor"]),
        ("project", &["trust"]),
        ("project", &["trust", "--list"]),
    ];
    let mut all = String::new();
    for (folder, words) in commands {
        let shown = place.shown(words, folder);
        steers_nothing(words, &shown);
        all.push_str(&shown);
    }
    // What has changed is shown to whoever is to approve it.
    fs::write(&place.changed, "").unwrap();
    for words in [
        &["sync", "up"][..],
        &["status"],
        &["approve", "up"],
        &["approve", "up", "--dry-run"],
        &["list"],
    ] {
        let shown = place.shown(words, ".");
        steers_nothing(words, &shown);
        all.push_str(&shown);
    }
    // All of it was shown, as its escapes.
    let escapes = all.matches("\\u{202e}").count();
    assert!(escapes > 50, "{escapes} escapes: {all}");
    assert!(
        all.contains("\u{1b}["),
        "nothing was shown in colours: {all}"
    );
}
