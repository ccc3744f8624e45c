//! Calls that are cancelled, or whose clients go.

use std::time::Instant;

use dormouse_tests::http::{Request, Session};
use serde_json::json;

use crate::{SECOND, call, home, refusal, running, wait_for};

#[test]
fn a_stateless_client_that_goes_cancels_its_call() {
    let home = home(&["spin", "echo"]);
    let server = home.serve_http(&[]).unwrap();
    let request = Request::stateless(1, "tools/call", call("spin__spin", json!({})));
    let gone = server.begin(&request).unwrap();
    wait_for("the call runs", || running(&home, "spin") == 1);
    assert_eq!(
        server
            .text("echo__echo", json!({ "text": "beside it" }))
            .unwrap(),
        "beside it"
    );
    drop(gone);
    let start = Instant::now();
    wait_for("it is cancelled", || running(&home, "spin") == 0);
    assert!(start.elapsed() < SECOND, "{:?}", start.elapsed());
    assert_eq!(
        server
            .text("echo__echo", json!({ "text": "after it" }))
            .unwrap(),
        "after it"
    );
}

#[test]
fn a_legacy_client_that_goes_and_stays_away_cancels_its_call() {
    let home = home(&["spin", "sleep", "echo"]);
    let server = home.serve_http(&[]).unwrap();
    let session = Session::open(&server).unwrap();
    let mut gone = server
        .ask(&session.request(1, "tools/call", call("spin__spin", json!({}))))
        .unwrap();
    let back = session.request(
        2,
        "tools/call",
        call("sleep__sleep", json!({ "milliseconds": 4000 })),
    );
    let mut back = server.ask(&back).unwrap();
    wait_for("the calls run", || {
        running(&home, "spin") + running(&home, "sleep") == 2
    });
    let (first, _) = gone.event().unwrap().unwrap();
    let (second, _) = back.event().unwrap().unwrap();
    assert_ne!(first, second);
    drop((gone, back));
    // One that comes back gets its answer; the other is over.
    std::thread::sleep(SECOND);
    let resume = session.news().header("last-event-id", &second);
    let mut resumed = server.ask(&resume).unwrap();
    wait_for("the abandoned call is cancelled", || {
        running(&home, "spin") == 0
    });
    assert_eq!(running(&home, "sleep"), 1);
    let request = session.request(3, "tools/call", call("echo__echo", json!({ "text": "x" })));
    server.ask(&request).unwrap().result().unwrap();
    let messages = resumed.messages().unwrap();
    assert_eq!(messages[0]["id"], 2, "{messages:?}");
    assert_eq!(messages[0]["result"]["content"][0]["text"], "slept 4000 ms");
}

#[test]
fn a_legacy_client_cancels_by_saying_so() {
    let home = home(&["spin"]);
    let server = home.serve_http(&[]).unwrap();
    let session = Session::open(&server).unwrap();
    let request = session.request(1, "tools/call", call("spin__spin", json!({})));
    let mut answer = server.ask(&request).unwrap();
    wait_for("the call runs", || running(&home, "spin") == 1);
    // An id can be used again, but not while it is in use.
    assert_eq!(refusal(&server, &request), (400, json!(-32600)));
    session
        .notify(
            &server,
            "notifications/cancelled",
            json!({ "requestId": 1 }),
        )
        .unwrap();
    wait_for("it is cancelled", || running(&home, "spin") == 0);
    // Nobody waits for that. But for a stream that ends without an answer clients come back.
    let messages = answer.messages().unwrap();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0]["error"].is_object(), "{messages:?}");
    let again = session.request(1, "ping", json!({}));
    assert_eq!(server.ask(&again).unwrap().result().unwrap(), json!({}));
}
