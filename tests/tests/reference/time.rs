//! The plugin `time` beside `mcp-server-time`.

use std::process::{Command, Stdio};

use dormouse_tests::{Client, Home, artifacts};
use serde_json::{Value, json};

use super::{is_error, signatures};

fn reference() -> Client {
    let mut server = Command::new(artifacts::python("reference", "mcp-server-time").unwrap());
    Client::start(
        server
            .args(["--local-timezone", "Europe/Zurich"])
            .stderr(Stdio::null()),
    )
    .unwrap()
}

fn ours() -> (Home, Client) {
    let home = Home::new().unwrap();
    home.server_with("time", &artifacts::plugin("time").unwrap(), "prefix = \"\"")
        .unwrap();
    let client = home.serve().unwrap();
    (home, client)
}

#[test]
fn has_the_same_tools() {
    let (_home, mut ours) = ours();
    let strip = |tools: Vec<Value>| {
        let mut all = signatures(&tools);
        for signature in all.values_mut() {
            // The reference has no title, and says which zone is its own.
            for key in ["title", "description"] {
                signature.as_object_mut().unwrap().remove(key);
            }
        }
        all
    };
    assert_eq!(
        strip(ours.tools().unwrap()),
        strip(reference().tools().unwrap())
    );
}

#[test]
fn converts_alike() {
    let (_home, mut ours) = ours();
    let mut theirs = reference();
    let zones = [
        "UTC",
        "Europe/Zurich",
        "America/New_York",
        "Asia/Kolkata",
        "Asia/Kathmandu",
        "Australia/Lord_Howe",
        "Pacific/Kiritimati",
        "America/St_Johns",
        "Africa/Casablanca",
    ];
    for source in zones {
        for target in zones {
            for time in ["00:00", "12:30", "23:59"] {
                let arguments =
                    json!({ "source_timezone": source, "time": time, "target_timezone": target });
                let [ours, theirs] = [&mut ours, &mut theirs]
                    .map(|it| parsed(&it.text("convert_time", arguments.clone()).unwrap()));
                assert_eq!(ours, theirs, "{arguments}");
            }
        }
    }
}

#[test]
fn tells_the_same_time() {
    let (_home, mut ours) = ours();
    let mut theirs = reference();
    for zone in ["UTC", "Europe/Zurich", "Asia/Tokyo", "America/Sao_Paulo"] {
        let arguments = json!({ "timezone": zone });
        // At least one of three is not told across the change of a minute.
        let same = (0..3).any(|_| {
            let [ours, theirs] = [&mut ours, &mut theirs]
                .map(|it| parsed(&it.text("get_current_time", arguments.clone()).unwrap()));
            let minute = |it: &Value| {
                let text = it["datetime"].as_str().unwrap().to_owned();
                // `2026-11-21T03:42:04+01:00` without its seconds.
                (text[..16].to_owned(), text[19..].to_owned())
            };
            let keys = |it: &Value| it.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
            keys(&ours) == keys(&theirs)
                && minute(&ours) == minute(&theirs)
                && ["timezone", "day_of_week", "is_dst"]
                    .iter()
                    .all(|key| ours[key] == theirs[key])
        });
        assert!(same, "{zone}");
    }
}

#[test]
fn refuses_alike() {
    let (_home, mut ours) = ours();
    let mut theirs = reference();
    for (tool, arguments) in [
        ("get_current_time", json!({ "timezone": "Mars/Olympus" })),
        ("get_current_time", json!({ "timezone": "" })),
        ("get_current_time", json!({})),
        (
            "convert_time",
            json!({ "source_timezone": "UTC", "time": "25:00", "target_timezone": "UTC" }),
        ),
        (
            "convert_time",
            json!({ "source_timezone": "UTC", "time": "noon", "target_timezone": "UTC" }),
        ),
        (
            "convert_time",
            json!({ "source_timezone": "Nowhere", "time": "12:00", "target_timezone": "UTC" }),
        ),
    ] {
        let results = [&mut ours, &mut theirs].map(|it| it.call(tool, arguments.clone()).unwrap());
        assert!(
            results.iter().all(is_error),
            "{tool} {arguments}: {results:?}"
        );
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
