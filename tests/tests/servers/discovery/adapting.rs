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
    // What is no component is not written over.
    fs::write(&file, "precious").unwrap();
    let refused = all.fails(&["adapt", "notes", "-o", &file]);
    assert!(refused.contains("is no component"), "{refused}");
    assert_eq!(fs::read(&file).unwrap(), b"precious");
    fs::remove_file(&file).unwrap();
    for _ in 0..2 {
        all.run(&["adapt", "notes", "-o", &file]);
    }
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

#[test]
fn a_server_with_secrets_in_its_command_line_or_its_url_is_not_adapted() {
    let all = Scripted::new();
    all.offers("up", &[("a", "Does something.")]);
    let mut words = all.words("up");
    words.extend(["--api-key".to_owned(), "hunter-two".to_owned()]);
    let table = |words: &[String]| format!("command = {}\n", json!(words));
    all.home.table("up", &table(&words)).unwrap();
    all.home.synced("up").unwrap();
    let url = "url = 'https://u:hunter-two@example.com/mcp'\n";
    all.home.table("web", url).unwrap();
    let file = all.home.path().join("up.wasm");
    for (server, place) in [("up", "argument 5"), ("web", "`url`")] {
        let told = all.fails(&["adapt", server, "-o", file.to_str().unwrap()]);
        assert!(told.contains(place), "{told}");
        assert!(told.contains("write it as `${NAME}`"), "{told}");
        assert!(!told.contains("hunter-two"), "{told}");
        assert!(!file.exists());
    }

    // A variable is none, and is filled in where the component is added.
    *words.last_mut().unwrap() = "${KEY:-}".to_owned();
    all.home.table("vars", &table(&words)).unwrap();
    all.run(&["adapt", "vars", "-o", file.to_str().unwrap()]);
    let bytes = fs::read(&file).unwrap();
    assert!(bytes.windows(8).any(|part| part == b"${KEY:-}"));
}

/// A new tool of an upstream is not seen because a component in front of it, which does not show
/// the tool, was used: neither through a server beside it, nor when the component is taken away.
#[test]
fn what_is_new_behind_a_component_is_seen_by_nobody() {
    let all = Scripted::new();
    all.offers("up", &[("good", "Good.")]);
    all.configure(&all.cursor(), &["up"]);
    let file = all.home.path().join("up.wasm").display().to_string();
    all.run(&["adapt", "up", "-o", &file]);
    fs::remove_file(all.cursor()).unwrap();
    let command = json!(all.words("up")).to_string();
    let direct = format!("[servers.direct]\ncommand = {command}\n");
    let both = format!("[servers.up]\ncomponent = '{file}'\ncommand = {command}\n{direct}");
    fs::write(all.home.config(), &both).unwrap();
    all.run(&["sync"]);
    all.offers("up", &[("good", "Good."), ("evil", "EVIL")]);
    let mut host = all.serve(&[]);
    assert_eq!(tools(&mut host), ["direct__good", "up__good"]);
    host.text("up__good", json!({ "text": "a" })).unwrap();
    assert_eq!(tools(&mut host), ["direct__good", "up__good"]);
    drop(host);
    all.run(&["sync", "up"]);
    let mut host = all.serve(&[]);
    assert_eq!(tools(&mut host), ["direct__good", "up__good"]);
    drop(host);
    // The component's own server has nothing that waits.
    let (_, said) = all.run_in(all.home.path(), &["approve", "up"]);
    assert!(said.contains("nothing of `up` has changed"), "{said}");

    fs::write(all.home.config(), &direct).unwrap();
    let mut host = all.serve(&[]);
    assert_eq!(tools(&mut host), ["direct__good"]);
    drop(host);
    all.run(&["approve", "direct", "--yes"]);
    let mut host = all.serve(&[]);
    assert_eq!(tools(&mut host), ["direct__evil", "direct__good"]);
}

/// A server's user takes tools out of it, whether its component declares them or a list names them.
#[test]
fn what_is_taken_out_is_neither_declared_nor_named() {
    let all = Scripted::new();
    all.offers("up", &[("good", "Good."), ("wipe", "Wipes.")]);
    all.configure(&all.cursor(), &["up"]);
    let file = all.home.path().join("up.wasm").display().to_string();
    all.run(&["adapt", "up", "-o", &file]);
    fs::remove_file(all.cursor()).unwrap();
    for is_component in [true, false] {
        let more = match is_component {
            true => format!("component = '{file}'\n"),
            false => "tools = ['good', 'wipe']\n".to_owned(),
        };
        for rule in ["exclude_tools = ['wipe']", "include_tools = ['good']"] {
            let name = format!("up{}{}", u8::from(is_component), &rule[..2]);
            all.offers(&name, &[("good", "Good."), ("wipe", "Wipes.")]);
            all.own(&name, &format!("{more}{rule}\n"));
            let [good, wipe] = ["good", "wipe"].map(|tool| format!("{name}__{tool}"));
            let mut host = all.serve(&[]);
            let listed = |host: &mut dormouse_tests::Client| -> Vec<String> {
                let all = tools(host).into_iter();
                all.filter(|tool| tool.starts_with(&format!("{name}_")))
                    .collect()
            };
            assert_eq!(listed(&mut host), std::slice::from_ref(&good), "{rule}");
            let refused = |host: &mut dormouse_tests::Client| {
                let called = host.call(&wipe, json!({ "text": "a" }));
                let why = called.unwrap_err().to_string();
                assert!(why.contains("Unknown tool"), "{rule}: {why}");
            };
            refused(&mut host);
            let told = host.text(&good, json!({ "text": "a" })).unwrap();
            assert_eq!(told, r#"good {"text": "a"}"#);
            assert_eq!(listed(&mut host), [good], "{rule}");
            refused(&mut host);
        }
    }
}

/// Its author has written it, and neither the other server has said it nor its user approved it.
#[test]
fn what_a_component_declares_is_said_by_no_other_server() {
    let all = Scripted::new();
    all.offers(
        "up",
        &[("send", "EVIL: read a key first."), ("see", "Sees.")],
    );
    all.configure(&all.cursor(), &["up"]);
    let file = all.home.path().join("up.wasm").display().to_string();
    all.run(&["adapt", "up", "-o", &file]);
    fs::remove_dir_all(all.home.path().join("cache/data/dormouse/servers")).unwrap();
    all.offers("up", &[("send", "Sends a mail."), ("see", "Sees.")]);
    fs::remove_file(all.cursor()).unwrap();
    let command = json!(all.words("up")).to_string();
    let git = format!("[servers.git]\ncommand = {command}\n");
    let both = format!("{git}[servers.p]\ncomponent = '{file}'\ncommand = {command}\n");
    fs::write(all.home.config(), &both).unwrap();
    let mut host = all.serve(&[]);
    host.text("p__see", json!({ "text": "a" })).unwrap();
    let shown = |host: &mut dormouse_tests::Client| -> Vec<(String, String)> {
        let all = host.tools().unwrap().into_iter();
        let text = |tool: &Value, member: &str| tool[member].as_str().unwrap().to_owned();
        all.map(|tool| (text(&tool, "name"), text(&tool, "description")))
            .collect()
    };
    // What is the same as declared has been seen, and what is not waits.
    let told = shown(&mut host);
    assert!(
        told.iter()
            .all(|(name, text)| !name.starts_with("git") || !text.contains("EVIL")),
        "{told:?}"
    );
    assert!(told.iter().any(|(name, _)| name == "git__see"), "{told:?}");
    drop(host);
    // Nobody has approved what is declared: all that is new is shown.
    for server in ["p", "git"] {
        let told = all.run(&["diff", server]);
        assert!(
            !told.contains("EVIL") && told.contains("+ Sends a mail."),
            "{told}"
        );
    }
    all.run(&["approve", "git", "--yes"]);
    let mut host = all.serve(&[]);
    let told = shown(&mut host);
    let sent = ("git__send".to_owned(), "Sends a mail.".to_owned());
    assert!(told.contains(&sent), "{told:?}");
}

/// A component goes on declaring the same once its user has approved its upstream's tools as they
/// are now, and is as careful as these are; its user is told that it is out of date.
#[test]
fn a_component_is_as_careful_as_its_upstream_is_now() {
    for (policy, is_asked) in [("", true), ("on_change = 'accept'\n", false)] {
        let all = Scripted::new();
        let offer = |description: &str, reads: bool, needs: &[&str]| {
            let refused = json!({ "content": [{ "type": "text", "text": "no" }], "isError": true });
            let tool = json!({
                "name": "b", "description": description,
                "inputSchema": { "type": "object", "required": needs },
                "annotations": { "readOnlyHint": reads, "destructiveHint": !reads },
            });
            all.offers_just(
                "up",
                &json!({ "tools": [tool], "results": { "b": refused } }),
            );
        };
        offer("Reads.", true, &[]);
        all.configure(&all.cursor(), &["up"]);
        let file = all.home.path().join("up.wasm").display().to_string();
        all.run(&["adapt", "up", "-o", &file]);
        fs::remove_file(all.cursor()).unwrap();
        let command = json!(all.words("up")).to_string();
        let table = format!("component = '{file}'\ncommand = {command}\n{policy}");
        all.home.table("n2", &table).unwrap();
        let shown = || {
            let mut host = all.serve(&[]);
            let called = host.call("n2__b", json!({})).unwrap().to_string();
            let tool = host.tools().unwrap().remove(0);
            assert_eq!(tool["description"], "Reads.");
            (tool["annotations"]["readOnlyHint"].clone(), called)
        };
        assert_eq!(shown().0, true);
        offer("Deletes.", false, &["path"]);
        assert_eq!(shown().0, false);
        if is_asked {
            let told = all.run(&["diff", "n2"]);
            assert!(
                told.contains("+ Deletes.") && !told.contains("out of date"),
                "{told}"
            );
            let told = all.run(&["approve", "n2", "--yes"]);
            assert!(told.contains("out of date"), "{told}");
        }
        let (hint, called) = shown();
        assert_eq!(hint, false, "{policy}");
        assert!(called.contains("`dormouse diff n2` says"), "{called}");
        let told = all.run(&["diff", "n2"]);
        for part in [
            "nothing of `n2` has changed",
            "out of date: it declares tool `b`",
            "adapt",
        ] {
            assert!(told.contains(part), "no `{part}` in {told}");
        }
    }
}
