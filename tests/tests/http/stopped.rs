//! The end of a host.

use std::time::{Duration, Instant};

use dormouse_tests::http::{Request, Server, Session};
use serde_json::json;

use crate::{SECOND, call, home, running, wait_for};

#[test]
fn it_stops_when_what_runs_is_done() {
    let home = home(&["sleep"]);
    let mut server = home.serve_http(&[]).unwrap();
    let status = |server: &Server, path| server.ask(&Request::get(path)).unwrap().status;
    assert_eq!(
        (status(&server, "/health"), status(&server, "/ready")),
        (200, 200)
    );
    let session = Session::open(&server).unwrap();
    let news = server.ask(&session.news()).unwrap();
    let sleep = call("sleep__sleep", json!({ "milliseconds": 1500 }));
    let legacy = server
        .begin(&session.request(1, "tools/call", sleep.clone()))
        .unwrap();
    let stateless = server
        .begin(&Request::stateless(2, "tools/call", sleep))
        .unwrap();
    wait_for("the calls run", || running(&home, "sleep") == 2);

    server.signal("TERM").unwrap();
    wait_for("it says that it stops", || status(&server, "/ready") == 503);
    assert_eq!(status(&server, "/health"), 200);
    let late = Request::stateless(3, "tools/list", json!({}));
    assert_eq!(server.ask(&late).unwrap().status, 503);
    // What was running is finished.
    for running in [legacy, stateless] {
        let result = running.answer().unwrap().result().unwrap();
        assert_eq!(result["content"][0]["text"], "slept 1500 ms");
    }
    drop(news);
    let exit = server.wait(3 * SECOND).unwrap();
    assert!(exit.success(), "{exit}: {}", server.said());
}

#[test]
fn what_takes_too_long_is_cancelled_at_the_stop() {
    let home = home(&["spin"]);
    let mut server = home.serve_http(&["--stop-timeout", "300ms"]).unwrap();
    let session = Session::open(&server).unwrap();
    let spin = call("spin__spin", json!({}));
    let stateless = server
        .begin(&Request::stateless(1, "tools/call", spin.clone()))
        .unwrap();
    let legacy = server
        .begin(&session.request(1, "tools/call", spin))
        .unwrap();
    wait_for("the calls run", || running(&home, "spin") == 2);
    let start = Instant::now();
    server.signal("INT").unwrap();
    // The clients hear of it.
    for cancelled in [stateless, legacy] {
        let result = cancelled.answer().unwrap().result().unwrap();
        assert_eq!(result["isError"], true, "{result}");
    }
    assert!(server.wait(3 * SECOND).unwrap().success());
    assert!(start.elapsed() >= Duration::from_millis(300));
    assert!(start.elapsed() < 2 * SECOND, "{:?}", start.elapsed());
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let home = home(&["spin"]);
    let mut server = home.serve_http(&["--stop-timeout", "1m"]).unwrap();
    let _call = server
        .begin(&Request::stateless(
            1,
            "tools/call",
            call("spin__spin", json!({})),
        ))
        .unwrap();
    wait_for("the call runs", || running(&home, "spin") == 1);
    server.signal("TERM").unwrap();
    assert!(server.wait(SECOND).is_err(), "it did not wait for the call");
    server.signal("TERM").unwrap();
    assert!(!server.wait(SECOND).unwrap().success());
}

#[test]
fn an_address_that_is_taken_is_said() {
    let home = home(&[]);
    let server = home.serve_http(&[]).unwrap();
    let address = server.address().to_string();
    let output = home.run(&["serve", "--http", &address]).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(&format!("`{address}`")), "{said}");
    let output = home.run(&["serve", "--http", "localhost"]).unwrap();
    assert_eq!(output.status.code(), Some(2));
    let output = home.run(&["serve", "--max-sessions", "3"]).unwrap();
    assert_eq!(output.status.code(), Some(2), "limits of HTTP without HTTP");
}
