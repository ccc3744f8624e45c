//! Trust that is gone, with the servers that ran by it.

use std::fs;

use serde_json::json;

use crate::scripted::{Scripted, comes_to, tools, write};
use crate::trust::{project, refusal};

/// Tools that an agent has listed of a project are of no use to it when the trust is gone.
#[test]
fn what_was_listed_is_not_called_when_the_trust_is_gone() {
    let all = project();
    all.run_in(&all.project(), &["trust", "--yes"]);
    let (synced, said) = all.run_in(&all.project(), &["sync", "evil"]);
    assert!(synced, "{said}");
    let started = all.starts("evil");
    let mut host = all.serve_project(json!({}));
    assert_eq!(tools(&mut host), ["evil__go"]);
    all.home.status().unwrap();
    all.run(&["trust", "--revoke", &all.project().display().to_string()]);
    let refused = refusal(&mut host, "evil__go");
    assert!(refused.contains("dormouse trust"), "{refused}");
    assert_eq!(all.starts("evil"), started);
}

/// Until a host has noticed that a project's files have changed, it starts the servers that were
/// trusted, and never those that are there now.
#[test]
fn what_a_projects_files_have_become_is_not_started_before_it_is_trusted() {
    let all = project();
    all.run_in(&all.project(), &["trust", "--yes"]);
    let (synced, said) = all.run_in(&all.project(), &["sync", "evil"]);
    assert!(synced, "{said}");
    let mut host = all.serve_project(json!({}));
    assert_eq!(tools(&mut host), ["evil__go"]);
    let text = all.client_file(&["evil"]);
    let text = text.replace("evil.starts", "worse.starts");
    write(&all.project().join(".mcp.json"), &text);
    for _ in 0..3 {
        host.outcome("tools/call", json!({ "name": "evil__go", "arguments": {} }))
            .unwrap();
    }
    comes_to(&mut host, &[]);
    let refused = refusal(&mut host, "evil__go");
    assert!(refused.contains("dormouse trust"), "{refused}");
    assert_eq!(all.starts("worse"), 0);
}

/// Returns the processes of the project's server, of which there are some.
#[track_caller]
fn running(all: &Scripted) -> Vec<dormouse_tests::processes::Process> {
    let pids = all.home.server_status("evil").unwrap()["pids"].clone();
    let pids: Vec<u32> = serde_json::from_value(pids).unwrap();
    let runs: Vec<_> = pids
        .iter()
        .filter_map(|pid| dormouse_tests::processes::Process::of(*pid))
        .collect();
    assert!(!runs.is_empty(), "nothing runs");
    runs
}

/// A package of a repository is a project of its own only while it has a file of a client's, and what
/// is recorded of it holds when that is back.
#[test]
fn what_is_no_project_at_the_moment_is_revoked() {
    let all = project();
    let package = all.project().join("package");
    let file = package.join(".mcp.json");
    all.offers("inner", &[("go", "Goes.")]);
    let named = package.display().to_string();
    for how in ["no file", "no folder", "in the folder"] {
        all.configure(&file, &["inner"]);
        all.run(&["trust", "--yes", &named]);
        let listed = all.run(&["trust", "--list"]);
        assert!(listed.contains("package"), "{how}: {listed}");
        match how {
            "no folder" => fs::remove_dir_all(&package).unwrap(),
            _ => fs::remove_file(&file).unwrap(),
        }
        let said = match how {
            "in the folder" => {
                let (revoked, said) = all.run_in(&package, &["trust", "--revoke"]);
                assert!(revoked, "{said}");
                said
            }
            _ => all.run(&["trust", "--revoke", &named]),
        };
        let is_told = said.contains("package` is trusted no longer");
        assert!(is_told, "{how}: {said}");
        assert_eq!(all.run(&["trust", "--list"]), "", "{how}");
    }
    // Who has named nothing that is trusted hears of it.
    let said = all.fails(&["trust", "--revoke", &named]);
    assert!(said.contains("nothing is revoked\nhint: "), "{said}");
    // What is trusted is found from a folder in it, as long as that is no project of its own.
    all.run(&["trust", "--yes", &all.project().display().to_string()]);
    // Of one that is not there and was never trusted, nobody knows what was meant.
    let said = all.fails(&["trust", "--revoke", &format!("{named}/packges/b")]);
    assert!(
        said.contains("is not there, and is not trusted: nothing is revoked\nhint: "),
        "{said}"
    );
    let listed = all.run(&["trust", "--list"]);
    assert!(listed.contains("project"), "{listed}");
    let said = all.run(&["trust", "--revoke", &named]);
    assert!(said.contains("project` is trusted no longer"), "{said}");
    assert_eq!(all.run(&["trust", "--list"]), "");
}

/// Nobody is asked with `--yes`, so that it trusts the folder that is named and no other.
#[test]
fn yes_trusts_no_other_folder_than_the_one_that_is_named() {
    let all = project();
    let package = all.project().join("packages/a");
    fs::create_dir_all(&package).unwrap();
    let said = all.fails(&["trust", "--yes", &package.display().to_string()]);
    let is_told = said.contains("a part of the project `") && said.contains("\nhint: ");
    assert!(is_told, "{said}");
    assert_eq!(all.run(&["trust", "--list"]), "");
    all.run(&["trust", "--yes", &all.project().display().to_string()]);
    assert!(all.run(&["trust", "--list"]).contains("project"));
}

/// Not only the next call is refused: a server that runs is ended.
#[test]
fn what_is_revoked_is_stopped() {
    let all = project();
    all.run_in(&all.project(), &["trust", "--yes"]);
    let mut host = all.serve_project(json!({}));
    host.text("evil__discover", json!({})).unwrap();
    let runs = running(&all);
    all.run(&["trust", "--revoke", &all.project().display().to_string()]);
    dormouse_tests::processes::gone(&runs).unwrap();
}

/// Half a line in the user's own file, which an editor has saved, does not keep the user from
/// taking their trust back.
#[test]
fn what_is_revoked_is_stopped_while_the_users_own_file_cannot_be_read() {
    let all = project();
    all.own("mine", "");
    all.offers("mine", &[("own", "The user's.")]);
    let own = all.home.config();
    let before = std::fs::read_to_string(&own).unwrap();
    all.run_in(&all.project(), &["trust", "--yes"]);
    let mut host = all.serve_project(json!({}));
    host.text("evil__discover", json!({})).unwrap();
    let runs = running(&all);
    write(&own, &format!("{before}\n[servers.x\n"));
    let (revoked, said) = all.run_in(&all.project(), &["trust", "--revoke"]);
    assert!(revoked, "{said}");
    assert!(said.contains("this is not TOML"), "{said}");
    dormouse_tests::processes::gone(&runs).unwrap();
    let refused = refusal(&mut host, "evil__go");
    assert!(refused.contains("dormouse trust"), "{refused}");
    // What the user's own file said when it could be read is still there.
    comes_to(&mut host, &["mine__discover"]);
}
