//! Commands, none of which says a secret.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use dormouse_tests::Home;
use serde_json::json;

use crate::full_home::{VARIABLES, home, trusted_project};
use crate::hidden::Hidden;

pub(super) fn command(home: &Home, words: &[&str]) -> Command {
    let mut command = home.command(words);
    command.envs(VARIABLES).env("DORMOUSE_LOG", "trace");
    command
}

#[test]
fn no_command_says_a_secret() {
    let home = home();
    let mut hidden = Hidden::written();
    let mut said = 0;
    let mut tried = BTreeSet::new();
    for words in [
        &["list"][..],
        &["list", "--json"],
        &["tools"],
        &["tools", "--json"],
        &["prompts"],
        &["resources"],
        &["status"],
        &["status", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["doctor", "--connect"],
        &["sync"],
        &["sync", "--json"],
        &["sync", "web"],
        &["sync", "child"],
        &["sync", "repeats"],
        &["call", "repeats", "x", "{}"],
        &["sync", "talks"],
        &["call", "talks", "x", "{}"],
        &["call", "talks", "x", "{}", "--json"],
        &["sync", "one"],
        &["call", "one", "x", "{}"],
        &["sync", "proxied"],
        &["call", "proxied", "x", "{}", "--json"],
        &["login", "proxied"],
        &["call", "web", "x", "{}", "--json"],
        &["call", "child", "x", "{}", "--json"],
        &["prompt", "talks", "x"],
        &["tools", "talks"],
        &["tools", "talks", "--json"],
        &["prompts", "--json"],
        &["resources", "--json"],
        &["sync", "loud"],
        &["tools", "loud"],
        &["call", "loud", "spill", "{}"],
        &["call", "loud", "spill", "{}", "--json"],
        &["sync", "line"],
        &["call", "web", "x", "{}"],
        &["call", "old", "x", "{}"],
        &["call", "child", "x", "{}"],
        &["call", "ends", "x", "{}"],
        &["call", "web", "discover", "{}"],
        &["call", "child", "discover", "{}"],
        &["read", "x://y"],
        &["prompt", "web", "x"],
        &["login", "login"],
        &["login", "web"],
        &["login", "child"],
        &["logout", "login"],
        &["logout", "web"],
        &["approve", "web"],
        &["trust", "--list"],
        &["restart", "web"],
        &["disable", "web"],
        &["enable", "web"],
        &["adapt", "web", "-o", "web.wasm"],
        &["inspect", "web"],
        &["sync", "cursor"],
        &["call", "cursor", "x", "{}"],
        &["sync", "cursor_web"],
        &["sync", "vscode"],
        &["call", "vscode", "x", "{}"],
        &["list", "--json"],
        &["status", "--json"],
        &["doctor", "--connect"],
        &["adapt", "cursor", "-o", "cursor.wasm"],
        &["adapt", "talks", "-o", "talks.wasm"],
        &["inspect", "talks.wasm"],
        &["inspect", "talks.wasm", "--json"],
        &["check", "talks.wasm"],
        &["pack", "talks.wasm", "--wit", "nowhere"],
        &["add", "adapted", "talks.wasm"],
        &["add", "adapted", "talks.wasm", "--yes", "--grant-upstream"],
        &["call", "adapted", "x", "{}"],
        &["grant", "adapted"],
        &["grant", "web"],
        &["grants", "adapted"],
        &["grants", "adapted", "--json"],
        &["grants", "web"],
        &["grants", "loud"],
        &["grants", "loud", "--json"],
        &["revoke", "adapted", "--all"],
        &["remove", "adapted"],
        &["cache", "list"],
        &["secret", "list"],
        &["secret", "remove", "none"],
        &["search", "what"],
        &["tokens", "--tools"],
        &["tokens", "--client", "cursor", "--json"],
        &["search", "what", "--json"],
        &["wit"],
        &["completions", "bash"],
        &["import", "cursor", "--dry-run"],
        &["import", "vscode", "--dry-run"],
        &["import", "--dry-run"],
        &["install", "cursor", "--dry-run"],
        &["install", "cursor", "--http", "127.0.0.1:9", "--dry-run"],
        &["install", "cursor", "--no-sync"],
        &["install", "vscode", "--http", "127.0.0.1:9", "--no-sync"],
        &["import", "cursor", "--no-sync"],
        &["import", "--undo"],
        &["import", "vscode", "--replace", "--no-sync"],
        &["uninstall", "vscode", "--dry-run"],
        &["uninstall", "vscode"],
        &["list"],
        &["doctor"],
        &["serve"],
        // What has changed, and waits for its user.
        &["sync", "talks", "--json"],
        &["list"],
        &["status", "--json"],
        &["diff"],
        &["approve", "talks", "--dry-run"],
        &["approve", "talks"],
        &["approve", "talks", "--yes"],
        &["tools", "talks", "--json"],
        &["search", "x"],
        &["search", "x", "--json"],
        &["secret", "list"],
        &["secret", "set", "empty"],
        &["secret", "remove", "none"],
        &["forget", "talks"],
        &["remove", "talks"],
    ] {
        tried.extend(words.first().map(|word| (*word).to_owned()));
        if words == ["sync", "talks", "--json"] {
            std::fs::write(home.path().join("talks.py.changed"), "").unwrap();
        }
        let output = command(&home, words).stdin(Stdio::null()).output().unwrap();
        if words == ["approve", "talks", "--dry-run"] {
            let shown = String::from_utf8_lossy(&output.stdout);
            assert!(shown.contains("new"), "nothing has changed: {shown}");
        }
        for stream in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(stream);
            said += text.len();
            hidden.are_not_in(&format!("`dormouse {}`", words.join(" ")), &text);
        }
        // Made by the first command that needs it.
        let token = home.path().join("cache/data/dormouse/http-token");
        if hidden.0.len() == Hidden::written().0.len()
            && let Ok(token) = std::fs::read_to_string(token)
        {
            hidden.and(token.trim());
            for stream in [&output.stdout, &output.stderr] {
                let text = String::from_utf8_lossy(stream);
                hidden.are_not_in(&format!("`dormouse {}`", words.join(" ")), &text);
            }
        }
    }
    assert_eq!(tried, home.subcommands().unwrap());
    assert!(said > 1000, "hardly anything was said");
    // What a project's files say is shown to whoever is to trust it: a command whole, and of
    // variables and headers the names.
    let project = home.path().join("project");
    std::fs::create_dir_all(&project).unwrap();
    let servers = json!({ "mcpServers": {
        "of_project": { "command": "python3", "args": ["x.py"], "env": { "K": "canary-cursor-env" } },
        "web_of_project": {
            "url": "https://127.0.0.1:9/",
            "headers": { "Authorization": "Bearer canary-cursor-bearer" },
        },
    } });
    std::fs::write(project.join(".mcp.json"), servers.to_string()).unwrap();
    for words in [&["trust"][..], &["trust", "--yes"], &["list"], &["doctor"]] {
        let mut command = command(&home, words);
        let output = command.current_dir(&project).output().unwrap();
        let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        let text = text.concat();
        assert!(
            words != ["trust"] || text.contains("web_of_project"),
            "{text}"
        );
        hidden.are_not_in(
            &format!("`dormouse {}` in a project", words.join(" ")),
            &text,
        );
    }
    let project = trusted_project(&home);
    for words in [
        &["sync", "of_trusted"][..],
        &["call", "of_trusted", "x", "{}"],
        &["call", "of_trusted", "x", "{}", "--json"],
        &["list", "--json"],
        &["doctor", "--connect"],
        &["adapt", "of_trusted", "-o", "of_trusted.wasm"],
    ] {
        let mut command = command(&home, words);
        let output = command.current_dir(&project).output().unwrap();
        let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        let text = text.concat();
        assert!(text.contains("of_trusted"), "{text}");
        assert!(
            output.status.success() || words[0] != "sync",
            "{words:?}: {text}"
        );
        hidden.are_not_in(
            &format!("`dormouse {}` in a trusted project", words.join(" ")),
            &text,
        );
    }
    assert!(
        hidden.0.len() > Hidden::written().0.len(),
        "no token was made"
    );
    hidden.are_not_kept(&home);
}
