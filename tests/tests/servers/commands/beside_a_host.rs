//! Commands beside a host that runs, which has what a command alone has not: sessions, and
//! connections that could be made again. None of them starts a server that its user has not
//! allowed.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_tests::Client;
use dormouse_tests::processes::{self, Process};
use serde_json::json;

use crate::lifecycle::switched_off::{STATES, switched_off};
use crate::scripted::{Scripted, comes_to, tools, write};
use crate::trust::counting;
use crate::trust::untrusted_files::WatchedFiles;

/// A session that has started `good`, and nothing else.
struct Beside<'a> {
    all: &'a Scripted,
    host: Client,
    shown: Vec<String>,
    children: Vec<Process>,
    connections: &'a AtomicUsize,
}

impl<'a> Beside<'a> {
    fn new(all: &'a Scripted, mut host: Client, connections: &'a AtomicUsize) -> Self {
        let shown = tools(&mut host);
        host.text("good__go", json!({})).unwrap();
        let children = processes::descendants(host.pid()).unwrap();
        let is_good = |child: &Process| child.line.contains("good.tools");
        assert!(children.iter().any(is_good), "{children:?}");
        Self {
            all,
            host,
            shown,
            children,
            connections,
        }
    }

    /// Checks that a server was started as often as this, no URL was connected to, and the host has
    /// started nothing more.
    #[track_caller]
    fn unchanged(&self, server: &str, starts: usize, what: &str) {
        assert_eq!(self.connections.load(Ordering::SeqCst), 0, "{what}");
        assert_eq!(self.all.starts(server), starts, "{server}: {what}");
        let now = processes::descendants(self.host.pid()).unwrap();
        assert_eq!(now, self.children, "{server}: {what}");
    }

    /// Calls a server's tools in the session, by names that may have been shown once.
    fn called(&mut self, server: &str, starts: usize) {
        for tool in ["go", "discover"] {
            let call = json!({ "name": format!("{server}__{tool}"), "arguments": {} });
            let answer = self.host.outcome("tools/call", call).unwrap();
            let is_refused = answer["error"].is_object() || answer["result"]["isError"] == true;
            assert!(is_refused, "{server}: {answer}");
            self.unchanged(server, starts, tool);
        }
    }

    /// Checks that the session goes on, and shows the same tools.
    fn goes_on(mut self) {
        let shown: Vec<_> = self.shown.iter().map(String::as_str).collect();
        comes_to(&mut self.host, &shown);
        self.host.text("good__go", json!({})).unwrap();
        let now = processes::descendants(self.host.pid()).unwrap();
        assert_eq!(now, self.children);
    }
}

/// Adds a server that anybody may call.
fn with_good(all: &Scripted) {
    all.offers("good", &[("go", "Goes.")]);
    all.own("good", "");
    all.home.synced("good").unwrap();
}

/// Makes servers known that are denied or disabled otherwise.
fn known_before(all: &Scripted, servers: &[&str]) {
    let settings = all.home.path().join(".claude/settings.json");
    let files = [all.home.config(), settings];
    let before = files
        .each_ref()
        .map(|file| fs::read_to_string(file).unwrap());
    fs::write(&files[0], before[0].replace("enabled = false", "")).unwrap();
    fs::write(&files[1], "{}").unwrap();
    for server in servers {
        all.home.synced(server).unwrap();
    }
    for (file, text) in files.iter().zip(&before) {
        fs::write(file, text).unwrap();
    }
}

/// Returns commands for a server that must not be started.
fn table(server: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["restart", server],
        vec!["login", server],
        vec!["logout", server],
        vec!["sync", server],
        vec!["call", server, "go", "{}"],
        vec!["call", server, "discover", "{}"],
        vec!["prompt", server, "p"],
        vec!["approve", server, "--yes"],
        vec!["approve", "--all", "--yes"],
        vec!["diff", server],
        vec!["adapt", server, "-o", "x.wasm"],
        vec!["tools", server],
        vec!["read", "x:y"],
        vec!["sync"],
        vec!["status"],
        vec!["doctor", "--connect"],
        vec!["forget", server],
        vec!["restart", server],
    ]
}

#[test]
fn no_command_beside_a_host_starts_what_is_switched_off() {
    let (all, connections) = switched_off();
    // Of two there are tools that could be called.
    known_before(&all, &["denied-local", "disabled-local"]);
    with_good(&all);
    let mut beside = Beside::new(&all, all.serve(&[]), &connections);
    // What waits for something is there to be asked, and says what it waits for.
    let waiting = ["waiting-far__discover", "waiting-local__discover"];
    assert_eq!(beside.shown, [&["good__go"][..], &waiting].concat());
    for state in STATES {
        for kind in ["local", "far"] {
            let server = format!("{state}-{kind}");
            let starts = usize::from(kind == "local" && state != "waiting");
            beside.called(&server, starts);
            // To enable what is disabled is its user's right, and starts nothing either.
            let switch: &[&[&str]] = match state {
                "disabled" => &[&["disable", &server, "--once"]],
                _ => &[
                    &["disable", &server, "--once"],
                    &["enable", &server, "--once"],
                    &["enable", &server],
                ],
            };
            let switch = switch.iter().map(|words| words.to_vec());
            for words in switch.chain(table(&server)) {
                all.run_in(all.home.path(), &words);
                beside.unchanged(&server, starts, &format!("{words:?}"));
            }
            if state != "disabled" {
                let enable = json!({ "name": "enable", "arguments": { "server": server } });
                beside.host.outcome("prompts/get", enable).unwrap();
            }
            beside.called(&server, starts);
            let told = all.home.server_status(&server).unwrap();
            assert_eq!(told["pids"], json!([]), "{told}");
        }
    }
    beside.goes_on();
}

#[test]
fn no_command_beside_a_host_starts_connects_or_reads_what_is_untrusted() {
    let all = Scripted::new();
    let (port, connections) = counting();
    all.offers("local", &[("go", "Goes.")]);
    let words = all.words("local");
    let project = all.project();
    let text = json!({ "mcpServers": {
        "far": { "type": "http", "url": format!("http://127.0.0.1:{port}/mcp") },
    } });
    write(&project.join(".mcp.json"), &text.to_string());
    let text = json!({ "servers": { "local": {
        "type": "stdio", "command": words[0], "args": words[1..],
        "envFile": "${workspaceFolder}/variables"
    } } });
    write(&project.join(".vscode/mcp.json"), &text.to_string());
    let own = "[servers.plugin]\ncomponent = 'plugin.wasm'\n";
    write(&project.join("dormouse.toml"), own);
    let named = [project.join("variables"), project.join("plugin.wasm")];
    let mut files = WatchedFiles::new(&named);
    with_good(&all);
    let host = all.serve_project(json!({}));
    let mut beside = Beside::new(&all, host, &connections);
    assert_eq!(beside.shown, ["good__go"]);
    for server in ["local", "far", "plugin"] {
        beside.called(server, 0);
        let switch = [
            vec!["disable", server, "--once"],
            vec!["enable", server, "--once"],
            vec!["enable", server],
        ];
        for words in switch.into_iter().chain(table(server)) {
            let (_, said) = all.run_in(&project, &words);
            beside.unchanged("local", 0, &format!("{words:?}"));
            let opened = files.opened();
            assert!(opened.is_empty(), "{words:?}: {opened:?}, {said}");
        }
    }
    beside.goes_on(); // Whoever trusts the project has what it names opened.
    let (trusted, said) = all.run_in(&project, &["trust", "--yes"]);
    assert!(trusted, "{said}");
    assert_eq!(files.opened().len(), named.len());
}
