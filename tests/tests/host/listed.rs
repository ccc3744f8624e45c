//! Lists of plugins, and what a host says of itself.

use std::time::Duration;

use anyhow::ensure;
use dormouse_tests::wire::{Wire, request};
use dormouse_tests::{Client, Home, artifacts, component, wait};
use serde_json::json;

pub(super) fn guest(name: &str) -> Vec<u8> {
    artifacts::read(&artifacts::guest(name).unwrap()).unwrap()
}

/// The invariant: listing never reaches the runtime, however much is listed.
#[test]
fn heavy_lists_a_thousand_plugins_without_an_engine() {
    let home = Home::new().unwrap();
    home.lists_all().unwrap();
    let bytes = guest("bench");
    for number in 0..1000 {
        let name = format!("p{number:03}");
        let distinct = component::with_section(&bytes, "distinct", name.as_bytes());
        let file = home
            .plugin_file(&format!("{name}.wasm"), &distinct)
            .unwrap();
        home.server(&name, &file).unwrap();
    }
    // Without an index and with one.
    for start in ["first", "second"] {
        let mut client = home.serve().unwrap();
        // What is new and takes long to read is read while the host answers.
        let listed = |client: &mut Client| {
            let count = client.tools()?.len();
            ensure!(count == 20_000, "{count} at the {start} start");
            Ok(())
        };
        match start {
            "first" => wait::until("all tools are listed", || listed(&mut client)).unwrap(),
            _ => listed(&mut client).unwrap(),
        }
        let status = home.status().unwrap();
        assert_eq!(status["engines"], 0, "{start} start");
        assert_eq!(status["servers"].as_array().unwrap().len(), 1000);
        assert!(
            status["servers"]
                .as_array()
                .unwrap()
                .iter()
                .all(|server| server["state"] == "known")
        );
        if start == "second" {
            // The counter does count.
            client
                .text("p777__echo", json!({ "text": "awake" }))
                .unwrap();
            let status = home.status().unwrap();
            assert_eq!(status["engines"], 1);
            let awake = status["servers"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|server| server["state"] != "known");
            assert_eq!(
                awake.map(|server| &server["name"]).collect::<Vec<_>>(),
                ["p777"]
            );
        }
        assert!(client.close(Duration::from_secs(6)).unwrap().success());
    }
}

/// Listings that a start has read are there for the next one, however soon the agent goes.
#[test]
fn leaves_an_index_behind() {
    for _ in 0..5 {
        let home = Home::new().unwrap();
        home.guests(&["bench"]).unwrap();
        let mut client = home.serve().unwrap();
        client.tools().unwrap();
        assert!(client.close(Duration::from_secs(6)).unwrap().success());
        let index = home.path().join("cache/dormouse/catalog.index");
        let index = std::fs::read_to_string(index).unwrap();
        assert!(index.contains("bench.wasm"), "{index}");
    }
}

/// The list is the same, byte for byte, at every start.
#[test]
fn lists_the_same_bytes_each_time() {
    let home = Home::new().unwrap();
    home.guests(&["echo", "bench", "multibyte", "spin"])
        .unwrap();
    let list = || {
        let mut wire = Wire::spawn(&mut home.command(&["serve"])).unwrap();
        wire.initialize().unwrap();
        wire.send(&request(1, "tools/list", json!({}))).unwrap();
        wire.receive_raw().unwrap()
    };
    let first = list();
    for _ in 0..3 {
        assert_eq!(list(), first);
    }
}

#[test]
fn introduces_itself() {
    let home = Home::new().unwrap();
    let client = home.serve().unwrap();
    assert_eq!(client.hello["serverInfo"]["name"], "dormouse");
    assert_eq!(
        client.hello["protocolVersion"],
        dormouse_tests::wire::LEGACY
    );
    assert_eq!(client.hello["capabilities"]["tools"]["listChanged"], true);
}
