//! Servers that are switched off, or get another command, while a call of theirs runs.

use dormouse_tests::client::PATIENCE;
use dormouse_tests::wait;
use serde_json::{Value, json};

use crate::scripted::{Scripted, comes_to, tools, write};

fn text(answer: &Value) -> String {
    answer.to_string()
}

/// Returns the configuration in which `notes` is started with the command of another server.
fn with_command_of(all: &Scripted, other: &str) -> String {
    format!("[servers.notes]\ncommand = {}\n", json!(all.words(other)))
}

#[test]
fn a_call_ends_with_its_server() {
    let all = Scripted::new();
    all.offers("notes", &[("hang", "Never ends."), ("add", "Adds.")]);
    all.own("notes", "limits = { idle = \"never\" }\n");
    all.run(&["sync"]);
    let mut host = all.serve(&[]);
    for ends in [&["disable", "notes"][..], &["remove", "notes"]] {
        let call = json!({ "name": "notes__hang", "arguments": {} });
        let id = host.send("tools/call", call).unwrap();
        wait::until("start", || {
            let status = all.home.server_status("notes")?;
            anyhow::ensure!(status["pids"] != json!([]), "{status}");
            Ok(())
        })
        .unwrap();
        let status = all.home.server_status("notes").unwrap();
        let pid = status["pids"][0].as_u64().unwrap();
        all.run(ends);
        let answer = host.answer_within(id, PATIENCE).unwrap();
        assert!(text(&answer).contains("was switched off"), "{answer}");
        wait::until("end its process", || {
            let lives = std::path::Path::new(&format!("/proc/{pid}/stat")).exists();
            anyhow::ensure!(!lives, "{pid} is there");
            Ok(())
        })
        .unwrap();
        if ends[0] == "disable" {
            all.run(&["enable", "notes"]);
            comes_to(&mut host, &["notes__add", "notes__hang"]);
            host.text("notes__add", json!({})).unwrap();
        }
    }
}

/// Messages over a connection are of the server that it was made for, whichever server has the name
/// now.
#[test]
fn what_a_replaced_server_says_is_not_what_the_next_one_offers() {
    let all = Scripted::new();
    let evil = json!([{
        "name": "evil", "description": "Nobody has seen this.",
        "inputSchema": { "type": "object" }
    }]);
    all.offers_just("evil", &json!({ "tools": evil, "start_seconds": 3 }));
    all.offers("good", &[("add", "Adds.")]);
    write(&all.home.config(), &with_command_of(&all, "evil"));
    let mut host = all.serve(&[]);
    let call = json!({ "name": "notes__discover", "arguments": {} });
    let id = host.send("tools/call", call).unwrap();
    wait::until("start", || {
        anyhow::ensure!(all.starts("evil") > 0, "not yet");
        Ok(())
    })
    .unwrap();
    write(&all.home.config(), &with_command_of(&all, "good"));
    let answer = host.answer_within(id, PATIENCE).unwrap();
    assert!(!text(&answer).contains("Nobody has seen"), "{answer}");
    assert_eq!(tools(&mut host), ["notes__discover"]);
    assert!(!all.run(&["tools"]).contains("evil"));
    host.text("notes__discover", json!({})).unwrap();
    comes_to(&mut host, &["notes__add"]);
}
