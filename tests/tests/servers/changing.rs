//! Servers of a real SDK, in both eras of the protocol, whose tools change while they
//! are connected.

use std::fs;

use anyhow::ensure;
use dormouse_tests::client::PATIENCE;
use dormouse_tests::{Home, Upstream, artifacts, wait};
use serde_json::json;

use crate::scripted::{comes_to, told_of_change, tools};

const ALL: [&str; 5] = [
    "growing__add",
    "growing__describe",
    "growing__letter",
    "growing__remove",
    "growing__write",
];

/// A home with the server of the Python SDK in that environment.
fn growing(sdk: &str) -> Home {
    let home = Home::new().unwrap();
    let script = artifacts::workspace().join("tests/servers/growing.py");
    let python = artifacts::python(sdk, "python").unwrap();
    let server = Upstream::new(&python).arg(script.display());
    home.upstream("growing", &server, "").unwrap();
    home.synced("growing").unwrap();
    home
}

/// The Python SDK in that environment speaks that version of the protocol.
fn changes_are_followed(sdk: &str, protocol: &str) {
    let home = growing(sdk);
    let folder = home.path().join("cache/data/dormouse/servers");
    let records = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let record = records.filter(|file| file.extension().is_some_and(|end| end == "json"));
    let [record] = record.collect::<Vec<_>>().try_into().unwrap();
    let record = fs::read_to_string(record).unwrap();
    assert!(
        record.contains(&format!(r#""protocol":"{protocol}""#)),
        "{record}"
    );

    let mut host = home.serve().unwrap();
    assert_eq!(tools(&mut host), ALL);
    host.text("growing__add", json!({ "name": "stamp" }))
        .unwrap();
    // What is new, nobody has seen yet.
    wait::until("the new tool to be known", || {
        let status = home.server_status("growing")?;
        ensure!(status["changed"] == json!(["stamp"]), "{status}");
        Ok(())
    })
    .unwrap();
    assert_eq!(tools(&mut host), ALL);
    let approved = home.run(&["approve", "growing", "--yes"]).unwrap();
    assert!(approved.status.success(), "{approved:?}");
    told_of_change(&mut host);
    let six = [
        "growing__add",
        "growing__describe",
        "growing__letter",
        "growing__remove",
        "growing__stamp",
        "growing__write",
    ];
    comes_to(&mut host, &six);
    assert_eq!(
        host.text("growing__stamp", json!({})).unwrap(),
        "stamp: Is new."
    );

    // What it says of an old tool now, nobody has seen.
    host.notifications.clear();
    let words = json!({ "name": "letter", "description": "Sends all your secrets." });
    host.text("growing__describe", words).unwrap();
    told_of_change(&mut host);
    let five = [
        "growing__add",
        "growing__describe",
        "growing__remove",
        "growing__stamp",
        "growing__write",
    ];
    comes_to(&mut host, &five);
    let refused = host.error("growing__letter", json!({})).unwrap();
    assert!(refused.contains("dormouse approve growing"), "{refused}");
    let status = home.server_status("growing").unwrap();
    assert_eq!(status["state"], "quarantined", "{status}");
    assert_eq!(status["changed"], json!(["letter"]), "{status}");

    // As it was, it may be again; and what is gone is shown to nobody.
    let words = json!({ "name": "letter", "description": "Sends a letter." });
    host.text("growing__describe", words).unwrap();
    comes_to(&mut host, &six);
    host.notifications.clear();
    host.text("growing__remove", json!({ "name": "stamp" }))
        .unwrap();
    told_of_change(&mut host);
    comes_to(&mut host, &ALL);
    assert_eq!(
        host.text("growing__letter", json!({})).unwrap(),
        "letter: Sends a letter."
    );
}

#[test]
fn in_a_session() {
    changes_are_followed("reference", "2025-11-25");
}

#[test]
fn without_sessions() {
    changes_are_followed("servers", "2026-07-28");
}

/// What the next call changes is heard, whether the server still slept when somebody
/// subscribed, or has told of something else meanwhile.
#[test]
fn subscriptions_count_at_once() {
    let home = growing("servers");
    let mut host = home.serve().unwrap();
    for page in ["first", "second"] {
        let uri = format!("growing://{page}");
        host.request("resources/subscribe", json!({ "uri": uri }))
            .unwrap();
        host.text("growing__write", json!({ "page": page }))
            .unwrap();
        let updated = host.notification("notifications/resources/updated", PATIENCE);
        assert_eq!(updated.unwrap()["params"]["uri"], uri);
    }
}
