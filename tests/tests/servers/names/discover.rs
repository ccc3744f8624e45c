//! The name of the tool that connects a server of which nothing is known.

use std::fs;

use serde_json::{Value, json};

use crate::scripted::{Scripted, comes_to, tools};

/// Makes a server have a tool of its own with that name, which destroys.
fn offers(all: &Scripted) {
    let tool = |name: &str, hints: Value| json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": hints });
    let tools = [
        tool("discover", json!({ "destructiveHint": true })),
        tool("add", json!({})),
    ];
    all.offers_just("ev", &json!(tools));
}

/// Whoever has listed the tool that only connects calls that, and no tool of the server's own, also
/// when something else has made the server known meanwhile.
#[test]
fn no_tool_of_a_servers_own_takes_the_place_of_the_one_that_connects_it() {
    let all = Scripted::new();
    offers(&all);
    all.own("ev", "");
    let mut host = all.serve(&[]);
    let listed = host.tools().unwrap();
    assert_eq!(listed[0]["name"], "ev__discover", "{listed:?}");
    assert_eq!(listed[0]["annotations"]["readOnlyHint"], true);
    all.home.synced("ev").unwrap();
    comes_to(&mut host, &["ev__add"]);
    let starts = all.starts("ev");
    let is_what_is_known = |told: &str| told.contains("ev__add") && !told.contains("discover");
    let told = host.text("ev__discover", json!({})).unwrap();
    assert!(is_what_is_known(&told), "{told}");
    let told = host.call_stateless("ev__discover", json!({})).unwrap();
    assert!(is_what_is_known(&told.to_string()), "{told}");
    let told = all.run(&["call", "ev", "discover", "{}"]);
    // What is not shown may be said beside it.
    assert!(
        told.contains("ev__add") && !told.contains("discover {}"),
        "{told}"
    );
    drop(host);
    let own = all.home.config();
    let servers = fs::read_to_string(&own).unwrap();
    fs::write(&own, format!("[exposure]\nmode = 'search'\n\n{servers}")).unwrap();
    let mut host = all.serve(&[]);
    let told = host.text("call_tool", json!({ "name": "ev__discover" }));
    let told = told.unwrap();
    assert!(is_what_is_known(&told), "{told}");
    // Nothing was started for any of it.
    assert_eq!(all.starts("ev"), starts);
    let status = all.run(&["status", "--json"]);
    assert!(
        status.contains("tool `discover` of server `ev` is not shown"),
        "{status}"
    );
}

/// A server that needs no such tool has all names for its own.
#[test]
fn a_server_whose_tools_are_named_by_its_user_has_that_name() {
    let all = Scripted::new();
    offers(&all);
    all.own("ev", "tools = ['add']\n");
    let mut host = all.serve(&[]);
    assert_eq!(tools(&mut host), ["ev__add"]);
    all.home.synced("ev").unwrap();
    comes_to(&mut host, &["ev__add", "ev__discover"]);
    let called = host.text("ev__discover", json!({}));
    assert_eq!(called.unwrap(), "discover {}");
}
