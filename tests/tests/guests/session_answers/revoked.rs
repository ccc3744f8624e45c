//! Answers that are taken back: of what runs, and beside what the configuration grants.

use dormouse_tests::{recording_host, wait};

use super::*;

#[test]
fn what_is_always_allowed_ends_with_its_line_in_the_configuration() {
    let mut asked = Asked::with(requests);
    let before = asked.configuration();
    let (_, result) = asked.send(|question| filled_in(question, "always", ""));
    assert!(is_answered(&result), "{result}");
    assert_ne!(asked.configuration(), before);
    asked.configure(&before);
    let (questions, result) = asked.send(declined);
    assert_eq!(questions.len(), 1, "{questions:?}");
    assert!(!is_answered(&result), "{result}");
    assert_eq!(asked.host.received().len(), 1);
}

/// A call that sends one request after the other ends, although its server was replaced since it
/// began, with which it went on.
#[test]
fn a_call_ends_with_the_answer_that_it_goes_on_with() {
    for answer in ["session", "always"] {
        let host = RecordingHost::start(|_| {
            std::thread::sleep(Duration::from_millis(50));
            recording_host::http("200 OK", "", "it is well")
        });
        let mut asked = Asked::at(host.unwrap(), requests);
        let before = asked.configuration();
        let comes = |asked: &Asked, count: usize| {
            let count = asked.host.received().len() + count;
            wait::until("more requests", || {
                anyhow::ensure!(asked.host.received().len() >= count);
                Ok(())
            })
            .unwrap();
        };
        let at = asked.host.authority();
        let arguments = json!({ "authority": at, "count": 900, "in_flight": 1 });
        let id = asked.begin("time_gets", arguments);
        asked.answer_next(|question| filled_in(question, answer, ""));
        comes(&asked, 3);
        if answer == "session" {
            let limits = "\n[servers.asks.limits]\nhttp_requests = 1001\n";
            asked.configure(&format!("{before}{limits}"));
            comes(&asked, 3);
            asked.run(&["revoke", "asks", "--all"]);
        } else {
            assert_ne!(asked.configuration(), before);
            asked.configure(&before);
        }
        let (_, result) = asked.end(id, declined);
        let told = "was switched off, removed or changed";
        assert!(result.to_string().contains(told), "{answer}: {result}");
        // One may have been on its way.
        std::thread::sleep(Duration::from_millis(300));
        let sent = asked.host.received().len();
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(asked.host.received().len(), sent, "{answer}");
    }
}

#[test]
fn answers_end_where_a_url_has_the_name_of_their_plugin_meanwhile() {
    let mut asked = given();
    let before = asked.configuration();
    asked.configure("[servers.asks]\nurl = 'http://127.0.0.1:9/mcp'\n");
    asked.configure(&before);
    let (questions, result) = asked.send(declined);
    assert_eq!(questions.len(), 2, "{questions:?}");
    assert!(!is_answered(&result), "{result}");
}
