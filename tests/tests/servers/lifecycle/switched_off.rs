//! Servers that a policy denies, that are disabled, or that wait for something to be set: no
//! command starts or connects one.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::scripted::{Scripted, write};
use crate::trust::counting;

pub(crate) const STATES: [&str; 3] = ["denied", "disabled", "waiting"];

/// Makes a home with a program and a URL in each of the states, and returns the number of
/// connections to the URLs, too.
pub(crate) fn switched_off() -> (Scripted, Arc<AtomicUsize>) {
    let all = Scripted::new();
    let (port, connections) = counting();
    let mut denied = Vec::new();
    let mut found = serde_json::Map::new();
    for state in STATES {
        let (local, far) = (format!("{state}-local"), format!("{state}-far"));
        all.offers(&local, &[("go", "Goes.")]);
        let words = all.words(&local);
        let url = format!("http://127.0.0.1:{port}/{state}");
        if state == "denied" {
            denied.extend([json!({ "serverName": local }), json!({ "serverName": far })]);
            found.insert(local, json!({ "command": words[0], "args": words[1..] }));
            found.insert(far, json!({ "type": "http", "url": url }));
            continue;
        }
        let (more, argument) = match state {
            "disabled" => ("enabled = false", ""),
            _ => ("", "${NOT_SET}"),
        };
        let words = [words, vec![argument.to_owned()]].concat();
        let table = format!("command = {}\n{more}", Value::from(words));
        all.home.table(&local, &table).unwrap();
        let table = format!("url = \"{url}/{argument}\"\n{more}");
        all.home.table(&far, &table).unwrap();
    }
    let home = all.home.path();
    let servers = json!({ "mcpServers": found });
    write(&home.join(".claude.json"), &servers.to_string());
    fs::create_dir_all(home.join(".claude")).unwrap();
    let policy = json!({ "deniedMcpServers": denied });
    write(&home.join(".claude/settings.json"), &policy.to_string());
    (all, connections)
}

#[test]
fn no_command_starts_what_is_switched_off() {
    let (all, connections) = switched_off();
    for state in STATES {
        for kind in ["local", "far"] {
            let server = format!("{state}-{kind}");
            let table: &[&[&str]] = &[
                &["sync", &server],
                &["login", &server],
                &["adapt", &server, "-o", "x.wasm"],
                &["call", &server, "go", "{}"],
                &["call", &server, "discover", "{}"],
                &["prompt", &server, "p"],
                &["restart", &server],
                &["approve", &server, "--yes"],
                &["tools", &server],
                &["read", "x:y"],
                &["sync"],
                &["doctor", "--connect"],
            ];
            for words in table {
                let output = all
                    .home
                    .command(words)
                    .stdin(std::process::Stdio::null())
                    .output()
                    .unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                assert_eq!(connections.load(Ordering::SeqCst), 0, "{words:?}: {said}");
                assert_eq!(all.starts(&server), 0, "{words:?}: {said}");
            }
            // Who asks for one of them is told why not.
            for words in [&["sync", &server][..], &["adapt", &server, "-o", "x.wasm"]] {
                let output = all.home.run(words).unwrap();
                assert_eq!(output.status.code(), Some(1), "{words:?}");
                let said = String::from_utf8_lossy(&output.stderr).into_owned()
                    + &String::from_utf8_lossy(&output.stdout);
                let why = match state {
                    "denied" => "settings.json",
                    "disabled" => "dormouse enable",
                    _ => "NOT_SET",
                };
                assert!(said.contains(why), "{words:?}: {said}");
            }
        }
    }
}
