//! Servers that make the host log much: clients keep its log in files, so all of them together get
//! a few lines into it.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use dormouse_tests::{Home, artifacts};
use serde_json::json;

use crate::hostile::Hostile;
use crate::scripted::Scripted;

/// Most bytes that the host may log because of one server in a few seconds: a budget of 32 KiB, the
/// rest of its lines beside that, and a second budget if 10 s have passed.
const MAX_LOG_BYTES: usize = 160 << 10;

/// Returns the log of a command.
#[track_caller]
fn logged(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn log_messages_that_nobody_hears_have_a_budget_with_all_else_that_their_server_says() {
    let all = Hostile::new().and("odd", "news at start", "");
    let log = logged(&mut all.0.command(&["-v", "sync", "odd"]));
    assert!(log.contains("news 0 "), "{log:.2000}");
    assert!(log.contains("a line on stderr"), "{log:.2000}");
    assert!(log.len() < MAX_LOG_BYTES, "{} bytes", log.len());
    let told = "server `odd`: more than 32768 bytes would be logged within 10 s";
    assert!(log.contains(told), "{}", log.len());
}

#[test]
fn events_that_are_no_messages_are_logged_once() {
    let script = artifacts::workspace().join("tests/servers/hostile_http.py");
    let mut server = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    let stdout = server.stdout.as_mut().unwrap();
    BufReader::new(stdout).read_line(&mut port).unwrap();
    let home = Home::new().unwrap();
    let url = format!("http://127.0.0.1:{}/many-junk-events", port.trim());
    home.table("odd", &format!("url = {}\n", json!(url)))
        .unwrap();
    home.synced("odd").unwrap();
    let output = home.command(&["call", "odd", "echo"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "echo");
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        log.matches("events that are no messages").count(),
        1,
        "{log:.2000}"
    );
    assert!(log.len() < 4096, "{} bytes", log.len());
    drop(server.stdin.take());
    server.wait().unwrap();
}

#[test]
fn of_many_long_names_the_beginning_of_three_is_logged() {
    let all = Scripted::new();
    all.offers("up", &[("good", "Is good.")]);
    all.own("up", "");
    all.home.synced("up").unwrap();
    let named = |number: usize| {
        let name = format!("n{number}{}", "x".repeat(500_000));
        json!({ "name": name, "description": "New.", "inputSchema": { "type": "object" } })
    };
    let tools: Vec<_> = (0..9).map(named).collect();
    all.offers_just("up", &json!(tools));
    let log = logged(&mut all.home.command(&["sync", "up"]));
    let line = log.lines().find(|line| line.contains("has approved"));
    let line = line.unwrap_or_else(|| panic!("{log:.2000}"));
    assert!(line.contains("`n0xx"), "{line:.2000}");
    // Of the one that is gone, too.
    assert!(
        line.contains("… and ") || line.contains("` and "),
        "{line:.2000}"
    );
    assert!(log.len() < MAX_LOG_BYTES, "{} bytes", log.len());
}
