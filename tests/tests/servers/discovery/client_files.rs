//! Servers in a client's file, without any import.

use std::fs;
use std::path::PathBuf;

use anyhow::ensure;
use dormouse_tests::{artifacts, wait};
use serde_json::{Map, Value, json};

use crate::scripted::{Scripted, comes_to, told_of_change, tools, write};

#[test]
fn found_ones_are_asked_on_demand() {
    let all = Scripted::new();
    all.offers(
        "notes",
        &[("add", "Adds a note."), ("find", "Finds notes.")],
    );
    all.configure(&all.cursor(), &["notes"]);
    let mut host = all.serve(&[]);
    assert_eq!(tools(&mut host), ["notes__discover"]);
    assert_eq!(all.starts("notes"), 0);
    assert_eq!(
        all.home.server_status("notes").unwrap()["state"],
        "configured"
    );

    let signatures = host.text("notes__discover", json!({})).unwrap();
    for part in ["notes__add(", "text?: string", "Finds notes."] {
        assert!(signatures.contains(part), "no `{part}` in {signatures}");
    }
    told_of_change(&mut host);
    assert_eq!(tools(&mut host), ["notes__add", "notes__find"]);
    let told = host.text("notes__add", json!({ "text": "zzz" })).unwrap();
    assert_eq!(told, r#"add {"text": "zzz"}"#);
    assert_eq!(all.starts("notes"), 1);
    // It is not listed any more, and whoever calls it all the same is told what is known.
    let known = host.text("notes__discover", json!({})).unwrap();
    assert!(known.contains("notes__add("), "{known}");
    assert_eq!(all.starts("notes"), 1);

    // What has been found out is there for the next one.
    let mut next = all.serve(&[]);
    assert_eq!(tools(&mut next), ["notes__add", "notes__find"]);
    assert_eq!(all.starts("notes"), 1);
}

/// Tools that a user has written down are shown before any are known.
#[test]
fn named_tools_stand_in() {
    let all = Scripted::new();
    all.offers(
        "notes",
        &[("add", "Adds a note."), ("find", "Finds notes.")],
    );
    all.own("notes", "tools = [\"add\"]\n");
    let mut host = all.serve(&[]);
    assert_eq!(tools(&mut host), ["notes__add"]);
    assert_eq!(all.starts("notes"), 0);
    let told = host.text("notes__add", json!({ "text": "a" })).unwrap();
    assert_eq!(told, r#"add {"text": "a"}"#);
    told_of_change(&mut host);
    let listed = host.tools().unwrap();
    assert_eq!(listed.len(), 2, "{listed:?}");
    assert_eq!(listed[0]["description"], "Adds a note.");
}

/// A server that an agent's client loads itself is not shown twice, and one that is in two files is
/// one.
#[test]
fn each_is_shown_once() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds a note.")]);
    all.configure(&all.cursor(), &["notes"]);
    assert_eq!(tools(&mut all.serve(&["--client", "cursor"])), [""; 0]);
    assert_eq!(
        tools(&mut all.serve(&["--client", "zed"])),
        ["notes__discover"]
    );
    assert_eq!(tools(&mut all.serve(&[])), ["notes__discover"]);

    let own = format!(
        "command = {}\nenv = {{ SECRET = \"hunter-two\" }}\n",
        json!(all.words("notes"))
    );
    all.home.table("mine", &own).unwrap();
    assert_eq!(tools(&mut all.serve(&[])), ["mine__discover"]);
    assert_eq!(tools(&mut all.serve(&["--client", "cursor"])), [""; 0]);
}

#[test]
fn edits_are_followed() {
    let all = Scripted::new();
    for name in ["notes", "more"] {
        all.offers(name, &[("add", "Adds.")]);
    }
    all.configure(&all.cursor(), &["notes"]);
    let mut host = all.serve(&[]);
    assert_eq!(tools(&mut host), ["notes__discover"]);
    all.configure(&all.cursor(), &["notes", "more"]);
    told_of_change(&mut host);
    comes_to(&mut host, &["more__discover", "notes__discover"]);

    all.own("own", "");
    told_of_change(&mut host);
    let three = ["more__discover", "notes__discover", "own__discover"];
    comes_to(&mut host, &three);
    // What is no JSON takes nothing away from other files.
    all.offers("own", &[("add", "Adds.")]);
    fs::write(all.cursor(), "{ \"mcpServers\": {").unwrap();
    host.text("own__discover", json!({})).unwrap();
    comes_to(&mut host, &["own__add"]);
    all.configure(&all.cursor(), &["notes"]);
    comes_to(&mut host, &["notes__discover", "own__add"]);
    fs::remove_file(all.cursor()).unwrap();
    comes_to(&mut host, &["own__add"]);
}

/// What is approved of it stays so, and what it has become since waits.
#[test]
fn a_token_that_is_replaced_makes_no_new_server() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds a note.")]);
    let set_token = |token: &str| {
        let words = all.words("notes");
        let entry = json!({ "command": words[0], "args": words[1..], "env": { "TOKEN": token } });
        write(
            &all.cursor(),
            &json!({ "mcpServers": { "notes": entry } }).to_string(),
        );
    };
    set_token("first-token");
    let mut host = all.serve(&[]);
    host.text("notes__discover", json!({})).unwrap();
    comes_to(&mut host, &["notes__add"]);
    all.offers("notes", &[("add", "Adds a note."), ("drop", "New.")]);
    set_token("second-token");
    let starts = all.starts("notes");
    // The next start has the new token, and its tools are those that were approved.
    wait::until("another start", || {
        assert_eq!(tools(&mut host), ["notes__add"]);
        // One that runs while the edit is read may end.
        let _ = host.text("notes__add", json!({ "text": "a" }));
        ensure!(all.starts("notes") > starts, "none yet");
        Ok(())
    })
    .unwrap();
    let mut next = all.serve(&[]);
    assert_eq!(tools(&mut next), ["notes__add"]);
    let told = all.run(&["diff", "notes"]);
    assert!(told.contains("drop"), "{told}");
}

/// Returns a server of VS Code's that asks for a variable of the server, and the server's file.
fn asking_for_a_key() -> (Scripted, PathBuf) {
    let all = Scripted::new();
    all.offers("notes", &[("variable", "Tells a variable.")]);
    let words = all.words("notes");
    let file = json!({
        "inputs": [{ "id": "the-key", "type": "promptString", "password": true }],
        "servers": { "notes": {
            "type": "stdio", "command": words[0], "args": words[1..],
            "env": { "KEY": "${input:the-key}" }
        } }
    });
    let place = all.home.path().join("config/Code/User/mcp.json");
    write(&place, &file.to_string());
    (all, place)
}

/// A question of a client to its user is answered in the user's own file, and the server gets the
/// answer, at once and without a word of it to anybody else.
#[test]
fn what_a_client_asks_for_is_answered_once() {
    let (all, _) = asking_for_a_key();

    let mut host = all.serve(&[]);
    let status = all.home.server_status("notes").unwrap();
    assert_eq!(status["state"], "needs-config", "{status}");
    let refused = host.error("notes__discover", json!({})).unwrap();
    for part in ["`the-key`", "[discovery.inputs]"] {
        assert!(refused.contains(part), "no `{part}` in {refused}");
    }
    assert_eq!(all.starts("notes"), 0);

    let mut own = fs::read_to_string(all.home.config()).unwrap();
    own.push_str("[discovery.inputs]\nthe-key = \"hunter-three\"\n");
    fs::write(all.home.config(), own).unwrap();
    wait::until("the answer to be read", || {
        let status = all.home.server_status("notes")?;
        ensure!(status["state"] == "configured", "{status}");
        Ok(())
    })
    .unwrap();
    host.text("notes__discover", json!({})).unwrap();
    let told = host.text("notes__variable", json!({ "name": "KEY" }));
    assert_eq!(told.unwrap(), "hunter-three");
    for words in [&["list"][..], &["doctor"], &["status", "--json"]] {
        let output = all.home.run(words).unwrap();
        let said = format!("{output:?}");
        assert!(!said.contains("hunter-three"), "{words:?}: {said}");
    }
}

/// A server that asks for something is taken over with its question, which is answered as before.
#[test]
fn what_a_client_asks_for_is_answered_after_an_import_too() {
    let (all, place) = asking_for_a_key();
    let told = all.run(&["import", "--replace", "--no-sync"]);
    assert!(
        told.contains("[discovery.inputs]") && told.contains("the-key = "),
        "{told}"
    );
    // Without an answer, only its client can start it.
    assert!(fs::read_to_string(&place).unwrap().contains("the-key"));
    let refused = all.fails(&["sync", "notes"]);
    for part in ["`env.KEY` asks for `the-key`", "[discovery.inputs]"] {
        assert!(refused.contains(part), "no `{part}` in {refused}");
    }
    assert!(
        !refused.contains("environment variable `input"),
        "{refused}"
    );
    assert_eq!(all.starts("notes"), 0);

    let mut own = fs::read_to_string(all.home.config()).unwrap();
    own.push_str("\n[discovery.inputs]\nthe-key = \"hunter-three\"\n");
    fs::write(all.home.config(), own).unwrap();
    all.run(&["sync", "notes"]);
    let told = all.run(&["call", "notes", "variable", r#"{"name": "KEY"}"#]);
    assert!(told.contains("hunter-three"), "{told}");
    all.run(&["import", "vscode", "--replace", "--no-sync"]);
    assert!(
        !fs::read_to_string(&place)
            .unwrap()
            .contains("${input:the-key}")
    );
    for words in [&["list"][..], &["doctor"], &["status", "--json"]] {
        let said = format!("{:?}", all.home.run(words).unwrap());
        assert!(!said.contains("hunter-three"), "{words:?}: {said}");
    }
}

/// The record of a server, with its approvals, is kept by the spelling of its entry. An import
/// spells the entry in another way, and its undoing as before.
#[test]
fn what_is_known_of_a_server_outlives_an_import_and_its_undoing() {
    let all = Scripted::new();
    let script = artifacts::workspace().join("tests/servers/scripted.py");
    let servers: Map<String, Value> = [
        ("cursor-home", "${userHome}"),
        ("cursor-variable", "${env:HOME}"),
        ("plain", ""),
    ]
    .into_iter()
    .map(|(name, home)| {
        all.offers(name, &[("add", "Adds a note.")]);
        let home = match home {
            "" => all.home.path().display().to_string(),
            home => home.to_owned(),
        };
        let [starts, tools] = ["starts", "tools"].map(|what| format!("{home}/{name}.{what}"));
        let server = json!({ "command": "python3", "args": [script, starts, tools] });
        (name.to_owned(), server)
    })
    .collect();
    let names: Vec<_> = servers.keys().cloned().collect();
    let file = json!({ "mcpServers": servers });
    write(&all.cursor(), &file.to_string());
    all.run(&["sync"]);
    let known = |description: &str| {
        let listed = all.run(&["tools"]);
        for name in &names {
            assert!(listed.contains(&format!("{name}__add")), "{listed}");
        }
        let told = listed.matches(description).count();
        assert_eq!(told, names.len(), "{listed}");
    };
    known("Adds a note.");
    all.run(&["import", "--replace", "--no-sync"]);
    known("Adds a note.");
    for name in &names {
        all.offers(name, &[("add", "Adds a better note.")]);
    }
    all.run(&["sync"]);
    for name in &names {
        all.run(&["approve", name, "--yes"]);
    }
    known("Adds a better note.");
    all.run(&["import", "--undo"]);
    known("Adds a better note.");
    for name in &names {
        assert_eq!(all.starts(name), 2);
    }
}

/// A server that the policy of its client denies is not started from there.
#[test]
fn what_a_policy_denies_stays_asleep() {
    let all = Scripted::new();
    for name in ["notes", "more"] {
        all.offers(name, &[("add", "Adds.")]);
    }
    let home = all.home.path();
    all.configure(&home.join(".claude.json"), &["notes", "more"]);
    let settings = home.join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let policy = json!({ "deniedMcpServers": [{ "serverName": "notes" }] });
    fs::write(&settings, policy.to_string()).unwrap();

    let mut host = all.serve(&[]);
    assert_eq!(tools(&mut host), ["more__discover"]);
    let status = all.home.server_status("notes").unwrap();
    assert_eq!(status["state"], "disabled", "{status}");
    let why = status["error"].as_str().unwrap_or_default();
    assert!(why.contains("settings.json"), "{status}");
    assert!(!all.home.run(&["enable", "notes"]).unwrap().status.success());
    fs::write(&settings, "{}").unwrap();
    comes_to(&mut host, &["more__discover", "notes__discover"]);
    assert_eq!(all.starts("notes"), 0);
}

#[test]
fn a_tool_of_a_server_of_which_nothing_is_known_is_not_said_to_be_missing() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds a note.")]);
    all.configure(&all.cursor(), &["notes"]);
    let said = all.fails(&["call", "notes", "add", "{}"]);
    assert!(
        said.contains("nothing is known yet of what server `notes` offers"),
        "{said}"
    );
    assert!(said.contains("`dormouse sync notes`"), "{said}");
    assert_eq!(all.starts("notes"), 0);
    all.run(&["sync", "notes"]);
    all.run(&["call", "notes", "add", "{}"]);
    let said = all.fails(&["call", "notes", "ad", "{}"]);
    assert!(said.contains("did you mean `add`?"), "{said}");
}
