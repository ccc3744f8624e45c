//! Tools that a server declares not to be for models.

use std::fs;

use dormouse_tests::client::text;
use serde_json::{Value, json};

use crate::names::same_uri::{is_from, read};
use crate::scripted::{Scripted, tools};

/// What only the server's page may call is not found, described, loaded or called by tools of
/// Dormouse's own, which models use, and is called by the page.
#[test]
fn what_is_for_pages_alone_is_not_given_to_models() {
    for (form, meta) in [
        ("nested", json!({ "ui": { "visibility": ["app"] } })),
        ("flat", json!({ "ui/visibility": ["app"] })),
        ("earlier", json!({ "openai/visibility": "private" })),
    ] {
        let all = Scripted::new();
        let tool = |name: &str, meta: &Value| {
            json!({
                "name": name, "description": "Pays money.", "inputSchema": { "type": "object" },
                "annotations": { "readOnlyHint": true }, "_meta": meta,
            })
        };
        let offered = json!({
            "tools": [tool("settle", &meta), tool("pay", &json!({}))],
            "resources": [{ "uri": "ui://bank/p", "name": "page" }],
        });
        all.offers_just("bank", &offered);
        all.own("bank", "");
        all.home.synced("bank").unwrap();
        let own = all.home.config();
        let servers = fs::read_to_string(&own).unwrap();
        for mode in ["search", "index"] {
            fs::write(&own, format!("[exposure]\nmode = '{mode}'\n\n{servers}")).unwrap();
            let mut host = all.serve(&[]);
            let listed = json!(host.tools().unwrap()).to_string();
            assert!(!listed.contains("settle"), "{form} {mode}: {listed}");
            for (meta_tool, arguments) in [
                ("search_tools", json!({ "query": "pay money" })),
                ("search_tools", json!({ "server": "bank" })),
                ("list_servers", json!({})),
                ("load_tools", json!({ "server": "bank" })),
                ("describe_tool", json!({ "names": ["bank__pay"] })),
            ] {
                let told = host.text(meta_tool, arguments).unwrap();
                // The control: the other one is told of.
                assert!(told.contains("pay"), "{form} {mode} {meta_tool}: {told}");
                assert!(
                    !told.contains("settle"),
                    "{form} {mode} {meta_tool}: {told}"
                );
            }
            assert!(!tools(&mut host).contains(&"bank__settle".to_owned()));
            for (meta_tool, arguments) in [
                ("describe_tool", json!({ "names": ["bank__settle"] })),
                (
                    "load_tools",
                    json!({ "server": "bank", "names": ["settle"] }),
                ),
            ] {
                host.error(meta_tool, arguments).unwrap();
            }
            for used in ["call_tool", "call_tool_write", "call_tool_destructive"] {
                let why = host.error(used, json!({ "name": "bank__settle" })).unwrap();
                assert!(
                    why.contains("declares that it is not for models"),
                    "{form} {mode} {used}: {why}"
                );
            }
            let paid = host.text("call_tool", json!({ "name": "bank__pay" }));
            assert_eq!(paid.unwrap(), "pay {}", "{form} {mode}");
            is_from(&read(&mut host, "ui://bank/p"), "bank");
            let settled = host.call("settle", json!({})).unwrap();
            assert_eq!(text(&settled), Some("settle {}"), "{form} {mode}");
        }
    }
}

/// Makes a server offer two tools, one of which says of itself in its `_meta` whom it is for.
fn offers(all: &Scripted, meta: &Value) {
    let tool = json!({
        "name": "settle", "inputSchema": { "type": "object" },
        "annotations": { "readOnlyHint": true }, "_meta": meta,
    });
    let other = json!({ "name": "pay", "inputSchema": { "type": "object" } });
    all.offers_just("bank", &json!([tool, other]));
}

/// Makes tools be found by a search.
fn searches(all: &Scripted) {
    let own = all.home.config();
    let servers = fs::read_to_string(&own).unwrap();
    fs::write(&own, format!("[exposure]\nmode = 'search'\n\n{servers}")).unwrap();
}

/// The same of a tool that has become one for pages alone while its server slept, whether that counts
/// as approved or not.
#[test]
fn whom_a_tool_is_for_is_judged_as_its_server_says_when_it_is_called() {
    for policy in ["", "on_change = \"accept\"\n"] {
        for meta in [
            json!({ "ui": { "visibility": ["app"] } }),
            json!({ "ui/visibility": ["app"] }),
            json!({ "openai/visibility": "private" }),
        ] {
            let all = Scripted::new();
            offers(&all, &json!({}));
            all.own("bank", policy);
            let mut host = all.serve(&[]);
            // An agent has been offered it as one for models.
            let told = host.text("bank__discover", json!({})).unwrap();
            assert!(told.contains("bank__settle"), "{policy} {meta}: {told}");
            drop(host);
            offers(&all, &meta);
            searches(&all);
            let mut host = all.serve(&[]);
            let found = host.text("search_tools", json!({ "query": "settle" }));
            assert!(found.unwrap().contains("bank__settle"), "{policy} {meta}");
            for _ in 0..2 {
                let why = host.error("call_tool", json!({ "name": "bank__settle" }));
                let why = why.unwrap();
                assert!(why.contains("not for models"), "{policy} {meta}: {why}");
            }
            // Once it is known, it is found no longer.
            let found = host.text("search_tools", json!({ "server": "bank" }));
            let found = found.unwrap();
            assert!(
                found.contains("bank__pay") && !found.contains("settle"),
                "{policy} {meta}: {found}"
            );
        }
    }
}

/// What agents were last offered for pages alone stays that, whatever another kind of clients is
/// offered meanwhile; and the text on the tools of a server that is connected for the first time leaves
/// it out.
#[test]
fn another_kind_of_clients_makes_no_tool_one_for_models() {
    let all = Scripted::new();
    offers(&all, &json!({ "ui": { "visibility": ["app"] } }));
    all.own("bank", "on_change = \"accept\"\n");
    let mut host = all.serve(&[]);
    let told = host.text("bank__discover", json!({})).unwrap();
    assert!(
        told.contains("bank__pay") && !told.contains("settle"),
        "{told}"
    );
    drop(host);
    offers(&all, &json!({}));
    all.home.synced("bank").unwrap();
    searches(&all);
    let mut host = all.serve(&[]);
    let found = host.text("search_tools", json!({ "server": "bank" }));
    let found = found.unwrap();
    assert!(
        found.contains("bank__pay") && !found.contains("settle"),
        "{found}"
    );
    let why = host.error("call_tool", json!({ "name": "bank__settle" }));
    let why = why.unwrap();
    assert!(why.contains("not for models"), "{why}");
}
