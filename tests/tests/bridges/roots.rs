//! Roots that a server asks for when it is started, and that its tools depend on.

use std::fs;
use std::time::Duration;

use dormouse_tests::client::{PATIENCE, text};
use dormouse_tests::{Client, Home, Upstream, wire};
use serde_json::{Value, json};

/// Returns a home with a server for files of its client's roots only, a root, and a call for its
/// file.
fn files() -> (Home, Value, Value) {
    let home = Home::new().unwrap();
    let folder = tempfile::tempdir_in(home.path()).unwrap().keep();
    fs::write(folder.join("x.txt"), "found").unwrap();
    let package = "@modelcontextprotocol/server-filesystem";
    let server = Upstream::npm(package, "dist/index.js").unwrap();
    home.upstream("files", &server, "").unwrap();
    home.synced("files").unwrap();
    let uri = format!("file://{}", folder.display());
    let arguments = json!({ "path": folder.join("x.txt") });
    (home, json!({ "roots": [{ "uri": uri }] }), arguments)
}

#[test]
fn the_first_call_comes_after_the_roots() {
    let (home, roots, arguments) = files();
    let able = json!({ "roots": { "listChanged": true } });
    let mut client = Client::start_able(&mut home.command(&["serve"]), able).unwrap();
    let params = json!({ "name": "files__read_text_file", "arguments": arguments });
    let call = client.send("tools/call", params).unwrap();
    let asked = client.notification("roots/list", PATIENCE).unwrap();
    // As long as a client may have to think.
    std::thread::sleep(Duration::from_millis(500));
    client.reply(&asked, roots).unwrap();
    let answer = client.answer(call).unwrap();
    assert_eq!(text(&answer["result"]), Some("found"), "{answer}");
}

#[test]
fn a_stateless_call_comes_after_the_roots() {
    let (home, roots, arguments) = files();
    let mut client = Client::spawn(&mut home.command(&["serve"])).unwrap();
    let able = json!({ "roots": {} });
    let params = json!({ "name": "files__read_text_file", "arguments": arguments });
    let first = wire::stateless(params.clone(), able.clone());
    let mut answer = client.request("tools/call", first).unwrap();
    let mut rounds = 0;
    while answer["resultType"] == "input_required" {
        rounds += 1;
        let asked = answer["inputRequests"].as_object().unwrap();
        let answers = asked.keys().map(|name| (name.clone(), roots.clone()));
        let mut again = params.clone();
        again["requestState"] = answer["requestState"].clone();
        again["inputResponses"] = Value::Object(answers.collect());
        let again = wire::stateless(again, able.clone());
        answer = client.request("tools/call", again).unwrap();
    }
    assert_eq!(text(&answer), Some("found"), "{answer}");
    assert_eq!(rounds, 1, "{answer}");
}
