//! Questions of a server to its client, mostly in the middle of a call.

use anyhow::ensure;
use dormouse_tests::client::PATIENCE;
use dormouse_tests::{Client, wait};
use serde_json::{Value, json};

use crate::difference::assert_same;
use crate::pair::{Pair, no_identifiers};
use crate::{everything, mirror};

impl Pair {
    /// Makes both clients answer so from now on.
    fn answer(&mut self, method: &str, result: &Value) {
        for side in [&mut self.direct, &mut self.through] {
            side.client.always_answers(method, result.clone());
        }
    }

    /// Returns the questions to both clients since the last look, which have to be the same. Roots
    /// do not count, which servers ask for when they please.
    #[track_caller]
    fn same_questions(&mut self) -> Vec<Value> {
        let [direct, through] = [&mut self.direct, &mut self.through].map(|side| {
            let asked = std::mem::take(&mut side.client.asked);
            let asked = asked.into_iter().map(|mut message| {
                let members = message.as_object_mut().unwrap();
                members.remove("id");
                side.told(&message)
            });
            let asked = asked.filter(|message| message["method"] != "roots/list");
            asked.collect::<Vec<_>>()
        });
        assert_same(&json!(through), &json!(direct), "the questions");
        direct
    }
}

#[test]
fn forms_reach_the_user() {
    let mut pair = everything();
    for answer in [
        json!({ "action": "accept", "content": { "name": "Ada", "check": true, "integer": 7 } }),
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
    ] {
        pair.answer("elicitation/create", &answer);
        let told = pair.same_call("trigger-elicitation-request", json!({}));
        let action = answer["action"].as_str().unwrap();
        assert!(told.contains(action), "no {action} in {told}");
        let asked = pair.same_questions();
        let [question] = asked.as_slice() else {
            panic!("not one question but {asked:?}");
        };
        let fields = &question["params"]["requestedSchema"]["properties"];
        // A field that only the protocol before the last one had.
        assert!(
            fields["legacyTitledEnum"]["enumNames"].is_array(),
            "{fields}"
        );
    }
}

#[test]
fn pages_reach_the_user() {
    let mut pair = everything();
    pair.answer("elicitation/create", &json!({ "action": "accept" }));
    let arguments = json!({
        "url": "https://example.com/x", "message": "Please.", "elicitationId": "one"
    });
    let told = pair.same_call("trigger-url-elicitation", arguments);
    assert!(told.contains("completed"), "{told}");
    let asked = pair.same_questions();
    assert_eq!(asked[0]["params"]["mode"], "url", "{asked:?}");

    // The other way: the call fails with a code that says what to open first.
    let arguments = json!({ "url": "https://example.com/y", "errorPath": true });
    let params = json!({ "name": "trigger-url-elicitation", "arguments": arguments });
    let outcome = pair.alike("tools/call", params, no_identifiers);
    assert_eq!(outcome["error"]["code"], -32042, "{outcome}");
    let page = &outcome["error"]["data"]["elicitations"][0];
    assert_eq!(page["url"], "https://modelcontextprotocol.io");
}

#[test]
fn models_are_asked() {
    let mut pair = everything();
    let answer = json!({
        "role": "assistant", "model": "nobody", "stopReason": "endTurn",
        "content": { "type": "text", "text": "I sleep." }
    });
    pair.answer("sampling/createMessage", &answer);
    let arguments = json!({ "prompt": "What do you do?", "maxTokens": 20 });
    let told = pair.same_call("trigger-sampling-request", arguments);
    assert!(told.contains("I sleep."), "{told}");
    let asked = pair.same_questions();
    assert_eq!(asked[0]["params"]["maxTokens"], 20, "{asked:?}");
}

#[test]
fn roots_are_told() {
    let mut pair = everything();
    let told = pair.same_call("get-roots-list", json!({}));
    assert!(told.contains("project"), "{told}");
}

/// A question in the course of a call need not be about it: where the call is over before the
/// answer, the client is asked once more.
#[test]
fn a_question_outlives_its_call() {
    let home = mirror(true);
    let mut host = home.command(&["serve"]);
    let mut client = Client::start_able(&mut host, json!({ "roots": {} })).unwrap();
    let call = json!({ "name": "mirror__ask" });
    let asking = client.send("tools/call", call).unwrap();
    let first = client.notification("roots/list", PATIENCE).unwrap();
    client.text("mirror__go-on", json!({})).unwrap();
    let answer = client.answer(asking).unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
    // The first question is taken back.
    let cancelled = client.notification("notifications/cancelled", PATIENCE);
    assert_eq!(cancelled.unwrap()["params"]["requestId"], first["id"]);
    let roots = json!({ "roots": [{ "uri": "file:///late" }] });
    client.answers("roots/list", roots).unwrap();
    let told = client.text("mirror__roots", json!({})).unwrap();
    assert_eq!(told, "file:///late");
}

/// A client that has other roots says so, outside of any call, and is asked again.
#[test]
fn other_roots_are_told() {
    let mut pair = everything();
    pair.same_call("get-roots-list", json!({}));
    let other = json!({ "roots": [{ "uri": "file:///other", "name": "other" }] });
    pair.answer("roots/list", &other);
    for side in [&mut pair.direct, &mut pair.through] {
        let changed = "notifications/roots/list_changed";
        side.client.notify(changed, json!({})).unwrap();
        let params = json!({ "name": "get-roots-list", "arguments": {} });
        wait::until("the new roots", || {
            let told = side.ask("tools/call", &params).to_string();
            ensure!(told.contains("file:///other"), "{told}");
            Ok(())
        })
        .unwrap();
    }
}
