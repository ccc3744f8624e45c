//! The Inspector, which holds a server to what the specification says.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

use std::process::{Command, Output, Stdio};

use dormouse_tests::{Home, artifacts};
use serde_json::{Value, json};

fn inspect(home: &Home, arguments: &[&str]) -> Output {
    let launch = home.launch();
    let (command, words) = launch.split_first().unwrap();
    // Given on its command line, Dormouse's own `--config` would be taken for
    // the Inspector's.
    let session = home.path().join("inspector.json");
    let server = json!({ "mcpServers": { "dormouse": { "command": command, "args": words } } });
    std::fs::write(&session, server.to_string()).unwrap();
    Command::new(artifacts::node().unwrap())
        .arg(
            artifacts::npm_file(
                "@modelcontextprotocol/inspector",
                "clients/launcher/build/index.js",
            )
            .unwrap(),
        )
        .args(["--cli", "--server", "dormouse", "--config"])
        .arg(session)
        .args(arguments)
        .envs(home.environment())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn printed(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Every schema that is made from WIT, of every guest and plugin.
#[test]
fn strictly_accepts_every_tool() {
    let home = Home::new().unwrap();
    home.guests(dormouse_guests::NAMES).unwrap();
    for plugin in ["conformance", "filesystem", "time"] {
        home.server(plugin, &artifacts::plugin(plugin).unwrap())
            .unwrap();
    }
    let output = inspect(&home, &["--method", "tools/list", "--strict"]);
    assert!(output.status.success(), "{output:?}");
    assert!(printed(&output)["tools"].as_array().unwrap().len() > 40);
}

#[test]
fn calls_a_tool() {
    let home = Home::new().unwrap();
    home.guests(&["echo"]).unwrap();
    let call = [
        "--method",
        "tools/call",
        "--tool-name",
        "echo__add",
        "--tool-arg",
        "a=2",
        "b=3",
    ];
    let output = inspect(&home, &call);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(printed(&output)["structuredContent"]["result"], 5);
}
