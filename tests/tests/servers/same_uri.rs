//! Servers that claim the resources of others: a URI belongs to one of them, or is refused.

use dormouse_tests::Client;
use serde_json::{Value, json};

use crate::scripted::Scripted;

/// A host behind which `victim` and `evil` have these resources and templates.
fn host(all: &Scripted, victim: [&[&str]; 2], evil: [&[&str]; 2]) -> Client {
    let link = json!({ "name": "link", "inputSchema": { "type": "object" } });
    for (name, [resources, templates]) in [("victim", victim), ("evil", evil)] {
        let resources: Vec<Value> = resources
            .iter()
            .map(|uri| json!({ "uri": uri, "name": uri }))
            .collect();
        let templates: Vec<Value> = templates
            .iter()
            .map(|template| json!({ "uriTemplate": template, "name": template }))
            .collect();
        let offered = json!({
            "tools": [link], "resources": resources,
            "resourceTemplates": templates, "completions": [],
        });
        all.offers_just(name, &offered);
        all.own(name, "");
        all.home.synced(name).unwrap();
    }
    all.serve(&[])
}

fn read(host: &mut Client, uri: &str) -> Value {
    host.outcome("resources/read", json!({ "uri": uri }))
        .unwrap()
}

/// Lets a server name a URI in a result.
fn link(host: &mut Client, server: &str, uri: &str) {
    let linked = host.call(&format!("{server}__link"), json!({ "uri": uri }));
    linked.unwrap();
}

#[track_caller]
fn is_from(outcome: &Value, server: &str) {
    let text = &outcome["result"]["contents"][0]["text"];
    assert_eq!(*text, format!("from {server}"), "{outcome}");
}

/// It is refused wherever a URI can be given, and both are named.
#[track_caller]
fn is_refused(host: &mut Client, uri: &str) {
    for method in ["resources/read", "resources/subscribe"] {
        let outcome = host.outcome(method, json!({ "uri": uri })).unwrap();
        let why = outcome["error"]["message"].as_str();
        let why = why.unwrap_or_else(|| panic!("{method}: {outcome}"));
        assert!(why.contains("`evil` and `victim`"), "{method}: {why}");
    }
}

#[test]
fn what_two_servers_list_is_not_matched_against_templates() {
    let all = Scripted::new();
    let mut host = host(
        &all,
        [&["db://1", "db://2"], &[]],
        [&["db://1"], &["db://{+x}"]],
    );
    is_refused(&mut host, "db://1");
    // Nor is what one lists and another has a template for.
    is_refused(&mut host, "db://2");
}

#[test]
fn two_templates_take_nothing_from_one_another() {
    let all = Scripted::new();
    let mut host = host(
        &all,
        [&[], &["db://{id}", "v://{id}"]],
        [&[], &["db://{+x}", "v://{id}"]],
    );
    is_refused(&mut host, "db://1");
    // One that is hidden, because another is the same, counts all the same.
    is_refused(&mut host, "v://1");
    let complete = json!({
        "ref": { "type": "ref/resource", "uri": "v://{id}" },
        "argument": { "name": "id", "value": "" },
    });
    let outcome = host.outcome("completion/complete", complete).unwrap();
    let why = outcome["error"]["message"].as_str().unwrap_or_default();
    assert!(
        why.contains("`evil`") && why.contains("`victim`"),
        "{outcome}"
    );
}

#[test]
fn what_one_has_named_no_other_takes() {
    let all = Scripted::new();
    let mut host = host(
        &all,
        [&["v://listed"], &[]],
        [&["e://listed"], &["db://{+x}"]],
    );
    link(&mut host, "victim", "mem://1");
    is_from(&read(&mut host, "mem://1"), "victim");
    // One that names it later does not get it.
    link(&mut host, "evil", "mem://1");
    is_refused(&mut host, "mem://1");
    // Nor does one that has a template for it.
    link(&mut host, "victim", "db://1");
    is_refused(&mut host, "db://1");
    is_from(&read(&mut host, "db://2"), "evil");
    // To link to what another lists is no claim.
    link(&mut host, "evil", "v://listed");
    is_from(&read(&mut host, "v://listed"), "victim");
}

#[test]
fn no_server_has_a_resource_of_dormouse() {
    let all = Scripted::new();
    let mut host = host(
        &all,
        [&["v://1"], &[]],
        [
            &["dormouse://status", "DORMOUSE://x"],
            &["{+x}", "dormouse:{+x}"],
        ],
    );
    let listed = host.list("resources/list", "resources").unwrap();
    let status: Vec<_> = listed
        .iter()
        .filter(|resource| {
            resource["uri"]
                .to_string()
                .to_lowercase()
                .contains("dormouse:")
        })
        .collect();
    assert_eq!(status.len(), 1, "{status:?}");
    assert_eq!(status[0]["name"], "status");
    let read_status = read(&mut host, "dormouse://status");
    assert!(read_status.to_string().contains("servers"), "{read_status}");
    for uri in ["dormouse://x", "DORMOUSE://x"] {
        assert!(read(&mut host, uri)["error"].is_object(), "{uri}");
    }
}
