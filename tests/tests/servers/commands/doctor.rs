//! Errors of servers that were found, and how to mend them.

use serde_json::{Value, json};

use crate::scripted::{Scripted, write};

/// Checks that `doctor` says this, with its verdict.
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

/// What was to deny a tool, and is written below the head of the settings, denies nothing.
#[test]
fn rules_among_settings_are_told_where_they_belong() {
    let all = Scripted::new();
    all.offers("post", &[("add", "Adds.")]);
    all.own("post", "[servers.post.settings]\ndeny = ['post__add']\n");
    let rows = all.home.json(&["doctor", "--json"]).unwrap();
    let told = [
        "servers post",
        "`settings` of `[servers.post]` has `deny`",
        "no plugin",
        "hint: write it into `[exposure]`",
    ];
    says(&rows, "warning", &told);
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

/// A program that has no processor for its start runs into its time limit.
#[cfg(unix)]
#[test]
fn programs_are_started_a_few_at_a_time() {
    const SERVERS: usize = 18;
    let all = Scripted::new();
    let running = all.home.path().join("running");
    std::fs::create_dir(&running).unwrap();
    let script = r#"touch "$1/$$"; ls "$1" | wc -l >> "$1.counts"; sleep 0.2; rm "$1/$$"
        shift; exec "$@""#;
    for number in 0..SERVERS {
        let name = format!("s{number}");
        all.offers(&name, &[("add", "Adds.")]);
        let mut words = ["sh", "-c", script, "sh"].map(str::to_owned).to_vec();
        words.push(running.display().to_string());
        words.extend(all.words(&name));
        let table = format!("command = {}\n", json!(words));
        all.home.table(&name, &table).unwrap();
    }
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    for words in [&["sync"][..], &["doctor", "--connect"]] {
        all.run(words);
        let counts = running.with_extension("counts");
        let text = std::fs::read_to_string(&counts).unwrap();
        let counted: Vec<usize> = text
            .lines()
            .map(|line| line.trim().parse().unwrap())
            .collect();
        assert_eq!(counted.len(), SERVERS, "{words:?}");
        let most = counted.into_iter().max().unwrap();
        assert!(most <= processors.clamp(2, 16), "{words:?}: {most} at once");
        std::fs::remove_file(counts).unwrap();
    }
}
