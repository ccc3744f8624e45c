//! Servers as components.

use std::fs;

use serde_json::{Value, json};

use crate::scripted::{Scripted, tools};

#[test]
fn servers_become_components() {
    let all = Scripted::new();
    all.offers(
        "notes",
        &[("add", "Adds a note."), ("variable", "Tells one.")],
    );
    all.configure(&all.cursor(), &["notes"]);
    let file = all.home.path().join("notes.wasm").display().to_string();
    all.run(&["adapt", "notes", "-o", &file]);
    assert_eq!(all.starts("notes"), 1);
    let bytes = fs::read(&file).unwrap();
    let secret = b"hunter-two";
    let holds = bytes.windows(secret.len()).any(|part| part == secret);
    assert!(!holds, "the value of a variable is in the file");

    all.run(&["check", &file]);
    let inspected = all.home.json(&["inspect", &file, "--json"]).unwrap();
    assert!(
        inspected.to_string().contains("Adds a note."),
        "{inspected}"
    );
    let named: Vec<Value> = {
        let tools = inspected["declaration"]["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].clone()).collect()
    };
    assert_eq!(named, [json!("add"), json!("variable")]);

    // Nobody has said that it may start anything.
    fs::remove_file(all.cursor()).unwrap();
    all.run(&["add", "n2", &file]);
    let mut host = all.serve(&[]);
    assert_eq!(tools(&mut host), ["n2__add", "n2__variable"]);
    let refused = host.error("n2__add", json!({ "text": "a" })).unwrap();
    assert!(refused.contains("--grant-upstream"), "{refused}");
    assert!(refused.contains("`n2`"), "{refused}");
    assert_eq!(all.starts("notes"), 1);
    drop(host);

    let asked = all.fails(&["add", "n2", &file, "--grant-upstream", "--force"]);
    for part in ["scripted.py", "environment's SECRET", "--yes"] {
        assert!(asked.contains(part), "no `{part}` in {asked}");
    }
    all.run(&["add", "n2", &file, "--grant-upstream", "--force", "--yes"]);
    let mut command = all.home.command(&["serve"]);
    command.env("SECRET", "from-the-user");
    let mut host = dormouse_tests::Client::start(&mut command).unwrap();
    assert_eq!(tools(&mut host), ["n2__add", "n2__variable"]);
    let told = host.text("n2__add", json!({ "text": "a" })).unwrap();
    assert_eq!(told, r#"add {"text": "a"}"#);
    let told = host
        .text("n2__variable", json!({ "name": "SECRET" }))
        .unwrap();
    assert_eq!(told, "from-the-user");
    assert_eq!(all.starts("notes"), 2);
}
