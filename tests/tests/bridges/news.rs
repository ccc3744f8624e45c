//! Messages without a request: progress and logs of a server, and notifications to it.

use std::time::Duration;

use dormouse_tests::client::PATIENCE;
use serde_json::{Value, json};

use crate::difference::assert_same;
use crate::everything;
use crate::pair::Side;

/// Makes a call that takes that long, and reports its progress as often.
fn long(seconds: f64, steps: u64) -> Value {
    json!({
        "name": "trigger-long-running-operation",
        "arguments": { "duration": seconds, "steps": steps },
        "_meta": { "progressToken": "token" }
    })
}

#[test]
fn progress_is_heard_alike() {
    let mut pair = everything();
    pair.same("tools/call", long(0.2, 4));
    let [direct, through] = [&mut pair.direct, &mut pair.through].map(|side| {
        let heard = std::mem::take(&mut side.client.notifications).into_iter();
        let heard = heard.filter(|message| message["method"] == "notifications/progress");
        heard.map(|message| side.told(&message)).collect::<Vec<_>>()
    });
    assert_same(&json!(through), &json!(direct), "the progress");
    assert_eq!(direct.len(), 4, "{direct:?}");
}

/// A slow call does not keep others waiting.
#[test]
fn calls_run_beside_each_other() {
    let mut pair = everything();
    let slow = pair.through.request("tools/call", &long(2.0, 1));
    let client = &mut pair.through.client;
    let slow = client.send("tools/call", slow).unwrap();
    let answer = client.text("everything__echo", json!({ "message": "beside it" }));
    assert!(answer.unwrap().contains("beside it"));
    let early = client.answer_within(slow, Duration::ZERO);
    assert!(early.is_err(), "the slow call was over before: {early:?}");
    let answer = client.answer(slow).unwrap();
    assert!(answer["result"]["content"].is_array(), "{answer}");
}

/// A cancelled call is never answered, and the session goes on.
#[test]
fn calls_are_cancelled_alike() {
    let mut pair = everything();
    for side in [&mut pair.direct, &mut pair.through] {
        let params = side.request("tools/call", &long(0.6, 3));
        let id = side.client.send("tools/call", params).unwrap();
        side.client
            .notification("notifications/progress", PATIENCE)
            .unwrap();
        let cancel = json!({ "requestId": id, "reason": "enough" });
        side.client
            .notify("notifications/cancelled", cancel)
            .unwrap();
        // By the end of a longer one the cancelled one would have been answered.
        let params = side.request("tools/call", &long(1.0, 1));
        side.client.request("tools/call", params).unwrap();
        let answer = side.client.answer_within(id, Duration::ZERO);
        assert!(answer.is_err(), "answered although cancelled: {answer:?}");
    }
}

/// Logs in the course of a call are passed on.
#[test]
fn logs_of_a_call_are_heard() {
    let mut pair = everything();
    pair.same("logging/setLevel", json!({ "level": "debug" }));
    // From now on the server logs something every five seconds, at a level of its
    // choice, and at once for the first time.
    pair.same_call("toggle-simulated-logging", json!({}));
    for side in [&mut pair.direct, &mut pair.through] {
        let log = logged(side, "evel");
        let (level, data) = (log["level"].as_str(), log["data"].as_str());
        let (level, data) = (level.unwrap(), data.unwrap());
        let named = data.to_lowercase().replace(' ', "-");
        assert!(named.starts_with(&format!("{level}-level")), "{log}");
    }
}

/// Logs outside of any call are passed on, too, as far as the client wants them.
#[test]
fn logs_are_heard_alike() {
    let mut pair = everything();
    pair.same("logging/setLevel", json!({ "level": "debug" }));
    // Behind Dormouse the server sleeps, and subscribing to what it has wakes nobody.
    pair.same_call("echo", json!({ "message": "awake" }));
    // Who subscribes is logged, at `info`.
    let uri = |number: u32| format!("demo://resource/dynamic/text/{number}");
    pair.same("resources/subscribe", json!({ "uri": uri(1) }));
    let [direct, through] =
        [&mut pair.direct, &mut pair.through].map(|side| logged(side, "Subscribe"));
    assert_same(&through, &direct, "the log");
    pair.same("logging/setLevel", json!({ "level": "error" }));
    pair.same("resources/subscribe", json!({ "uri": uri(2) }));
    pair.same_call("echo", json!({ "message": "later" }));
    for side in [&mut pair.direct, &mut pair.through] {
        let more = side.client.notifications.iter();
        let more = more.filter(|message| message.to_string().contains(&uri(2)));
        assert_eq!(more.count(), 0);
    }
}

/// Waits for the next log that contains a text, among others.
fn logged(side: &mut Side, part: &str) -> Value {
    loop {
        let message = side.client.notification("notifications/message", PATIENCE);
        let message = message.unwrap_or_else(|error| panic!("no log with `{part}`: {error:#}"));
        if message["params"]["data"].to_string().contains(part) {
            let message = side.told(&message);
            return message["params"].clone();
        }
    }
}
