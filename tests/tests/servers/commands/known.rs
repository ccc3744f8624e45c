//! What is known of servers: fetched, remembered and forgotten by commands.

use serde_json::{Value, json};

use crate::commands::configured::entry_of;
use crate::commands::streams;
use crate::scripted::{Scripted, comes_to, tools, write};
use crate::trust::at_a_terminal;

/// The reason for which a server could not be started is told until it can be.
#[test]
fn a_start_that_has_failed_is_remembered_with_its_reason() {
    let all = Scripted::new();
    let program = all.home.path().join("late");
    let table = format!("command = {}\n", json!(program));
    all.home.table("late", &table).unwrap();
    all.own("good", "");
    all.offers("good", &[("add", "Adds.")]);
    all.run(&["sync", "good"]);
    all.fails(&["sync", "late"]);
    for words in [&["list"][..], &["status"], &["doctor"]] {
        let (_, stdout, _) = streams(&all, words);
        assert!(stdout.contains("late"), "{stdout}");
        assert!(
            stdout.contains("there is no program `"),
            "{words:?}: {stdout}"
        );
    }
    // One of a relative path is looked for in one folder, which is told.
    all.home.table("near", "command = \"./near\"\n").unwrap();
    let refused = all.fails(&["sync", "near"]);
    let folder = all.home.path().display();
    let folder = format!("there is no program `./near` in `{folder}`");
    assert!(refused.contains(&folder), "{refused}");
    all.run(&["remove", "near"]);
    // Some write the whole line as the program.
    all.home
        .table("line", "command = \"npx -y notes\"\n")
        .unwrap();
    for said in [all.fails(&["sync", "line"]), all.run(&["doctor"])] {
        let hint = "hint: blanks in `command` are part of a program's name";
        assert!(said.contains(hint), "{said}");
    }
    all.run(&["remove", "line"]);
    let rows = all.home.json(&["list", "--json"]).unwrap();
    let state = |rows: &Value, name: &str| {
        let mut rows = rows.as_array().unwrap().iter();
        rows.find(|row| row["name"] == name).unwrap()["state"].clone()
    };
    assert_eq!(state(&rows, "late"), "failed");
    assert_eq!(state(&rows, "good"), "known");
    all.offers("late", &[("add", "Adds.")]);
    let words = all.words("late").join(" ");
    write(&program, &format!("#!/bin/sh\nexec {words}\n"));
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    all.run(&["sync", "late"]);
    let rows = all.home.json(&["list", "--json"]).unwrap();
    assert_eq!(state(&rows, "late"), "known");

    // That of a known server as well, whatever has started it.
    write(&program, "#!/bin/sh\necho 'no licence' >&2\nexit 3\n");
    all.fails(&["call", "late", "add"]);
    let rows = all.home.json(&["list", "--json"]).unwrap();
    assert_eq!(state(&rows, "late"), "failed");
    let (_, stdout, _) = streams(&all, &["doctor"]);
    assert!(stdout.contains("no licence"), "{stdout}");
    write(&program, &format!("#!/bin/sh\nexec {words}\n"));
    all.run(&["call", "late", "add"]);
    let rows = all.home.json(&["list", "--json"]).unwrap();
    assert_eq!(state(&rows, "late"), "known");
}

/// A server that was forgotten is asked for its lists again, and its approvals stay known.
#[test]
fn a_server_that_is_forgotten_shows_one_tool_and_is_not_trusted_anew() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds."), ("find", "Finds.")]);
    all.configure(&all.cursor(), &["notes"]);
    all.run(&["sync"]);
    let mut host = all.serve(&[]);
    assert_eq!(tools(&mut host).len(), 2);
    all.home.status().unwrap();
    let told = all.run(&["forget", "notes"]);
    assert!(told.contains("`discover` alone"), "{told}");
    comes_to(&mut host, &["notes__discover"]);
    assert!(all.run(&["forget", "notes"]).contains("nothing is listed"));
    // What it says otherwise now has nobody seen.
    all.offers("notes", &[("add", "<IMPORTANT> Adds."), ("find", "Finds.")]);
    let signatures = host.text("notes__discover", json!({})).unwrap();
    assert!(!signatures.contains("IMPORTANT"), "{signatures}");
    comes_to(&mut host, &["notes__add", "notes__find"]);
    let shown = json!(host.tools().unwrap()).to_string();
    assert!(!shown.contains("IMPORTANT"), "{shown}");
    let refused = all.fails(&["forget", "note"]);
    assert!(refused.contains("did you mean `notes`?"), "{refused}");
}

/// The connection that is open by then is asked what its server offers before anything is called.
#[test]
fn what_waits_is_not_called_by_its_name_alone_once_its_server_is_forgotten() {
    for mode in ["block", "ask"] {
        let all = Scripted::new();
        all.offers("s", &[("read", "Reads."), ("wipe", "Wipes.")]);
        let policy = format!("tools = ['read', 'wipe']\non_change = '{mode}'\n");
        all.own("s", &policy);
        all.run(&["sync"]);
        all.offers("s", &[("read", "Reads."), ("wipe", "EVIL")]);
        let mut host = all.serve(&[]);
        host.text("s__read", json!({ "text": "a" })).unwrap();
        comes_to(&mut host, &["s__read"]);
        all.run(&["forget", "s"]);
        comes_to(&mut host, &["s__read", "s__wipe"]);
        let refused = host.error("s__wipe", json!({ "text": "a" })).unwrap();
        assert!(refused.contains("not approved"), "{mode}: {refused}");
        comes_to(&mut host, &["s__read"]);
        assert_eq!(all.starts("s"), 2, "{mode}");
    }
}

/// A server that is done has a line where there is no progress bar.
#[test]
fn sync_says_how_far_it_is_on_a_pipe() {
    let all = Scripted::new();
    let names = ["one", "two", "three"];
    for name in names {
        all.offers(name, &[("add", "Adds.")]);
    }
    all.configure(&all.cursor(), &names);
    all.home
        .table("gone", "command = \"/nowhere/to/be/found\"")
        .unwrap();
    let (_, stdout, stderr) = streams(&all, &["sync", "--json"]);
    let rows: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 4);
    for (line, number) in stderr.lines().zip(1..) {
        assert!(line.starts_with(&format!("[{number}/4] ")), "{stderr}");
    }
    for part in names.map(|name| format!("] {name}: 1 tool, ")) {
        assert!(stderr.contains(&part), "no `{part}` in {stderr}");
    }
    assert!(stderr.contains("] gone: failed, "), "{stderr}");
}

/// A progress bar names the servers that are waited for, and log lines stay whole above it.
#[test]
fn sync_shows_what_it_waits_for_on_a_terminal() {
    let all = Scripted::new();
    let tool = json!([{ "name": "add", "inputSchema": { "type": "object" } }]);
    all.offers_just("slow", &json!({ "tools": tool, "start_seconds": 3 }));
    all.offers("quick", &[("add", "Adds.")]);
    let words = all.words("quick");
    let said = "a line that is logged meanwhile";
    let logging = format!("echo '{said}' >&2; sleep 1; exec {}", words.join(" "));
    let slow = entry_of(&all, "slow");
    let quick = json!({ "command": "sh", "args": ["-c", logging] });
    let servers = json!({ "mcpServers": { "slow": slow, "quick": quick } });
    write(&all.cursor(), &servers.to_string());
    let steps = json!([["waiting for quick, slow", ""], ["waiting for slow", ""]]);
    let words = ["sync", "-v"];
    let (shown, code) = at_a_terminal(&all, all.home.path(), &words, &steps);
    assert_eq!(code, Some(0), "{shown}");
    // The line that moves is wiped before anything is written where it was.
    let logged = shown.lines().find(|line| line.contains(said));
    let logged = logged.unwrap_or_else(|| panic!("{shown}"));
    let (_, written) = logged.rsplit_once("\u{1b}[2K").unwrap_or(("", logged));
    for part in ["connecting", "waiting for", "%"] {
        assert!(!written.contains(part), "{part}: {written:?} of {shown:?}");
    }
    // And nothing of it is left at the end.
    let (_, end) = shown.rsplit_once("waiting for").unwrap();
    let (_, end) = end.rsplit_once("\u{1b}[2K").unwrap();
    for part in ["slow", "quick"] {
        assert!(end.contains(part), "{part}: {end:?}");
    }
}

#[test]
fn what_is_known_already_is_not_offered_to_be_fetched() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds.")]);
    all.offers("small", &[("find", "Finds.")]);
    all.configure(&all.cursor(), &["notes", "small"]);
    all.run(&["sync", "notes"]);
    let said = all.run(&["import", "cursor"]);
    let hint = "`dormouse sync small` fetches the tools of 1 server";
    assert!(said.contains(hint), "{said}");
    all.run(&["sync", "small"]);
    all.run(&["import", "--undo"]);
    let said = all.run(&["import", "cursor"]);
    assert!(!said.contains("fetches the tools"), "{said}");
}
