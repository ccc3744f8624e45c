//! The name of the tool that connects a server of which nothing is known.

use std::fs;

use dormouse_tests::http::{Request, Server};
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

/// Calls the tool that connects a server at a path of a host. Returns the whole answer.
fn discovered_at(server: &Server, path: &str) -> Value {
    let params = json!({ "name": "ev__discover", "arguments": {} });
    let call = Request::stateless(1, "tools/call", params).at(path);
    let mut messages = server.ask(&call).unwrap().messages().unwrap();
    messages.pop().unwrap()
}

/// What rules hide is not told by the tool that connects a server, neither when that is connected nor
/// later; and where the rules of an agent's profile hide that tool itself, it is not there.
#[test]
fn what_rules_hide_is_not_told_by_the_tool_that_connects_a_server() {
    let all = Scripted::new();
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let offered = json!({
        "tools": [tool("add"), tool("delete_all"), tool("settle")],
        "instructions": "Ask before all of them.",
    });
    all.offers_just("ev", &offered);
    all.own("ev", "");
    let own = all.home.config();
    let servers = fs::read_to_string(&own).unwrap();
    let rules = "[exposure]\ndeny = ['ev__delete_all']\n\n\
                 [profiles.some]\ntools = ['ev__add', 'ev__discover']\n\n\
                 [profiles.none]\ntools = ['ev__discover']\n\n\
                 [profiles.without]\ntools = ['ev__add']\n\n";
    fs::write(&own, format!("{rules}{servers}")).unwrap();
    let server = all.home.serve_http(&[]).unwrap();
    // The first call connects the server, and the others do not.
    for (path, names, has_instructions) in [
        ("/mcp/p/some", &["add"][..], true),
        ("/mcp/p/some", &["add"], true),
        ("/mcp/p/none", &[], false),
        ("/mcp", &["add", "settle"], true),
    ] {
        let answer = discovered_at(&server, path);
        let told = answer["result"]["content"][0]["text"].as_str();
        let told = told.unwrap_or_else(|| panic!("{path}: {answer}"));
        let count = format!("has {} tools", names.len());
        assert!(told.contains(&count), "{path}: {told}");
        for name in ["add", "delete_all", "settle"] {
            let is_told = told.contains(&format!("ev__{name}("));
            assert_eq!(is_told, names.contains(&name), "{path} {name}: {told}");
        }
        let is_told = told.contains("Ask before");
        assert_eq!(is_told, has_instructions, "{path}: {told}");
    }
    let answer = discovered_at(&server, "/mcp/p/without");
    assert!(answer["error"].is_object(), "{answer}");
    assert!(!answer.to_string().contains("settle"), "{answer}");
    assert_eq!(all.starts("ev"), 1);
    drop(server);
    // The same of a whole host that a profile is served by, and of one that denies the tool itself.
    let mut host = all.serve(&["--profile", "some"]);
    let told = host.text("ev__discover", json!({})).unwrap();
    assert!(
        told.contains("ev__add(") && !told.contains("settle") && !told.contains("delete_all"),
        "{told}"
    );
    drop(host);
    let rules = "[exposure]\ndeny = ['ev__discover']\n\n";
    fs::write(&own, format!("{rules}{servers}")).unwrap();
    let mut host = all.serve(&[]);
    let call = json!({ "name": "ev__discover", "arguments": {} });
    let refused = host.request("tools/call", call).unwrap_err().to_string();
    assert!(!refused.contains("ev__settle("), "{refused}");
    assert_eq!(tools(&mut host).len(), 3);
}

/// Whoever has lost a name to the tool that connects another server is told which server that is, and
/// what gives the name back.
#[test]
fn the_server_that_keeps_a_name_from_others_is_named() {
    let all = Scripted::new();
    all.offers("a", &[("x", "Is there.")]);
    all.offers("b", &[("discover", "Discovers.")]);
    all.own("a", "prefix = ''\n");
    all.own("b", "prefix = ''\ntools = ['discover']\n");
    for server in ["a", "b"] {
        all.home.synced(server).unwrap();
    }
    let status = all.run(&["status", "--json"]);
    for told in [
        "tool `discover` of server `b` is not shown",
        "connects server `a` while",
        "hint: server `a` needs none if `tools` of its table",
    ] {
        assert!(status.contains(told), "{told}: {status}");
    }
    let own = all.home.config();
    let servers = fs::read_to_string(&own).unwrap();
    let servers = servers.replacen("prefix = ''\n", "prefix = ''\ntools = ['x']\n", 1);
    fs::write(&own, servers).unwrap();
    let mut host = all.serve(&[]);
    let shown = tools(&mut host);
    assert_eq!(shown.len(), 2, "{shown:?}");
    let called = host.text("discover", json!({}));
    assert_eq!(called.unwrap(), "discover {}");
}
