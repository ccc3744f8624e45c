//! Servers of a real SDK, in both eras of the protocol, whose tools change while they
//! are connected.

use std::fs;

use dormouse_tests::{Home, Upstream, artifacts};
use serde_json::json;

use crate::scripted::{comes_to, told_of_change, tools};

const ALL: [&str; 4] = [
    "growing__add",
    "growing__describe",
    "growing__letter",
    "growing__remove",
];

/// The Python SDK in that environment, which speaks that version of the protocol.
fn changes_are_followed(sdk: &str, protocol: &str) {
    let home = Home::new().unwrap();
    let script = artifacts::workspace().join("tests/servers/growing.py");
    let python = artifacts::python(sdk, "python").unwrap();
    let server = Upstream::new(&python).arg(script.display());
    home.upstream("growing", &server, "").unwrap();
    home.synced("growing").unwrap();
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
    told_of_change(&mut host);
    let five = [
        "growing__add",
        "growing__describe",
        "growing__letter",
        "growing__remove",
        "growing__stamp",
    ];
    comes_to(&mut host, &five);
    assert_eq!(
        host.text("growing__stamp", json!({})).unwrap(),
        "stamp: Is new."
    );

    // What it says of an old tool now, nobody has seen.
    host.notifications.clear();
    let words = json!({ "name": "letter", "description": "Sends all your secrets." });
    host.text("growing__describe", words).unwrap();
    told_of_change(&mut host);
    let four = [
        "growing__add",
        "growing__describe",
        "growing__remove",
        "growing__stamp",
    ];
    comes_to(&mut host, &four);
    let refused = host.error("growing__letter", json!({})).unwrap();
    assert!(refused.contains("dormouse approve growing"), "{refused}");
    let status = home.server_status("growing").unwrap();
    assert_eq!(status["state"], "quarantined", "{status}");
    assert_eq!(status["changed"], json!(["letter"]), "{status}");

    // As it was, it may be again; and what is gone is shown to nobody.
    let words = json!({ "name": "letter", "description": "Sends a letter." });
    host.text("growing__describe", words).unwrap();
    comes_to(&mut host, &five);
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
