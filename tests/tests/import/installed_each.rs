//! Entries of single servers in a client's file: `dormouse install CLIENT --each`.

use std::fs;

use dormouse_tests::{Client, Home, artifacts};
use serde_json::json;

use crate::{files, home, read, run, write};

/// Clients, each with its file.
const CLIENTS: [(&str, &str); 13] = [
    ("claude-code", ".claude.json"),
    ("copilot", ".copilot/mcp-config.json"),
    ("vscode", "config/Code/User/mcp.json"),
    ("cursor", ".cursor/mcp.json"),
    ("opencode", "config/opencode/opencode.json"),
    ("codex", ".codex/config.toml"),
    ("gemini", ".gemini/settings.json"),
    ("zed", "config/zed/settings.json"),
    ("windsurf", ".codeium/windsurf/mcp_config.json"),
    ("continue", ".continue/config.yaml"),
    ("amp", "config/amp/settings.json"),
    ("forge", "forge/.mcp.json"),
    ("goose", "config/goose/config.yaml"),
];

fn add(home: &Home, name: &str) {
    home.server(name, &artifacts::guest("echo").unwrap())
        .unwrap();
}

/// Whether a file has the entry of a server, whatever its language.
fn is_entry_of(text: &str, server: &str) -> bool {
    let is_word = |c: &char| !c.is_whitespace() && !matches!(c, '"' | ',');
    let text: String = text.chars().filter(is_word).collect();
    let listed = format!("--server={server}--own-names");
    let yaml = format!("---server={server}---own-names");
    text.contains(&listed) || text.contains(&yaml)
}

#[test]
fn each_server_has_an_entry_of_its_own_in_every_clients_file() {
    for (client, file) in CLIENTS {
        let home = home();
        add(&home, "first");
        let before = files(&home);
        let each = ["install", client, "--each"];
        let dry = run(&home, &[&each[..], &["--dry-run"]].concat());
        assert!(dry.contains("--own-names"), "{client}: {dry}");
        assert_eq!(files(&home), before, "{client}");
        let each = [&each[..], &["--no-sync"]].concat();
        let said = run(&home, &each);
        assert!(said.contains("`first`"), "{client}: {said}");
        let one = read(&home, file);
        assert!(is_entry_of(&one, "first"), "{client}: {one}");
        let said = run(&home, &each);
        assert!(said.contains("already"), "{client}: {said}");
        assert_eq!(read(&home, file), one, "{client}");

        // What is added later comes by another run, and what is off goes.
        add(&home, "second");
        run(&home, &each);
        let two = read(&home, file);
        for server in ["first", "second"] {
            assert!(is_entry_of(&two, server), "{client}: {two}");
        }
        run(&home, &["import", "--undo"]);
        assert_eq!(read(&home, file), one, "{client}");
        run(&home, &each);
        assert_eq!(read(&home, file), two, "{client}");
        run(&home, &["disable", "first"]);
        run(&home, &each);
        let other = read(&home, file);
        assert!(!is_entry_of(&other, "first") && is_entry_of(&other, "second"));
        run(&home, &["uninstall", client]);
        let path = home.path().join(file);
        assert_eq!(
            fs::read_to_string(&path).ok(),
            before.get(&path).cloned(),
            "{client}"
        );
    }
}

/// What has been written into the file meanwhile stays when an entry goes.
#[test]
fn what_its_user_has_written_since_stays() {
    let home = home();
    add(&home, "first");
    run(&home, &["install", "codex", "--each", "--no-sync"]);
    let file = home.path().join(".codex/config.toml");
    let edited = format!("{}# mine\n", fs::read_to_string(&file).unwrap());
    for words in [&["import", "--undo"][..], &["uninstall", "codex"]] {
        fs::write(&file, &edited).unwrap();
        run(&home, words);
        let left = fs::read_to_string(&file).unwrap();
        assert!(left.ends_with("# mine\n"), "{left}");
        assert!(!left.contains("--own-names"), "{left}");
        assert!(left.contains("[mcp_servers.github]"), "{left}");
    }
}

/// A server of its user's keeps its name and its entry, and the others have theirs all the same.
#[test]
fn an_entry_that_is_there_is_not_overwritten() {
    let home = Home::new().unwrap();
    let own = r#"{ "mcpServers": { "second": { "command": "mine", "args": [] } } }"#;
    write(&home.path().join(".cursor/mcp.json"), own);
    let long = "a".repeat(41);
    for name in ["first", "second", &long] {
        add(&home, name);
    }
    let said = run(&home, &["install", "cursor", "--each", "--no-sync"]);
    assert!(
        said.contains("`second` has no entry of its own: a server of that name is in"),
        "{said}"
    );
    assert!(said.contains("more than 40 characters"), "{said}");
    let text = read(&home, ".cursor/mcp.json");
    assert!(
        text.contains(r#""second": { "command": "mine", "args": [] }"#),
        "{text}"
    );
    assert!(
        is_entry_of(&text, "first") && !text.contains(&long),
        "{text}"
    );
    // A name that the client has for itself.
    add(&home, "workspace");
    let said = run(&home, &["install", "claude-code", "--each", "--no-sync"]);
    assert!(said.contains("`workspace` has no entry"), "{said}");
    let text = read(&home, ".claude.json");
    assert!(
        is_entry_of(&text, &long) && !text.contains("workspace"),
        "{text}"
    );
}

/// One entry for all, and an entry for each, are not in a file at the same time.
#[test]
fn one_entry_for_all_and_entries_for_each_replace_one_another() {
    let home = Home::new().unwrap();
    add(&home, "first");
    for (client, file) in CLIENTS {
        run(&home, &["install", client, "--no-sync"]);
        let whole = read(&home, file);
        run(&home, &["install", client, "--each", "--no-sync"]);
        let each = read(&home, file);
        assert!(is_entry_of(&each, "first"), "{client}: {each}");
        assert!(!each.contains("name: dormouse") && !each.contains("\"dormouse\": {"));
        run(&home, &["install", client, "--no-sync"]);
        let again = read(&home, file);
        assert!(!is_entry_of(&again, "first"), "{client}: {again}");
        assert_eq!(
            again.matches("serve").count(),
            whole.matches("serve").count()
        );
    }
}

/// Starts what the entry of a server in Cursor's file starts.
fn started_by_entry(home: &Home, server: &str) -> Client {
    let text = read(home, ".cursor/mcp.json");
    let entries: serde_json::Value = serde_json::from_str(&text).unwrap();
    let words = entries["mcpServers"][server]["args"].as_array().unwrap();
    let words = words.iter().map(|word| word.as_str().unwrap());
    let words: Vec<_> = words.skip_while(|word| *word != "serve").collect();
    Client::start(&mut home.command(&words)).unwrap()
}

/// A rule has a name as its user was shown it; the client of the entry is shown another.
#[test]
fn what_is_denied_by_a_shown_name_is_denied_by_an_entry_with_own_names() {
    for (prefix, denied) in [
        ("prefix = 'x'", "x__echo"),
        ("prefix = 'x'", "x__ech*"),
        ("prefix = 'x'", "second__echo"),
        ("", "second__echo"),
    ] {
        let home = Home::new().unwrap();
        let echo = artifacts::guest("echo").unwrap();
        home.server_with("second", &echo, prefix).unwrap();
        run(&home, &["install", "cursor", "--each", "--no-sync"]);
        let servers = fs::read_to_string(home.config()).unwrap();
        let text = format!("exposure.deny = ['{denied}']\n{servers}");
        fs::write(home.config(), text).unwrap();
        let mut client = started_by_entry(&home, "second");
        let tools = json!(client.tools().unwrap());
        let tools = tools.as_array().unwrap();
        assert!(tools.iter().any(|tool| tool["name"] == "add"), "{tools:?}");
        assert!(
            !tools.iter().any(|tool| tool["name"] == "echo"),
            "{denied}: {tools:?}"
        );
        let called = client.text("echo", json!({ "text": "x" }));
        assert!(called.is_err(), "{denied}: {called:?}");
    }
}

/// The client puts the server's name before those of the tools: they have it once.
#[test]
fn an_entry_serves_its_server_by_the_tools_own_names() {
    let home = Home::new().unwrap();
    for name in ["first", "second"] {
        add(&home, name);
    }
    run(&home, &["install", "cursor", "--each", "--no-sync"]);
    let mut client = started_by_entry(&home, "second");
    let tools = json!(client.tools().unwrap());
    let names: Vec<_> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert!(names.contains(&&json!("echo")), "{names:?}");
    assert!(!tools.to_string().contains("first"), "{tools}");
    assert_eq!(client.text("echo", json!({ "text": "x" })).unwrap(), "x");
}
