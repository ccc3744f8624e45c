//! What becomes of the entries of single servers, and what is said of it.

use std::fs;

use dormouse_tests::{Client, Home, artifacts};
use serde_json::{Value, json};

use crate::{read, run, said, write};

const CURSOR: &str = ".cursor/mcp.json";

/// A home whose servers are one of a client's file and one that is added.
fn home_with_servers() -> Home {
    let home = Home::new().unwrap();
    let echo = artifacts::guest("echo").unwrap();
    home.server("first", &echo).unwrap();
    let found = json!({ "mcpServers": { "found": { "command": "true" } } });
    write(&home.path().join(".claude.json"), &found.to_string());
    home
}

fn entries(home: &Home) -> Value {
    let root: Value = serde_json::from_str(&read(home, CURSOR)).unwrap();
    root["mcpServers"].clone()
}

/// Writes a member into an entry, as its user does.
fn add_to(home: &Home, name: &str, key: &str, value: &Value) {
    let mut all = entries(home);
    all[name][key] = value.clone();
    let text = json!({ "mcpServers": all }).to_string();
    write(&home.path().join(CURSOR), &text);
}

const EACH: [&str; 4] = ["install", "cursor", "--each", "--no-sync"];

#[test]
fn an_entry_goes_only_where_all_that_servers_are_written_in_is_read() {
    let home = home_with_servers();
    run(&home, &EACH);
    add_to(&home, "found", "env", &json!({ "TOKEN": "mine" }));
    add_to(&home, "first", "disabled", &json!(true));
    let before = entries(&home);
    let config = fs::read_to_string(home.config()).unwrap();
    let claude = read(&home, ".claude.json");
    for (file, text, named) in [
        (
            home.path().join(".claude.json"),
            "{\"mcpServers\": {",
            ".claude.json",
        ),
        (home.config(), "\n", "has nothing in it"),
    ] {
        write(&file, text);
        let told = run(&home, &EACH);
        assert_eq!(entries(&home), before, "{told}");
        assert!(
            told.contains(named) && told.contains("would go, and stays"),
            "{told}"
        );
        write(&home.config(), &config);
        write(&home.path().join(".claude.json"), &claude);
    }
    let told = run(&home, &EACH);
    assert!(
        told.contains("`first` in") && told.contains("stays switched off"),
        "{told}"
    );
    assert_eq!(entries(&home), before);
    write(&home.path().join(".claude.json"), "{}");
    let told = run(&home, &EACH);
    assert!(
        told.contains("the entry `found` of Dormouse's goes from"),
        "{told}"
    );
    assert!(told.contains("with its `env`"), "{told}");
    assert!(entries(&home).get("found").is_none(), "{}", entries(&home));
}

/// A name that commands would take for an option is refused, and the others have their entries.
#[test]
fn a_server_whose_name_looks_like_an_option_has_no_entry() {
    let home = Home::new().unwrap();
    let echo = artifacts::guest("echo").unwrap();
    let tables = ["-lead", "a-dash"]
        .map(|name| format!("[servers.\"{name}\"]\ncomponent = {}\n\n", json!(echo)));
    write(&home.config(), &tables.concat());
    let told = run(&home, &EACH);
    assert!(told.contains("`-lead`"), "{told}");
    assert!(entries(&home).get("-lead").is_none(), "{}", entries(&home));
    let words = entries(&home)["a-dash"]["args"].clone();
    let words: Vec<String> = serde_json::from_value(words).unwrap();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let words: Vec<_> = words
        .into_iter()
        .skip_while(|word| *word != "serve")
        .collect();
    let mut client = Client::start(&mut home.command(&words)).unwrap();
    assert_eq!(client.text("echo", json!({ "text": "x" })).unwrap(), "x");
}

#[test]
fn what_was_added_to_an_entry_stays_when_it_is_undone() {
    let home = home_with_servers();
    run(&home, &EACH);
    add_to(&home, "first", "env", &json!({ "TOKEN": "mine" }));
    let output = home.run(&["import", "--undo"]).unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(
        said(&output).contains("but not `first`"),
        "{}",
        said(&output)
    );
    let now = entries(&home);
    assert_eq!(now["first"]["env"], json!({ "TOKEN": "mine" }));
    assert!(now.get("found").is_none(), "{now}");
}

#[test]
fn an_import_puts_one_entry_in_place_of_those_of_single_servers() {
    let home = home_with_servers();
    let own = json!({ "mcpServers": { "own": { "command": "false" } } });
    write(&home.path().join(CURSOR), &own.to_string());
    run(&home, &EACH);
    let told = run(&home, &["import", "cursor", "--replace", "--no-sync"]);
    for name in ["first", "found"] {
        let gone = format!("the entry `{name}` of Dormouse's goes from");
        assert!(told.contains(&gone), "{told}");
    }
    let now = entries(&home);
    let names: Vec<_> = now.as_object().unwrap().keys().collect();
    assert_eq!(names, ["dormouse"]);
    run(&home, &["uninstall", "cursor"]);
    assert_eq!(entries(&home), own["mcpServers"]);
}

#[test]
fn a_file_that_cannot_be_read_is_not_one_without_servers() {
    let home = Home::new().unwrap();
    write(&home.path().join(CURSOR), "{\"mcpServers\": {");
    let output = home.run(&["import", "cursor", "--replace"]).unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let told = said(&output);
    let error = told
        .lines()
        .find(|line| line.starts_with("error: "))
        .unwrap();
    assert!(error.contains("mcp.json`"), "{told}");
    assert!(
        !told.contains("no servers that could be taken over"),
        "{told}"
    );
    let doctor = said(&home.run(&["doctor"]).unwrap());
    let rows: Vec<_> = doctor
        .lines()
        .filter(|line| line.contains(CURSOR))
        .collect();
    assert!(!rows.is_empty(), "{doctor}");
    assert!(
        !rows.iter().any(|row| row.contains("0 servers")),
        "{doctor}"
    );
}

#[test]
fn the_address_of_a_host_is_read_as_the_host_reads_it() {
    let home = Home::new().unwrap();
    let install = |words: &[&str]| {
        let output = home.run(&[&["install", "cursor"], words].concat()).unwrap();
        (output.status.code(), said(&output))
    };
    let (code, told) = install(&["--http", "localhost:8137", "--dry-run"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("http://127.0.0.1:8137/mcp"), "{told}");
    let (code, told) = install(&["--http", "localhost:0", "--dry-run"]);
    assert_eq!(code, Some(2), "{told}");
    let (code, told) = install(&["--undo"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("`dormouse uninstall cursor`"), "{told}");
    assert!(told.contains("`dormouse import --undo`"), "{told}");
    for (wrong, hidden) in [("ad", "read-component"), ("exprt", "reaper")] {
        let output = home.run(&[wrong]).unwrap();
        assert_eq!(output.status.code(), Some(2));
        let told = said(&output);
        assert!(
            told.contains("similar subcommands") && !told.contains(hidden),
            "{told}"
        );
    }
}
