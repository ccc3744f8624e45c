//! Resources: listed, read, watched, added.

use std::time::Duration;

use dormouse_tests::Client;
use serde_json::json;

use crate::everything;
use crate::pair::{Pair, no_digits};

#[test]
fn are_listed_and_read_alike() {
    let mut pair = everything();
    let names = pair.same_list("resources/list", "resources");
    assert!(names.contains(&"architecture.md".to_owned()), "{names:?}");
    pair.same_list("resources/templates/list", "resourceTemplates");
    let document = "demo://resource/static/document/architecture.md";
    let outcome = pair.same("resources/read", json!({ "uri": document }));
    assert_eq!(
        outcome["result"]["contents"][0]["mimeType"],
        "text/markdown"
    );
    // Where a resource says when it was made, its bytes are never the same twice.
    let text = json!({ "uri": "demo://resource/dynamic/text/7" });
    pair.alike("resources/read", text, no_digits);
    let blob = json!({ "uri": "demo://resource/dynamic/blob/7" });
    let outcome = pair.alike("resources/read", blob, |text| {
        text.chars().take(30).collect()
    });
    assert!(
        outcome["result"]["contents"][0]["blob"].is_string(),
        "{outcome}"
    );
    // The template fits, and the server finds the number wrong.
    let outcome = pair.same(
        "resources/read",
        json!({ "uri": "demo://resource/dynamic/text/x" }),
    );
    assert!(outcome["error"]["code"].is_i64(), "{outcome}");
}

#[test]
fn are_watched_alike() {
    let mut pair = everything();
    let uri = "demo://resource/dynamic/text/1";
    pair.same("resources/subscribe", json!({ "uri": uri }));
    // From now on the server says every five seconds that what is watched has
    // changed, and at once for the first time.
    pair.same_call("toggle-subscriber-updates", json!({}));
    let told = pair.same_notification("notifications/resources/updated");
    assert_eq!(told["uri"], uri);
    pair.same("resources/unsubscribe", json!({ "uri": uri }));
    pair.same_call("toggle-subscriber-updates", json!({}));
}

/// A resource that a call adds: its clients are told, and can list and read it from the moment that
/// the call has ended. It is that session's, and no other one's.
#[test]
fn are_added_alike() {
    let mut pair = everything();
    let before = pair.same_list("resources/list", "resources");
    let arguments = json!({
        "name": "added.gz", "data": "data:text/plain,sleep", "outputType": "resourceLink"
    });
    let params = json!({ "name": "gzip-file-as-resource", "arguments": arguments });
    let outcome = pair.same("tools/call", params);
    let uri = outcome["result"]["content"][0]["uri"].as_str().unwrap();
    let after = pair.same_list("resources/list", "resources");
    assert_eq!(after.len(), before.len() + 1, "{after:?}");
    pair.same_notification("notifications/resources/list_changed");
    let outcome = pair.same("resources/read", json!({ "uri": uri }));
    let content = &outcome["result"]["contents"][0];
    assert_eq!(content["mimeType"], "application/gzip", "{content}");
    let Pair { home, through, .. } = pair;
    let is_there = |client: &mut Client| {
        let resources = client.list("resources/list", "resources").unwrap();
        resources.iter().any(|resource| resource["uri"] == uri)
    };
    let next = || Client::start(&mut home.command(&["serve"])).unwrap();
    let mut first = through.client;
    assert!(!is_there(&mut next()) && is_there(&mut first));
    first.close(Duration::from_secs(10)).unwrap();
    assert!(!is_there(&mut next()));
}
