//! Questions of servers to sessions over HTTP, whose calls may end before they are answered.

use dormouse_tests::http::Session;
use serde_json::{Value, json};

use crate::scripted::{Scripted, asks};

/// Questions of a server are put to the call that began last, which may end before they are answered.
#[test]
fn a_question_whose_call_has_ended_is_put_to_one_that_waits() {
    let all = Scripted::new();
    all.offers("slow", &[("ask-later", "Asks."), ("wait", "Waits.")]);
    all.own("slow", "");
    all.home.synced("slow").unwrap();
    let server = all.home.serve_http(&[]).unwrap();
    let session = Session::open_able(&server, asks()).unwrap();
    let form = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    let question = json!({ "method": "elicitation/create", "params": form });
    let called = |id, tool: &str, arguments: Value| {
        let call = json!({ "name": tool, "arguments": arguments });
        server
            .ask(&session.request(id, "tools/call", call))
            .unwrap()
    };
    // Which of two calls reaches a server first that is not connected yet is open.
    let mut first = called(0, "slow__wait", json!({ "seconds": 0 }));
    first.result().unwrap();
    let later = json!({ "question": question, "seconds": 1.5 });
    let mut asking = called(1, "slow__ask-later", later);
    let mut ended = called(2, "slow__wait", json!({ "seconds": 3 }));
    let messages = ended.messages().unwrap();
    let is_question = |message: &Value| message["method"] == "elicitation/create";
    assert!(messages.iter().any(is_question), "{messages:?}");
    let events = std::iter::from_fn(|| asking.event().unwrap());
    let mut messages = events.map(|(_, message)| message);
    let asked = messages.find(is_question).expect("nothing is asked");
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "decline" } });
    let taken = server.ask(&session.message(&answer)).unwrap();
    assert_eq!(taken.status, 202);
    let result = asking.result().unwrap();
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("decline"), "{text}");
}

/// Sessions may share a connection; the questions of their calls they do not.
#[test]
fn a_question_whose_call_has_ended_is_put_to_no_other_session() {
    let all = Scripted::new();
    all.offers("slow", &[("ask-later", "Asks."), ("wait", "Waits.")]);
    all.own("slow", "share = true\n");
    all.home.synced("slow").unwrap();
    let server = all.home.serve_http(&[]).unwrap();
    let [one, other] = [1, 2].map(|_| Session::open_able(&server, asks()).unwrap());
    let form = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    let question = json!({ "method": "elicitation/create", "params": form });
    let called = |session: &Session, tool: &str, arguments: Value| {
        let call = json!({ "name": tool, "arguments": arguments });
        let request = session.request(1, "tools/call", call);
        server.ask(&request).unwrap()
    };
    let mut first = called(&one, "slow__wait", json!({ "seconds": 0 }));
    first.result().unwrap();
    let ends = json!({ "question": question, "seconds": 0.3, "ends": 1.5 });
    let mut asking = called(&one, "slow__ask-later", ends);
    let is_asked = std::iter::from_fn(|| asking.event().unwrap())
        .any(|(_, message)| message["method"] == "elicitation/create");
    assert!(is_asked);
    let mut waiting = called(&other, "slow__wait", json!({ "seconds": 3 }));
    let result = asking.result().unwrap();
    assert_eq!(result["content"][0]["text"], "waited", "{result}");
    let messages = waiting.messages().unwrap();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(messages[0]["result"]["content"][0]["text"], "waited");
}
