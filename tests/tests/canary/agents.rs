//! Agents, none of which is told a secret.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use dormouse_tests::{Client, Home};
use serde_json::{Value, json};

use crate::commands::command;
use crate::full_home::{home, trusted_project};
use crate::hidden::Hidden;

#[test]
fn no_agent_is_told_a_secret() {
    let home = home();
    let hidden = Hidden::written();
    let log = std::fs::File::create(home.path().join("log")).unwrap();
    let project = trusted_project(&home);
    let mut serve = command(&home, &["serve"]);
    let mut host = Client::start(serve.current_dir(&project).stderr(log)).unwrap();
    for server in [
        "of_trusted",
        "one",
        "proxied",
        "web",
        "old",
        "login",
        "child",
        "ends",
        "repeats",
        "talks",
        "line",
        "cursor",
        "cursor_web",
        "vscode",
    ] {
        let outcome = host.outcome(
            "tools/call",
            json!({ "name": format!("{server}__discover"), "arguments": {} }),
        );
        hidden.are_not_in(server, &outcome.unwrap().to_string());
        let outcome = host.outcome(
            "tools/call",
            json!({ "name": format!("{server}__x"), "arguments": {}, "_meta": { "progressToken": 7 } }),
        );
        hidden.are_not_in(server, &outcome.unwrap().to_string());
        let status = host.outcome(
            "prompts/get",
            json!({ "name": "status", "arguments": { "server": server } }),
        );
        let status = status.unwrap().to_string();
        hidden.are_not_in(server, &status);
        if server == "repeats" {
            // Of what runs, models are told the program or the host alone.
            assert!(status.contains(r#"\"upstream\": \"sh\""#), "{status}");
        }
    }
    let call = json!({
        "name": "loud__spill", "arguments": {}, "_meta": { "progressToken": 7 },
    });
    let outcome = host.outcome("tools/call", call).unwrap().to_string();
    assert!(outcome.contains("panicked"), "{outcome}");
    hidden.are_not_in("a panic", &outcome);
    let told = Value::from(host.notifications.clone()).to_string();
    assert!(told.contains("notifications/progress"), "{told}");
    hidden.are_not_in("the notifications", &told);
    for (method, params) in [
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/list", json!({})),
        ("resources/read", json!({ "uri": "dormouse://status" })),
        ("prompts/get", json!({ "name": "servers" })),
    ] {
        hidden.are_not_in(method, &host.outcome(method, params).unwrap().to_string());
    }
    // The same through the control socket, of a host that has failed at all of them.
    for words in [&["status"][..], &["status", "--json"], &["list", "--json"]] {
        let output = command(&home, words).output().unwrap();
        hidden.are_not_in(
            "the control socket",
            &String::from_utf8_lossy(&output.stdout),
        );
        hidden.are_not_in(
            "the control socket",
            &String::from_utf8_lossy(&output.stderr),
        );
    }
    let said = asked_by_hand(&home);
    assert!(
        said.contains("\"pid\"") && said.contains("-32602"),
        "{said}"
    );
    hidden.are_not_in("the control socket itself", &said);
    drop(host);
    let log = std::fs::read_to_string(home.path().join("log")).unwrap();
    assert!(log.contains("TRACE"), "nothing is logged: {log}");
    hidden.are_not_in("the log at trace", &log);
    hidden.are_not_kept(&home);
}

/// Returns the control socket of the host that runs.
fn control_socket(folder: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::FileTypeExt as _;
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.into_iter().find_map(|path| match path.is_dir() {
        true => control_socket(&path),
        false => path
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.file_type().is_socket())
            .then_some(path),
    })
}

/// Returns the answers of the control socket to requests of all methods, good and bad.
pub(super) fn asked_by_hand(home: &Home) -> String {
    let socket = control_socket(&home.path().join("run")).unwrap();
    let stream = UnixStream::connect(socket).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    let mut said = String::new();
    for (method, params) in [
        ("status", Value::Null),
        ("status", json!([7])),
        ("reload", json!({ "config": home.config() })),
        ("reload", json!({ "config": "/nowhere" })),
        ("switch", json!({ "server": "web", "on": false })),
        ("switch", json!({ "server": "web", "on": "canary" })),
        ("restart", json!({ "server": "talks" })),
        ("restart", json!({})),
        (
            "revoke",
            json!({ "server": "talks", "revoked": { "all": true } }),
        ),
        ("revoke", json!({ "server": "talks" })),
        ("status", Value::Null),
        ("no/such", Value::Null),
    ] {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        writeln!(&stream, "{request}").unwrap();
        assert!(
            answers.read_line(&mut said).unwrap() > 0,
            "{method}: {said}"
        );
    }
    said
}
