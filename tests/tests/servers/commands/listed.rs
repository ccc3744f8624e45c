//! Servers and tools as commands list them.

use serde_json::json;

use crate::commands::streams;
use crate::scripted::{Scripted, write};

#[test]
fn what_tools_cost_is_told() {
    let all = Scripted::new();
    let long = "Adds. ".repeat(1000);
    all.offers("notes", &[("add", &long)]);
    all.offers("small", &[("find", "Finds.")]);
    all.configure(&all.cursor(), &["notes", "small"]);
    let (_, listed, _) = streams(&all, &["list"]);
    assert!(
        listed.contains("never asked") && listed.contains(" ? "),
        "{listed}"
    );
    assert!(listed.contains("`dormouse sync` finds out"), "{listed}");
    let (_, status, _) = streams(&all, &["status"]);
    assert!(
        status.contains("never asked") && status.contains(" ?"),
        "{status}"
    );
    all.run(&["sync"]);
    let (_, listed, said) = streams(&all, &["list"]);
    let line = listed
        .lines()
        .find(|line| line.starts_with("notes"))
        .unwrap();
    for part in ["6.1 kB, ~1", "tokens", "cursor", "asleep"] {
        assert!(line.contains(part), "no `{part}` in {line}");
    }
    assert!(said.contains("all tools together: 6.2 kB"), "{said}");
    let rows = all.home.json(&["list", "--json"]).unwrap();
    let bytes: u64 = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["bytes"].as_u64().unwrap())
        .sum();
    // What an agent gets is what is counted.
    let mut host = all.serve(&[]);
    let sent: usize = host
        .tools()
        .unwrap()
        .iter()
        .map(|tool| tool.to_string().len())
        .sum();
    assert!((sent as u64).abs_diff(bytes) * 20 < bytes, "{sent} {bytes}");
    let (_, _, said) = streams(&all, &["tools"]);
    assert!(said.contains("2 tools of 6.2 kB"), "{said}");
}

#[test]
fn servers_that_are_one_and_tools_that_are_filtered_are_told() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds."), ("drop", "Drops.")]);
    let words = all.words("notes");
    let home = all.home.path();
    let server = |name: &str| {
        let entry = json!({ "command": words[0], "args": words[1..] });
        json!({ "mcpServers": { name: entry } }).to_string()
    };
    write(&all.cursor(), &server("notes"));
    write(&home.join(".gemini/settings.json"), &server("gm"));
    all.home
        .table("notes", "exclude_tools = [\"drop\"]\n")
        .unwrap();
    let synced = all.run(&["sync"]);
    assert!(synced.contains("[1/1] notes: 1 tool, "), "{synced}");
    let (_, listed, _) = streams(&all, &["list"]);
    assert!(
        listed.contains("gm: it is reached in the same way as `notes`"),
        "{listed}"
    );
    assert!(
        listed.contains("notes: 1 of its 2 tools are not shown"),
        "{listed}"
    );
    let doctor = all.run(&["doctor"]);
    assert!(doctor.contains("the same as `gm` of"), "{doctor}");
    let refused = all.fails(&["call", "gm", "add", "{}"]);
    assert!(refused.contains("hint: say `notes`"), "{refused}");
    let refused = all.fails(&["call", "notes__add", "{}"]);
    assert!(refused.contains("hint: say `notes add`"), "{refused}");
    // A table for the name that went away is about nothing.
    all.home.table("gm", "enabled = true\n").unwrap();
    let doctor = all.run(&["doctor"]);
    assert!(
        doctor.contains("call the table `[servers.notes]`"),
        "{doctor}"
    );
}

/// Of two clients' servers with one name, one is taken, and the other one's user looks for it.
#[test]
fn a_server_whose_name_another_has_taken_is_told() {
    let all = Scripted::new();
    all.configure(&all.cursor(), &["notes"]);
    let codex = all.home.path().join(".codex/config.toml");
    write(&codex, "[mcp_servers.notes]\ncommand = \"other\"\n");
    let told = "notes: another server with this name is not taken";
    let listed = all.run(&["list"]);
    assert!(listed.contains(told), "{listed}");
    assert!(listed.contains(".codex/config.toml:1"), "{listed}");
    // What stands in Dormouse's own file instead is wanted there.
    all.run(&["add", "notes", "--no-sync", "--", "true"]);
    let listed = all.run(&["list"]);
    assert!(!listed.contains(told), "{listed}");
}

#[test]
fn what_is_odd_is_told_once_and_where_it_belongs() {
    let all = Scripted::new();
    all.offers_just(
        "notes",
        &json!([
            { "name": "good", "inputSchema": { "type": "object" } },
            { "name": "strtype", "inputSchema": { "type": "string" } },
        ]),
    );
    all.configure(&all.cursor(), &["notes"]);
    all.run(&["sync"]);
    for (words, times) in [
        (&["list"][..], 1),
        (&["doctor"], 1),
        (&["status"], 1),
        (&["tools"], 0),
        (&["call", "notes", "good", "{}"], 0),
    ] {
        let (output, stdout, stderr) = streams(&all, words);
        assert!(output.status.success(), "{stderr}");
        let told = stdout.matches("strtype").count() + stderr.matches("strtype").count();
        assert_eq!(told, times, "{words:?}: {stdout}{stderr}");
        assert!(!stderr.contains("WARN"), "{words:?}: {stderr}");
    }
    // Who wants the log has it, and a host does without being asked.
    let (_, _, stderr) = streams(&all, &["tools", "-v"]);
    assert!(stderr.contains("strtype"), "{stderr}");
}

#[test]
fn a_clients_file_that_is_broken_is_told_by_list() {
    let all = Scripted::new();
    write(&all.cursor(), "{ \"mcpServers\": { \"x\" {} } }");
    all.offers("notes", &[("add", "Adds.")]);
    all.own("notes", "");
    let (_, listed, _) = streams(&all, &["list"]);
    assert!(listed.contains(".cursor/mcp.json:1:"), "{listed}");
}

/// Commands are shown with the ends of their arguments.
#[test]
fn arguments_with_blanks_are_quoted() {
    let all = Scripted::new();
    let args = json!(["-y", "two words", "", "it's", "plain"]);
    let server = json!({ "command": "npx", "args": args });
    let file = json!({ "mcpServers": { "blank": server } });
    write(&all.cursor(), &file.to_string());
    let rows = all.home.json(&["list", "--json"]).unwrap();
    assert_eq!(
        rows[0]["upstream"],
        r"npx -y 'two words' '' 'it'\''s' plain"
    );
}

/// What a person is shown, and pastes elsewhere, has no secret of a command.
#[test]
fn secrets_in_arguments_are_in_no_output() {
    let all = Scripted::new();
    let args = json!([
        "figma-developer-mcp",
        "--figma-api-key=figd_CANARY",
        "--token",
        "CANARY"
    ]);
    let file = json!({ "mcpServers": { "figma": { "command": "npx", "args": args } } });
    write(&all.cursor(), &file.to_string());
    for words in [
        &["list"][..],
        &["list", "--json"],
        &["doctor"],
        &["status"],
        &["import", "--dry-run"],
    ] {
        let (_, stdout, stderr) = streams(&all, words);
        let said = stdout + &stderr;
        assert!(said.contains("figma"), "{words:?}: {said}");
        assert!(!said.contains("CANARY"), "{words:?}: {said}");
    }
}
