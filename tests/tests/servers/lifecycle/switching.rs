//! Servers of clients, switched on and off in Dormouse alone.

use std::fs;

use dormouse_tests::processes::{self, Process};
use serde_json::json;

use crate::scripted::{Scripted, comes_to, told_of_change, tools};

fn known() -> Scripted {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds a note.")]);
    all.configure(&all.cursor(), &["notes"]);
    all.home.synced("notes").unwrap();
    all
}

#[test]
fn clients_files_are_left_alone() {
    let all = known();
    let before = fs::read(all.cursor()).unwrap();
    let mut host = all.serve(&[]);
    assert_eq!(tools(&mut host), ["notes__add"]);
    host.text("notes__add", json!({})).unwrap();

    all.run(&["disable", "notes"]);
    told_of_change(&mut host);
    comes_to(&mut host, &[]);
    let own = fs::read_to_string(all.home.config()).unwrap();
    assert_eq!(own.trim(), "[servers.notes]\nenabled = false");
    assert_eq!(
        all.home.server_status("notes").unwrap()["client_state"],
        "disabled"
    );
    let again = all.run(&["disable", "notes"]);
    assert!(again.contains("already disabled"), "{again}");
    assert_eq!(tools(&mut all.serve(&[])), [""; 0], "it is for good");

    all.run(&["enable", "notes"]);
    comes_to(&mut host, &["notes__add"]);
    host.text("notes__add", json!({})).unwrap();
    assert_eq!(fs::read(all.cursor()).unwrap(), before);
    let unknown = all.fails(&["disable", "note"]);
    assert!(unknown.contains("`notes`"), "{unknown}");
}

#[test]
fn once_is_for_the_running_host() {
    let all = known();
    let before = all.run(&["disable", "notes", "--once"]);
    assert!(before.contains("no host"), "{before}");
    let own = fs::read(all.home.config()).unwrap();
    let mut host = all.serve(&[]);
    assert_eq!(tools(&mut host), ["notes__add"]);
    all.home.status().unwrap();
    all.run(&["disable", "notes", "--once"]);
    comes_to(&mut host, &[]);
    assert_eq!(fs::read(all.home.config()).unwrap(), own);
    assert_eq!(tools(&mut all.serve(&[])), ["notes__add"]);
    all.run(&["enable", "notes", "--once"]);
    comes_to(&mut host, &["notes__add"]);
}

#[test]
fn restart_ends_what_runs() {
    let all = known();
    let mut host = all.serve(&[]);
    host.text("notes__add", json!({})).unwrap();
    let status = all.home.server_status("notes").unwrap();
    assert_eq!(status["client_state"], "connected", "{status}");
    assert_eq!(status["server_info"]["version"], "1.2.3", "{status}");
    assert_eq!(status["calls"], 1, "{status}");
    assert!(status["since"].is_u64(), "{status}");
    #[cfg(target_os = "linux")]
    assert!(status["memory"].as_u64().unwrap() > 1 << 20, "{status}");
    let pid = u32::try_from(status["pids"][0].as_u64().unwrap()).unwrap();
    let running = [Process::of(pid).unwrap()];
    all.run(&["restart", "notes"]);
    processes::gone(&running).unwrap();
    host.text("notes__add", json!({})).unwrap();
    assert_eq!(all.starts("notes"), 3);
}
