//! A client over stdio that calls, and cancels, without waiting for an answer.

use serde_json::Value;

use super::*;

/// Number of calls that are made before the first answer is waited for.
const CALLS: u64 = 10_000;

fn home() -> (Home, Client, u64) {
    let home = Home::new().unwrap();
    home.guests(&["sleep", "echo"]).unwrap();
    let mut client = home.serve().unwrap();
    client
        .text("sleep__sleep", json!({ "milliseconds": 1 }))
        .unwrap();
    client
        .text("echo__echo", json!({ "text": "warm" }))
        .unwrap();
    let before = processes::memory(client.pid()).unwrap();
    (home, client, before)
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

fn goes_on(mut client: Client, before: u64) {
    assert_eq!(
        client
            .text("echo__echo", json!({ "text": "well" }))
            .unwrap(),
        "well"
    );
    processes::gives_back(client.pid(), before).unwrap();
    assert!(client.close(Duration::from_secs(10)).unwrap().success());
}

#[test]
fn ten_thousand_calls_that_are_cancelled_leave_nothing_behind() {
    let (_home, mut client, before) = home();
    let long = call("sleep__sleep", json!({ "milliseconds": 60_000 }));
    let calls: Vec<_> = (0..CALLS)
        .map(|_| client.send("tools/call", long.clone()).unwrap())
        .collect();
    client.request("ping", json!({})).unwrap();
    for id in &calls {
        client
            .notify(
                "notifications/cancelled",
                json!({ "requestId": id, "reason": "enough" }),
            )
            .unwrap();
    }
    goes_on(client, before);
}

#[test]
fn thirty_thousand_calls_at_once_are_all_answered() {
    let (_home, mut client, before) = home();
    let short = call("echo__echo", json!({ "text": "x" }));
    let calls: Vec<_> = (0..3 * CALLS)
        .map(|_| client.send("tools/call", short.clone()).unwrap())
        .collect();
    for id in calls {
        let answer = client.answer(id).unwrap();
        let text = dormouse_tests::client::text(&answer["result"]);
        assert!(text.is_some_and(|text| text == "x"), "{answer}");
    }
    goes_on(client, before);
}

/// Cancels of requests that were never made take as little.
#[test]
fn a_hundred_thousand_cancels_of_nothing_are_ignored() {
    let (_home, mut client, before) = home();
    for id in 0..100_000 {
        client
            .notify(
                "notifications/cancelled",
                json!({ "requestId": 1_000_000 + id }),
            )
            .unwrap();
    }
    client.request("ping", json!({})).unwrap();
    goes_on(client, before);
}
