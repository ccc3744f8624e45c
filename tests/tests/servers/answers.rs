//! Answers and progress of sound servers, as agents and users hear of them.

use serde_json::{Value, json};

use crate::scripted::Scripted;

fn tool(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" } })
}

/// An answer to a question of Dormouse's own that comes after it was given up is nobody's fault.
#[test]
fn a_late_answer_to_a_probe_is_not_blamed_on_its_server() {
    let all = Scripted::new();
    let offered = json!({ "tools": [tool("add")], "probe_seconds": 5.3, "list_seconds": 1 });
    all.offers_just("slow", &offered);
    all.own("slow", "");
    let said = all.run(&["sync", "slow", "-v"]);
    assert!(!said.contains("nobody has asked"), "{said}");
}

/// Members of results that came with the stateless era are not sent to clients of before.
#[test]
fn clients_with_a_handshake_get_no_members_of_the_stateless_era() {
    let all = Scripted::new();
    let info = json!({ "name": "scripted", "version": "1" });
    let result = json!({
        "content": [{ "type": "text", "text": "sum" }],
        "resultType": "complete", "ttlMs": 7, "cacheScope": "public",
        "_meta": { "io.modelcontextprotocol/serverInfo": info, "x": 1.5 },
    });
    let offered = json!({ "tools": [tool("add")], "results": { "add": result } });
    all.offers_just("notes", &offered);
    all.own("notes", "");
    all.run(&["sync", "notes"]);
    let mut host = all.serve(&[]);
    let answer = host.call("notes__add", json!({})).unwrap();
    let expected = json!({
        "content": [{ "type": "text", "text": "sum" }], "_meta": { "x": 1.5 }
    });
    assert_eq!(answer, expected);
}

/// The progress that Dormouse tells while it connects takes none of the server's away.
#[test]
fn a_first_call_hears_all_progress_of_its_server() {
    let all = Scripted::new();
    let offered = json!({ "tools": [tool("progress")], "start_seconds": 2 });
    all.offers_just("notes", &offered);
    all.own("notes", "");
    all.run(&["sync", "notes"]);
    let mut host = all.serve(&[]);
    let progress = [0.0, 0.25, 0.5, 1.0];
    let call = json!({
        "name": "notes__progress", "arguments": { "progress": progress },
        "_meta": { "progressToken": "token" }
    });
    host.request("tools/call", call).unwrap();
    let heard = host.notifications.iter();
    let heard = heard.filter(|message| message["method"] == "notifications/progress");
    let heard: Vec<_> = heard.map(|message| &message["params"]).collect();
    // What is being done before has a message; the server's have none.
    let own = heard.iter().filter(|one| one.get("message").is_none());
    assert_eq!(own.count(), progress.len(), "{heard:?}");
    for one in &heard {
        let number = one["progress"].to_string();
        assert!(number.len() < 10, "{heard:?}");
    }
    let numbers = heard.iter().map(|one| one["progress"].as_f64().unwrap());
    assert!(numbers.is_sorted(), "{heard:?}");
}
