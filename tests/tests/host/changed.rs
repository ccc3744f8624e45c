//! Plugins that are exchanged, and configurations that are.

use std::time::{Duration, Instant};

use dormouse_tests::{Home, artifacts, client, component};
use serde_json::json;

use crate::listed::guest;

/// Running calls finish on the old bytes; new ones use the new.
#[test]
fn replaces_a_plugin_under_a_running_call() {
    let home = Home::new().unwrap();
    let file = home.plugin_file("swap.wasm", &guest("sleep")).unwrap();
    home.server("swap", &file).unwrap();
    let mut client = home.serve().unwrap();
    client
        .text("swap__sleep", json!({ "milliseconds": 0 }))
        .unwrap();
    let call = json!({ "name": "swap__sleep", "arguments": { "milliseconds": 2500 } });
    let running = client.send("tools/call", call).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    home.replace(&file, &guest("echo")).unwrap();
    client
        .notification("notifications/tools/list_changed", Duration::from_secs(20))
        .unwrap();
    assert_eq!(client.tools().unwrap()[0]["name"], "swap__echo");
    assert_eq!(
        client.text("swap__echo", json!({ "text": "new" })).unwrap(),
        "new"
    );
    let old = client.answer(running).unwrap();
    assert_eq!(client::text(&old["result"]), Some("slept 2500 ms"));
    assert!(
        client
            .request(
                "tools/call",
                json!({ "name": "swap__sleep", "arguments": {} })
            )
            .is_err()
    );
}

/// A plugin whose bytes change and whose tools do not: clients are told nothing, and the next call
/// runs the new bytes.
#[test]
fn replaces_a_plugin_by_one_with_the_same_tools() {
    let home = Home::new().unwrap();
    let file = home.plugin_file("swap.wasm", &guest("counter")).unwrap();
    home.server_with("swap", &file, "instance = \"per-session\"")
        .unwrap();
    let mut client = home.serve().unwrap();
    for count in 1..3 {
        assert_eq!(
            client.call("swap__count", json!({})).unwrap()["structuredContent"]["result"],
            count
        );
    }
    home.replace(
        &file,
        &component::with_section(&guest("counter"), "other", b"bytes"),
    )
    .unwrap();
    let start = Instant::now();
    // The new bytes have a new global.
    while client.call("swap__count", json!({})).unwrap()["structuredContent"]["result"] != 1 {
        assert!(start.elapsed() < client::PATIENCE);
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A plugin that is added, disabled and removed while the host runs.
#[test]
fn follows_the_command_line() {
    let home = Home::new().unwrap();
    home.guests(&["echo"]).unwrap();
    let mut client = home.serve().unwrap();
    let names = |client: &mut dormouse_tests::Client| -> Vec<String> {
        let tools = client.tools().unwrap();
        let servers = tools.iter().map(|tool| {
            tool["name"]
                .as_str()
                .unwrap()
                .split("__")
                .next()
                .unwrap()
                .to_owned()
        });
        let mut servers: Vec<_> = servers.collect();
        servers.dedup();
        servers
    };
    assert_eq!(names(&mut client), ["echo"]);
    let counter = artifacts::guest("counter").unwrap();
    let steps: [(&[&str], &[&str]); 4] = [
        (
            &["add", "counter", counter.to_str().unwrap()],
            &["counter", "echo"],
        ),
        (&["disable", "echo"], &["counter"]),
        (&["enable", "echo"], &["counter", "echo"]),
        (&["remove", "counter"], &["echo"]),
    ];
    for (command, expected) in steps {
        let output = home.run(command).unwrap();
        assert!(output.status.success(), "{command:?}: {output:?}");
        client
            .notification("notifications/tools/list_changed", Duration::from_secs(10))
            .unwrap();
        let mut servers = names(&mut client);
        servers.sort();
        assert_eq!(servers, expected, "{command:?}");
    }
}
