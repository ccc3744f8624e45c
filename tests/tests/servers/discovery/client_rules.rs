//! Rules in the file of one client about a server that several clients have: that client never gets
//! the server's forbidden tools, and the others lose nothing.

use std::fs;

use serde_json::{Value, json};

use crate::scripted::{Scripted, tools, write};

/// Makes a home in which four clients have `notes`: Gemini without one of its tools, Codex with one
/// of them alone, Cursor switched off.
fn of_four_clients() -> Scripted {
    let all = Scripted::new();
    all.offers(
        "notes",
        &[("add", "Adds."), ("drop", "Drops all."), ("find", "Finds.")],
    );
    let words = all.words("notes");
    let home = all.home.path();
    let servers = |more: Value| {
        let mut server = json!({ "command": words[0], "args": words[1..] });
        let members = server.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        json!({ "mcpServers": { "notes": server } }).to_string()
    };
    write(&home.join(".claude.json"), &servers(json!({})));
    write(
        &home.join(".gemini/settings.json"),
        &servers(json!({ "excludeTools": ["drop"] })),
    );
    write(&all.cursor(), &servers(json!({ "disabled": true })));
    let args: Vec<_> = words[1..]
        .iter()
        .map(|word| json!(word).to_string())
        .collect();
    let codex = format!(
        "[mcp_servers.notes]\ncommand = {}\nargs = [{}]\nenabled_tools = [\"find\", \"drop\"]\n",
        json!(words[0]),
        args.join(", ")
    );
    write(&home.join(".codex/config.toml"), &codex);
    all
}

fn said(all: &Scripted, words: &[&str]) -> String {
    let output = all.home.run(words).unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn tells_of_rules(told: &str) {
    for part in [
        "`gemini`",
        "all of its tools but `drop`",
        "`codex`",
        "only `find`, `drop`",
    ] {
        assert!(told.contains(part), "no {part} in {told}");
    }
}

#[test]
fn what_one_client_excludes_is_not_lost_where_several_have_the_server() {
    let all = of_four_clients();
    said(&all, &["sync", "notes"]);
    let every = ["notes__add", "notes__drop", "notes__find"];
    // Before an import, only clients that have it not themselves are shown it.
    assert_eq!(tools(&mut all.serve(&["--client", "zed"])), every);
    // Of one that does not say who it is, nobody knows that it is not Gemini or Codex.
    assert_eq!(tools(&mut all.serve(&[])), ["notes__find"]);
    tells_of_rules(&said(&all, &["list"]));
    tells_of_rules(&said(&all, &["doctor"]));

    let told = said(&all, &["import", "--replace", "--no-sync"]);
    tells_of_rules(&told);
    assert!(told.contains("`cursor` does not have it"), "{told}");
    let config = fs::read_to_string(all.home.config()).unwrap();
    assert!(!config.contains("from"), "{config}");
    let table: [(&str, &[&str]); 5] = [
        ("claude-code", &every),
        ("gemini", &["notes__add", "notes__find"]),
        ("codex", &["notes__drop", "notes__find"]),
        ("cursor", &[]),
        ("zed", &every),
    ];
    for (client, shown) in table {
        let mut host = all.serve(&["--client", client]);
        assert_eq!(tools(&mut host), shown, "{client}");
        // What is not listed is not to be called either.
        let call = json!({ "name": "notes__drop", "arguments": {} });
        let answer = host.outcome("tools/call", call).unwrap();
        let is_called = answer["result"]["isError"] == json!(false)
            || answer["result"]["content"][0]["text"] == json!("drop {}");
        assert_eq!(
            is_called,
            shown.contains(&"notes__drop"),
            "{client}: {answer}"
        );
        let listed = said(&all, &["tools", "--client", client]);
        for tool in every {
            assert_eq!(listed.contains(tool), shown.contains(&tool), "{listed}");
        }
    }
    tells_of_rules(&said(&all, &["list"]));
    tells_of_rules(&said(&all, &["doctor"]));
    // A second time, nothing is left to say.
    assert!(said(&all, &["import"]).contains("no servers"));
}

#[test]
fn a_client_that_is_taken_over_later_keeps_what_its_file_forbids() {
    let all = of_four_clients();
    said(&all, &["import", "claude-code", "--replace", "--no-sync"]);
    // Its user says something else of Gemini by hand, and that stays.
    for client in ["gemini", "codex", "cursor"] {
        said(&all, &["import", client, "--replace", "--no-sync"]);
    }
    said(&all, &["sync", "notes"]);
    let shown = |client: &str| tools(&mut all.serve(&["--client", client]));
    assert_eq!(shown("claude-code").len(), 3);
    assert_eq!(shown("gemini"), ["notes__add", "notes__find"]);
    assert_eq!(shown("codex"), ["notes__drop", "notes__find"]);
    assert_eq!(shown("cursor"), [""; 0]);
}

#[test]
fn what_one_client_has_off_and_another_on_stays_on_for_that_one() {
    let all = Scripted::new();
    all.offers("exa", &[("search", "Searches.")]);
    let words = all.words("exa");
    let home = all.home.path();
    for (file, disabled) in [
        (".cursor/mcp.json", true),
        (".codeium/windsurf/mcp_config.json", false),
    ] {
        let server = json!({ "command": words[0], "args": words[1..], "disabled": disabled });
        let file = home.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        write(
            &file,
            &json!({ "mcpServers": { "exa": server } }).to_string(),
        );
    }
    said(&all, &["sync", "exa"]);
    let told = said(&all, &["import", "--replace", "--no-sync"]);
    assert!(told.contains("`cursor` does not have it"), "{told}");
    assert_eq!(
        tools(&mut all.serve(&["--client", "windsurf"])),
        ["exa__search"]
    );
    assert_eq!(tools(&mut all.serve(&[])), ["exa__search"]);
    assert_eq!(tools(&mut all.serve(&["--client", "cursor"])), [""; 0]);
}

#[test]
fn rules_of_clients_are_keys_of_every_table() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds."), ("drop", "Drops all.")]);
    all.configure(&all.cursor(), &["notes"]);
    let rules = "clients = { zed = { exclude_tools = [\"drop\"] }, codex = { enabled = false } }\n";
    all.home.table("notes", rules).unwrap();
    said(&all, &["sync", "notes"]);
    assert_eq!(tools(&mut all.serve(&["--client", "zed"])), ["notes__add"]);
    assert_eq!(tools(&mut all.serve(&["--client", "codex"])), [""; 0]);
    assert_eq!(tools(&mut all.serve(&["--client", "amp"])).len(), 2);
    all.home
        .table(
            "wrong",
            "command = \"x\"\nclients = { emacs = {}, zed = { tool = 1 } }\n",
        )
        .unwrap();
    let output = all.home.run(&["doctor"]).unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        told.contains("`servers.wrong.clients.emacs` is about no client"),
        "{told}"
    );
    assert!(
        told.contains("`tool` is no key of `servers.wrong.clients.zed`"),
        "{told}"
    );
}
