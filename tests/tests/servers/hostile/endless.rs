//! Servers that go on sending one thing until they are told to stop: other requests are answered
//! meanwhile, and the flood takes no memory.

use std::fs;
use std::process::Command;

use dormouse_tests::client::PATIENCE;
use dormouse_tests::{Client, processes, wait};
use serde_json::{Value, json};

use crate::hostile::floods::{asked, goes_on, hostile, text};

/// Most memory that a host may take while it is flooded, in KiB: half of each flood's size.
const MAX_MORE_KIB: u64 = 64 << 10;

/// Most that it may log meanwhile, in bytes.
const MAX_LOG_BYTES: u64 = 1 << 20;

/// Most messages that it may pass on to its client, of more than a hundred thousand.
const MAX_HEARD: usize = 10_000;

#[test]
fn a_flood_without_an_end_delays_nobody_and_takes_no_memory() {
    for (kind, passed_on) in [
        ("endless progress", Some("notifications/progress")),
        ("endless changes", None),
        ("endless news", Some("notifications/message")),
        ("endless answers", None),
        ("endless lines on stderr", None),
        ("an endless line on stderr", None),
    ] {
        let all = hostile(kind);
        let log = all.0.path().join("log");
        let mut serve = all.0.command(&["-v", "serve"]);
        serve.stderr(fs::File::create(&log).unwrap());
        let mut host = Client::start(&mut serve).unwrap();
        goes_on(&all.0, &mut host);
        let before = processes::memory(host.pid()).unwrap();
        let call = json!({
            "name": "odd__echo", "arguments": {}, "_meta": { "progressToken": "of odd" }
        });
        let id = host.send("tools/call", call).unwrap();
        let file = |what: &str| all.0.path().join(format!("odd.starts.{what}"));
        wait::until("the flood", || Ok(fs::metadata(file("begun"))?)).unwrap();
        for _ in 0..3 {
            goes_on(&all.0, &mut host);
        }
        assert!(!host.has_answer(id), "{kind}");
        fs::write(file("end"), "").unwrap();
        let answer = host.answer(id).unwrap();
        assert_eq!(text(&answer), "echo", "{kind}");
        goes_on(&all.0, &mut host);
        let most = processes::most_memory(host.pid()).unwrap();
        assert!(
            most < before + MAX_MORE_KIB,
            "{kind}: {before} to {most} KiB"
        );
        let heard = host.notifications.len();
        assert!(heard < MAX_HEARD, "{kind}: {heard} notifications");
        if let Some(method) = passed_on {
            let is_it = |message: &Value| message["method"] == method;
            assert!(host.notifications.iter().any(is_it), "{kind}: no {method}");
        }
        let logged = fs::metadata(&log).unwrap().len();
        assert!(logged < MAX_LOG_BYTES, "{kind}: {logged} bytes in the log");
        let kill = Command::new("kill").arg(host.pid().to_string()).status();
        assert!(kill.unwrap().success());
        assert!(host.close(PATIENCE).unwrap().success(), "{kind}");
    }
}

#[test]
fn long_lines_and_endless_lists_delay_nobody_and_give_back_their_memory() {
    for (kind, told) in [
        ("an endless list", "echo"),
        ("a list that begins again", "echo"),
        ("50 MB", "where 8388608 are allowed"),
        ("a line without end", "more than 64 MiB"),
    ] {
        let (answer, most) = asked(kind);
        assert!(text(&answer).contains(told), "{kind}: {answer:.300}");
        assert!(most < 512 << 10, "{kind}: {most} KiB");
    }
}
