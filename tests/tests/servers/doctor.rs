//! What is wrong with what was found, and how to mend it.

use serde_json::{Value, json};

use crate::scripted::{Scripted, write};

/// What `doctor` says about something, with its verdict.
#[track_caller]
fn says(rows: &Value, verdict: &str, parts: &[&str]) {
    let rows = rows.as_array().unwrap();
    let found = rows.iter().any(|row| {
        let text = format!("{} {}", row["about"], row["message"].as_str().unwrap());
        row["verdict"] == verdict && parts.iter().all(|part| text.contains(part))
    });
    assert!(found, "no {verdict} with {parts:?} in {rows:#?}");
}

#[test]
fn sources_are_told() {
    let all = Scripted::new();
    for name in ["notes", "post"] {
        all.offers(name, &[("add", "Adds.")]);
    }
    all.configure(&all.cursor(), &["notes", "post"]);
    // One of the same name, that is something else.
    let zed = json!({ "context_servers": { "notes": {
        "command": "/no/such/program", "args": [], "env": { "KEY": "hunter-two" }
    }, "lost": { "command": "/no/such/program", "args": [] },
    "far": { "url": "https://127.0.0.1:9/mcp", "headers": { "Authorization": "hunter-four" } } } });
    write(
        &all.home.path().join("config/zed/settings.json"),
        &zed.to_string(),
    );
    write(
        &all.home.path().join(".gemini/settings.json"),
        "{\n  \"mcpServers\": {\n    oops\n  }\n}\n",
    );

    let rows = all.home.json(&["doctor", "--json"]).unwrap();
    says(&rows, "ok", &["cursor", ".cursor/mcp.json", "2 servers"]);
    says(&rows, "ok", &["zed", "settings.json", "3 servers"]);
    says(
        &rows,
        "ok",
        &["overridden", "`notes`", ".cursor/mcp.json", "zed"],
    );
    says(&rows, "warning", &["gemini", ".gemini/settings.json:3:5"]);
    says(
        &rows,
        "warning",
        &["server lost", "`/no/such/program`", "hint: "],
    );
    let text = all.run(&["doctor"]);
    for said in [rows.to_string(), text] {
        assert!(!said.contains("hunter"), "{said}");
    }
    assert_eq!(all.starts("notes") + all.starts("post"), 0);
}

#[test]
fn connecting_is_tried_where_asked_for() {
    let all = Scripted::new();
    for name in ["notes", "post"] {
        all.offers(name, &[("add", "Adds."), ("find", "Finds.")]);
    }
    all.configure(&all.cursor(), &["notes"]);
    let rows = all.home.json(&["doctor", "--connect", "--json"]).unwrap();
    says(&rows, "ok", &["server notes", "connected: 2 tools"]);
    assert_eq!(all.starts("notes"), 1);

    all.home
        .table("lost", "command = [\"/no/such/program\"]\n")
        .unwrap();
    let said = all.fails(&["doctor", "--connect"]);
    assert!(said.contains("not connected"), "{said}");
    assert!(said.contains("connected: 2 tools"), "{said}");
    assert!(!said.contains("hunter"), "{said}");
}
