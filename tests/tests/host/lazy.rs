//! Twenty servers: none runs before the first call, then only those that were called, and none
//! afterwards.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use anyhow::ensure;
use dormouse_tests::client::PATIENCE;
use dormouse_tests::processes::{self, Process};
use dormouse_tests::upstream::{self, Listening};
use dormouse_tests::{Client, Home, Upstream, artifacts, wait};
use serde_json::{Value, json};

/// Number of servers whose names are numbered.
const SMALL: usize = 15;

/// Home with many servers, each of which notes its starts.
struct Fleet {
    home: Home,
    /// Server that listens, which runs for as long as this is here.
    listening: Option<Listening>,
}

/// Returns a server whose starts are noted before it does anything.
fn noted(home: &Home, name: &str, words: &[String]) -> Upstream {
    let script = r#"echo "$1" >> "$0"; shift; exec "$@""#;
    let mut server = Upstream::new("/bin/sh".as_ref())
        .arg("-c")
        .arg(script)
        .arg(starts_file(home).display())
        .arg(name);
    for word in words {
        server = server.arg(word);
    }
    server
}

fn starts_file(home: &Home) -> PathBuf {
    home.path().join("starts")
}

fn small(number: usize) -> String {
    format!("small{number:02}")
}

/// Returns the only tool of a small server.
fn echo(number: usize) -> String {
    format!("{}__p0000__echo", small(number))
}

impl Fleet {
    /// Makes fifteen small servers of which nothing is known, with more lines in the table of each,
    /// and in the file.
    fn small(table: &str, file: &str) -> Self {
        let home = Home::new().unwrap();
        std::fs::write(home.config(), file).unwrap();
        let floor = artifacts::program("dormouse-floor").unwrap();
        let floor = [floor.display().to_string(), "1".into(), "1".into()];
        for number in 0..SMALL {
            let name = small(number);
            let server = noted(&home, &name, &floor);
            home.upstream(&name, &server, table).unwrap();
        }
        let listening = None;
        Self { home, listening }
    }

    /// Adds five more: four that users have, and one that listens.
    fn and_real(mut self) -> Self {
        let home = &self.home;
        let folder = home.path().join("files");
        std::fs::create_dir(&folder).unwrap();
        for (name, server) in [
            ("everything", upstream::everything()),
            ("filesystem", upstream::filesystem(&folder)),
            ("memory", upstream::memory(&folder.join("graph.jsonl"))),
            ("time", upstream::time()),
        ] {
            let server = noted(home, name, &server.unwrap().launch());
            home.upstream(name, &server, "").unwrap();
        }
        let listening = Listening::everything("streamableHttp").unwrap();
        let url = format!("url = 'http://{}/mcp'", listening.address());
        home.table("remote", &url).unwrap();
        self.listening = Some(listening);
        self
    }

    /// Makes Dormouse learn the tools of all of them.
    fn synced(self) -> Self {
        self.home.json(&["sync", "--json"]).unwrap();
        let starts = self.starts();
        let mut once = starts.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), starts.len(), "each is started once: {starts:?}");
        std::fs::remove_file(starts_file(&self.home)).unwrap();
        self
    }

    /// Returns the servers that were started so far, in the order of their starts.
    fn starts(&self) -> Vec<String> {
        let starts = std::fs::read_to_string(starts_file(&self.home)).unwrap_or_default();
        starts.lines().map(str::to_owned).collect()
    }

    /// Returns the processes that the host has started, without the one that ends the others with
    /// the host.
    fn upstreams(&self, host: &Client) -> Vec<Process> {
        let dormouse = artifacts::program("dormouse").unwrap();
        let mut all = processes::descendants(host.pid()).unwrap();
        all.retain(|one| !processes::is(one, &dormouse));
        all
    }

    fn groups(&self, host: &Client) -> BTreeSet<u32> {
        self.upstreams(host).iter().map(|one| one.group).collect()
    }

    fn state(&self, server: &str) -> Value {
        self.home.server_status(server).unwrap()["state"].clone()
    }

    fn run(&self, arguments: &[&str]) {
        let output = self.home.run(arguments).unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
}

/// Calls a small server's tool.
fn call(host: &mut Client, number: usize) {
    let told = host.text(&echo(number), json!({ "text": "awake" }));
    assert_eq!(told.unwrap(), "awake");
}

#[test]
fn nothing_runs_before_a_call_and_one_after_it() {
    let fleet = Fleet::small("", "").and_real().synced();
    fleet.home.lists_all().unwrap();
    let mut host = fleet.home.serve().unwrap();
    let tools = host.tools().unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    // All of all twenty, and no stand-in among them.
    for wanted in [
        echo(0).as_str(),
        echo(SMALL - 1).as_str(),
        "everything__echo",
        "filesystem__edit_file",
        "memory__read_graph",
        "time__convert_time",
        "remote__echo",
    ] {
        assert!(names.contains(&wanted), "no `{wanted}` in {names:?}");
    }
    assert!(
        !names.iter().any(|name| name.ends_with("__discover")),
        "{names:?}"
    );
    host.request("prompts/list", json!({})).unwrap();
    host.request("resources/list", json!({})).unwrap();
    // The status comes from the host itself, so what it would do after its first
    // answers has been begun by then.
    let status = fleet.home.status().unwrap();
    assert_eq!(status["servers"].as_array().unwrap().len(), 20);
    assert_eq!(fleet.starts(), [""; 0], "nothing is started");
    assert_eq!(processes::descendants(host.pid()).unwrap(), []);
    assert_eq!(processes::sockets(host.pid()).unwrap(), [""; 0]);

    call(&mut host, 3);
    call(&mut host, 3);
    assert_eq!(fleet.starts(), [small(3)]);
    let groups = fleet.groups(&host);
    assert_eq!(groups.len(), 1, "{:#?}", fleet.upstreams(&host));
    // Not that of the host: a signal to its group must not reach it alone.
    let own = Process::of(host.pid()).unwrap();
    assert!(!groups.contains(&own.group), "{own:?}");
    assert_eq!(processes::sockets(host.pid()).unwrap(), [""; 0]);
    assert_eq!(fleet.state(&small(3)), "ready");
    assert_eq!(fleet.state(&small(4)), "known");
    let pids = fleet.home.server_status(&small(3)).unwrap()["pids"].clone();
    let running: Vec<_> = fleet
        .upstreams(&host)
        .iter()
        .map(|one| json!(one.pid))
        .collect();
    assert_eq!(pids, json!(running));

    // Another one, that is no process of ours.
    host.text("remote__echo", json!({ "message": "there" }))
        .unwrap();
    assert_eq!(fleet.groups(&host), groups);
    assert_ne!(processes::sockets(host.pid()).unwrap(), [""; 0]);
    let started = processes::descendants(host.pid()).unwrap();
    assert!(host.close(PATIENCE).unwrap().success());
    processes::gone(&started).unwrap();
    assert_eq!(fleet.starts(), [small(3)]);
}

/// A hundred calls at once are one start.
#[test]
fn first_calls_share_one_start() {
    let fleet = Fleet::small("", "").synced();
    let mut host = fleet.home.serve().unwrap();
    let params = json!({ "name": echo(0), "arguments": { "text": "one of many" } });
    let ids: Vec<_> = (0..100)
        .map(|_| host.send("tools/call", params.clone()).unwrap())
        .collect();
    for id in ids {
        let answer = host.answer(id).unwrap();
        assert_eq!(
            dormouse_tests::client::text(&answer["result"]),
            Some("one of many")
        );
    }
    assert_eq!(fleet.starts(), [small(0)]);
    assert_eq!(fleet.groups(&host).len(), 1);
}

/// Where the user wants that, servers of which nothing is known are asked for their tools after the
/// start, and sleep again.
#[test]
fn unknown_ones_are_fetched_where_that_is_wanted() {
    let fleet = Fleet::small("", "[discovery]\nfetch = \"background\"\n").and_real();
    // What is not listed may not have been fetched.
    fleet.home.lists_all().unwrap();
    let mut host = fleet.home.serve().unwrap();
    wait::until("all tools", || {
        let tools = host.tools()?;
        let names: Vec<_> = tools
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        let unknown = names.iter().filter(|name| name.ends_with("__discover"));
        let unknown: Vec<_> = unknown.collect();
        ensure!(unknown.is_empty(), "nothing is known of {unknown:?}");
        Ok(())
    })
    .unwrap();
    host.notification("notifications/tools/list_changed", PATIENCE)
        .unwrap();
    let mut starts = fleet.starts();
    starts.sort();
    starts.dedup();
    assert_eq!(starts.len(), SMALL + 4);
    wait::until("servers that sleep again", || {
        let running = fleet.upstreams(&host);
        ensure!(running.is_empty(), "{running:#?}");
        Ok(())
    })
    .unwrap();
}

/// Without that setting, such servers wait to be asked for, and say how.
#[test]
fn unknown_ones_wait_to_be_asked() {
    let fleet = Fleet::small("", "").and_real();
    let mut host = fleet.home.serve().unwrap();
    let tools = host.tools().unwrap();
    assert_eq!(tools.len(), 20, "{tools:?}");
    let discover = tools
        .iter()
        .find(|tool| tool["name"] == "small07__discover");
    assert!(discover.is_some(), "{tools:?}");
    assert_eq!(fleet.starts(), [""; 0]);
    let told = host.text("small07__discover", json!({})).unwrap();
    assert!(told.contains("p0000__echo"), "{told}");
    host.notification("notifications/tools/list_changed", PATIENCE)
        .unwrap();
    call(&mut host, 7);
    assert_eq!(fleet.starts(), [small(7)], "what it has found out is used");
    assert_eq!(host.tools().unwrap().len(), 20);
}

#[test]
fn idle_ones_are_stopped() {
    let fleet = Fleet::small("limits = { idle = \"1s\" }\n", "").synced();
    let mut host = fleet.home.serve().unwrap();
    for _ in 0..2 {
        call(&mut host, 0);
        let running = fleet.upstreams(&host);
        assert_eq!(running.len(), 1, "{running:#?}");
        processes::gone(&running).unwrap();
        wait::until("the state", || {
            let state = fleet.state(&small(0));
            ensure!(state == "idle", "it is {state}");
            Ok(())
        })
        .unwrap();
    }
    assert_eq!(fleet.starts(), [small(0), small(0)]);
}

/// Servers that run are ended by the user's command.
#[test]
fn told_ones_are_stopped() {
    let fleet = Fleet::small("", "").synced();
    let mut host = fleet.home.serve().unwrap();
    call(&mut host, 0);
    call(&mut host, 1);
    let by_number = |number: usize| -> Vec<Process> {
        let status = fleet.home.server_status(&small(number)).unwrap();
        let pids = status["pids"].as_array().unwrap().iter();
        pids.map(|pid| Process::of(u32::try_from(pid.as_u64().unwrap()).unwrap()).unwrap())
            .collect()
    };
    let (first, second) = (by_number(0), by_number(1));
    fleet.run(&["restart", &small(0)]);
    processes::gone(&first).unwrap();
    call(&mut host, 0);
    assert_ne!(by_number(0), first);

    fleet.run(&["disable", &small(1)]);
    processes::gone(&second).unwrap();
    let gone = host.request(
        "tools/call",
        json!({ "name": echo(1), "arguments": { "text": "" } }),
    );
    assert!(gone.is_err(), "{gone:?}");
    assert_eq!(fleet.starts(), [small(0), small(1), small(0)]);
    assert_eq!(fleet.groups(&host).len(), 1);
}

/// However the host ends, no process that it has started is left.
#[test]
fn none_outlives_the_host() {
    let fleet = Fleet::small("", "").and_real().synced();
    for way in ["TERM", "KILL", "the end of its input"] {
        let mut host = fleet.home.serve().unwrap();
        call(&mut host, 0);
        host.text("everything__echo", json!({ "message": "awake" }))
            .unwrap();
        // In the middle of a call.
        let long = json!({
            "name": "everything__trigger-long-running-operation",
            "arguments": { "duration": 600, "steps": 6000 },
            "_meta": { "progressToken": "token" }
        });
        host.send("tools/call", long).unwrap();
        host.notification("notifications/progress", PATIENCE)
            .unwrap();
        assert_eq!(fleet.groups(&host).len(), 2);
        let started = processes::descendants(host.pid()).unwrap();
        if way.contains(' ') {
            assert!(host.close(PATIENCE).unwrap().success());
        } else {
            let pid = host.pid().to_string();
            let sent = Command::new("kill")
                .args(["-s", way, &pid])
                .status()
                .unwrap();
            assert!(sent.success());
        }
        processes::gone(&started).unwrap();
    }
}
