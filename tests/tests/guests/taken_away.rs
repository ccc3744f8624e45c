//! Grants and secrets that are taken away from a plugin while one of its calls runs.

use dormouse_tests::artifacts;
use dormouse_tests::recording_host::{self, RecordingHost};
use dormouse_tests::wait;

use super::*;

const KEY: &str = "k3y-of-the-environment";

/// Changes of the configuration before something is taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// Ones with which calls go on.
    OtherLimits,
    OtherFile,
}

/// A call that sends one request after the other ends, and sends nothing any more: also where its
/// server was replaced before, with which its calls went on.
#[test]
fn a_call_that_runs_ends_with_what_it_was_given() {
    for (before, words) in [
        (Before::Nothing, &["revoke", "http", "--secret", "key"][..]),
        (Before::OtherLimits, &["revoke", "http", "--all"]),
        (Before::OtherFile, &["disable", "http"]),
        (Before::OtherFile, &["remove", "http"]),
    ] {
        let api = RecordingHost::start(|_| {
            std::thread::sleep(Duration::from_millis(50));
            recording_host::http("200 OK", "", "it is well")
        })
        .unwrap();
        let home = Home::new().unwrap();
        let file = home.path().join("own.wasm");
        std::fs::copy(artifacts::guest("http").unwrap(), &file).unwrap();
        let at = api.authority();
        let more = format!(
            "grants.http = ['http://{at}']\n\
             secrets.key = {{ env = 'KEY', hosts = ['http://{at}'], header = 'X-Key' }}\n"
        );
        home.server_with("http", &file, &more).unwrap();
        let mut client = Client::start(home.command(&["serve"]).env("KEY", KEY)).unwrap();
        let arguments = json!({ "authority": at, "count": 900, "in_flight": 1 });
        let call = json!({ "name": "http__time_gets", "arguments": arguments });
        let id = client.send("tools/call", call).unwrap();
        let comes = |count: usize| {
            wait::until("more requests", || {
                anyhow::ensure!(api.received().len() >= count);
                Ok(())
            })
            .unwrap();
        };
        comes(3);
        assert!(api.received()[0].contains(KEY));
        match before {
            Before::Nothing => {}
            Before::OtherLimits => {
                let text = std::fs::read_to_string(home.config()).unwrap();
                let limits = "\n[servers.http.limits]\nhttp_requests = 1001\n";
                std::fs::write(home.config(), text + limits).unwrap();
            }
            Before::OtherFile => {
                std::fs::remove_file(&file).unwrap();
                std::fs::copy(artifacts::guest("http").unwrap(), &file).unwrap();
            }
        }
        // With that, it goes on.
        std::thread::sleep(Duration::from_secs(2));
        comes(api.received().len() + 3);
        let output = home.run(words).unwrap();
        assert!(output.status.success(), "{before:?} {words:?}: {output:?}");
        let answer = client.answer(id).unwrap();
        let text = client::text(&answer["result"]).unwrap_or_default();
        assert!(
            text.contains("was switched off, removed or changed"),
            "{before:?} {words:?}: {answer}"
        );
        // One may have been on its way.
        std::thread::sleep(Duration::from_millis(300));
        let sent = api.received().len();
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(api.received().len(), sent, "{before:?} {words:?}");
    }
}
