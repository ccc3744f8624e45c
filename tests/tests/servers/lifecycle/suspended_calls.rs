//! Calls that wait until a client without a session goes on with them.

use std::time::Duration;

use dormouse_tests::wire::stateless;
use serde_json::{Value, json};

use crate::scripted::{Scripted, asks};

/// A server goes on with its work while its question is open: its messages then come with the
/// request that answers the question.
#[test]
fn what_is_said_while_a_question_is_open_is_told_with_the_answer() {
    let all = Scripted::new();
    all.offers("notes", &[("ask", "Asks.")]);
    all.configure(&all.cursor(), &["notes"]);
    all.run(&["sync"]);
    let mut host = all.serve(&[]);
    let form = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let question = json!({
        "method": "elicitation/create",
        "params": { "mode": "form", "message": "Who?", "requestedSchema": form }
    });
    let call = |token: &str, more: Value| {
        let mut params = json!({
            "name": "notes__ask",
            "arguments": { "questions": [question], "meanwhile": ["one", "two", "three"] },
            "_meta": {
                "progressToken": token, "io.modelcontextprotocol/logLevel": "info"
            }
        });
        let members = params.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        stateless(params, asks())
    };
    let first = host.request("tools/call", call("first", json!({})));
    let first = first.unwrap();
    assert_eq!(first["resultType"], "input_required", "{first}");
    // All of it is said before anybody answers.
    std::thread::sleep(Duration::from_millis(1500));
    let questions = first["inputRequests"].as_object().unwrap();
    let (id, _) = questions.iter().next().unwrap();
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    host.notifications.clear();
    let again = json!({ "requestState": first["requestState"], "inputResponses": { id: answer } });
    let last = host.request("tools/call", call("second", again)).unwrap();
    assert!(last.to_string().contains("Ada"), "{last}");
    let heard = |method: &str, of: &dyn Fn(&Value) -> Value| {
        let heard = host.notifications.iter();
        let heard = heard.filter(|message| message["method"] == method);
        heard
            .map(|message| of(&message["params"]))
            .collect::<Vec<_>>()
    };
    let progress = |params: &Value| {
        json!([
            params["progressToken"],
            params["progress"],
            params["message"]
        ])
    };
    let told = json!([
        ["second", 1, "one"],
        ["second", 2, "two"],
        ["second", 3, "three"]
    ]);
    assert_eq!(json!(heard("notifications/progress", &progress)), told);
    let logs = heard("notifications/message", &|params| params["data"].clone());
    assert_eq!(json!(logs), json!(["one", "two", "three"]));
}
