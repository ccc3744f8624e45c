//! Where a server is configured, and why it is off.

use std::process::Command;

use dormouse_tests::artifacts;
use serde_json::{Value, json};

use crate::commands::streams;
use crate::scripted::{Scripted, write};

#[test]
fn a_server_of_a_client_is_removed_there() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds.")]);
    all.configure(&all.cursor(), &["notes"]);
    let refused = all.fails(&["remove", "notes"]);
    for part in [".cursor/mcp.json:", "`dormouse disable notes`"] {
        assert!(refused.contains(part), "no `{part}` in {refused}");
    }
    all.run(&["disable", "notes"]);
    let removed = all.run(&["remove", "notes"]);
    assert!(removed.contains("which is shown now"), "{removed}");
}

/// Returns the entry of a server in the file of a client.
pub(super) fn entry_of(all: &Scripted, name: &str) -> Value {
    let words = all.words(name);
    json!({ "command": words[0], "args": words[1..] })
}

#[test]
fn why_a_server_is_off_is_told() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds.")]);
    all.offers("other", &[("add", "Adds.")]);
    let entry = entry_of(&all, "notes");
    let settings = json!({ "mcpServers": { "notes": entry }, "mcp": { "excluded": ["notes"] } });
    let file = all.home.path().join(".gemini/settings.json");
    write(&file, &settings.to_string());
    let (_, listed, _) = streams(&all, &["list"]);
    assert!(
        listed.contains("notes: it is off: `mcp.excluded` names it"),
        "{listed}"
    );

    // Claude Code's settings say it of a file that other clients read, too.
    let project = all.home.path().join("project");
    let file = json!({ "mcpServers": { "other": entry_of(&all, "other") } }).to_string();
    write(&project.join(".mcp.json"), &file);
    write(
        &project.join(".claude/settings.json"),
        r#"{"enabledMcpjsonServers": ["another"]}"#,
    );
    let run = |words: &[&str]| {
        let mut command = all.home.command(words);
        let output = command.current_dir(&project).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    run(&["trust", "--yes"]);
    for words in [&["list"][..], &["doctor"]] {
        let told = run(words);
        assert!(
            told.contains("it is off: `enabledMcpjsonServers` does not name it"),
            "{told}"
        );
        assert!(!told.contains("does not say who it is"), "{told}");
    }
}

#[test]
fn a_configuration_that_is_not_there_is_not_named_as_if_it_were() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds.")]);
    all.configure(&all.cursor(), &["notes"]);
    // Without `--config`, a file that is not there is no mistake.
    let status = || {
        let mut command = Command::new(artifacts::program("dormouse").unwrap());
        let output = command.arg("status").envs(all.home.environment()).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let told = status();
    assert!(
        told.contains("configured in your clients' files (there is no "),
        "{told}"
    );
    write(&all.home.path().join("config/dormouse/dormouse.toml"), "");
    let told = status();
    assert!(
        told.contains("dormouse.toml and your clients' files"),
        "{told}"
    );
}
