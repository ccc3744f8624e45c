//! Resources that no list has: a read of one goes to the server that named it.

use dormouse_tests::client::PATIENCE;
use dormouse_tests::{Client, Home};
use serde_json::{Value, json};

use crate::everything;
use crate::exact::server;

/// Makes a home with servers of these names, each of which is the scheme of its resources.
fn home(names: &[(&str, bool)]) -> Home {
    let home = Home::new().unwrap();
    for (name, resources) in names {
        home.upstream(name, &server(name, *resources), "").unwrap();
        home.synced(name).unwrap();
    }
    home
}

fn read(client: &mut Client, uri: &str) -> Value {
    let outcome = client.outcome("resources/read", json!({ "uri": uri }));
    outcome.unwrap()
}

/// Returns the URIs that a server has been asked for.
fn known(client: &mut Client, server: &str) -> Value {
    let text = client.text(&format!("{server}__known"), json!({}));
    serde_json::from_str(&text.unwrap()).unwrap()
}

#[test]
fn a_link_leads_to_the_server_that_gave_it() {
    let home = home(&[("one", true), ("two", true)]);
    let mut client = home.serve().unwrap();
    // Of two servers that may have it, none is asked.
    let unknown = read(&mut client, "two:far/away");
    assert_eq!(unknown["error"]["code"], -32002, "{unknown}");
    assert_eq!(unknown["error"]["data"]["uri"], "two:far/away");
    let subscribe = json!({ "uri": "two:far/away" });
    let refused = client.outcome("resources/subscribe", subscribe.clone());
    assert_eq!(refused.unwrap()["error"]["code"], -32002);

    client
        .call("two__link", json!({ "uri": "two:far/away" }))
        .unwrap();
    let found = read(&mut client, "two:far/away");
    assert_eq!(found["result"]["contents"][0]["text"], "found", "{found}");
    // What the server says of what it has not is what the agent gets.
    client
        .call("two__link", json!({ "uri": "gone:x" }))
        .unwrap();
    let gone = read(&mut client, "gone:x");
    let error = &gone["error"];
    assert_eq!(error["code"], -32002, "{gone}");
    assert_eq!(error["data"], json!({ "uri": "gone:x", "near": [1.1] }));
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("nothing of that name here"),
        "{gone}"
    );

    client.request("resources/subscribe", subscribe).unwrap();
    client
        .call("two__touch", json!({ "uri": "two:far/away" }))
        .unwrap();
    let told = client.notification("notifications/resources/updated", PATIENCE);
    assert_eq!(told.unwrap()["params"]["uri"], "two:far/away");

    assert_eq!(
        known(&mut client, "two"),
        json!({ "read": ["two:far/away", "gone:x"], "subscribed": ["two:far/away"] })
    );
    let nothing = json!({ "read": [], "subscribed": [] });
    assert_eq!(known(&mut client, "one"), nothing);
}

#[test]
fn what_a_server_tells_of_can_be_read() {
    let home = home(&[("one", true), ("two", true)]);
    let mut client = home.serve().unwrap();
    client
        .call("one__touch", json!({ "uri": "one:new" }))
        .unwrap();
    let found = read(&mut client, "one:new");
    assert_eq!(found["result"]["contents"][0]["text"], "found", "{found}");
    // Another one does not take it away by telling of it, too.
    client
        .call("two__touch", json!({ "uri": "one:new" }))
        .unwrap();
    let found = read(&mut client, "one:new");
    assert_eq!(found["result"]["contents"][0]["text"], "found", "{found}");
}

#[test]
fn the_only_server_with_resources_is_asked_for_what_nobody_knows() {
    let home = home(&[("one", true), ("two", false)]);
    let mut client = home.serve().unwrap();
    let found = read(&mut client, "one:never/heard/of");
    assert_eq!(found["result"]["contents"][0]["text"], "found", "{found}");
    let gone = read(&mut client, "two:x");
    assert_eq!(gone["error"]["data"]["near"], json!([1.1]), "{gone}");
    // What another one has named is not its business, not even while that one is off.
    client
        .call("two__link", json!({ "uri": "two:secret" }))
        .unwrap();
    let refused = read(&mut client, "two:secret");
    assert_eq!(refused["error"]["code"], -32601, "{refused}");
    home.run(&["disable", "two"]).unwrap();
    let unknown = read(&mut client, "two:secret");
    assert_eq!(
        unknown["error"]["data"],
        json!({ "uri": "two:secret" }),
        "{unknown}"
    );
    // What is about Dormouse is nobody else's.
    let status = read(&mut client, "dormouse://status");
    assert!(status["result"]["contents"][0]["text"].is_string());
    let unknown = read(&mut client, "dormouse://other");
    assert_eq!(
        unknown["error"]["data"],
        json!({ "uri": "dormouse://other" })
    );
    assert_eq!(
        known(&mut client, "one")["read"],
        json!(["one:never/heard/of", "two:x"])
    );
    // One that is switched off is asked for nothing.
    home.run(&["disable", "one"]).unwrap();
    let unknown = read(&mut client, "one:never/heard/of");
    assert_eq!(unknown["error"]["code"], -32002, "{unknown}");
    assert_eq!(unknown["error"]["data"].get("near"), None, "{unknown}");
}

#[test]
fn links_and_references_of_a_real_server_are_read_alike() {
    let mut pair = everything();
    for (tool, arguments) in [
        ("get-resource-links", json!({ "count": 3 })),
        (
            "get-resource-reference",
            json!({ "resourceType": "Text", "resourceId": 2 }),
        ),
    ] {
        let params = json!({ "name": tool, "arguments": arguments });
        let outcome = pair.alike("tools/call", params, crate::pair::no_digits);
        assert!(outcome["result"]["content"].is_array(), "{outcome}");
    }
    // In no list and of no template: the server itself says what it thinks of it.
    let nothing = json!({ "uri": "demo://resource/nothing/of/that/name" });
    let outcome = pair.same("resources/read", nothing);
    assert!(outcome["error"]["code"].is_i64(), "{outcome}");
}
