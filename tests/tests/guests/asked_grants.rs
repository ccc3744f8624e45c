//! Grants of HTTP requests that a user is asked for while a plugin runs.

use dormouse_tests::recording_host::RecordingHost;
use dormouse_tests::wire::{self, Wire};

use super::*;

/// Session of a client whose user can be asked.
struct Asked {
    home: Home,
    wire: Wire,
    next: u64,
    host: RecordingHost,
}

impl Asked {
    /// Starts a host with a plugin that asks for requests to one host.
    fn start(capabilities: Value) -> Self {
        let home = Home::new().unwrap();
        let host = RecordingHost::answering("it is well").unwrap();
        let request = format!(
            "/// @grant http GET http://{} to see how it is\n",
            host.authority()
        );
        let packed = packed_asking(&home, "http", &request, "asks");
        home.server("asks", packed.as_ref()).unwrap();
        let mut wire = Wire::spawn(&mut home.command(&["serve"])).unwrap();
        wire.request(0, "initialize", wire::initialize(capabilities))
            .unwrap();
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        wire.send(&ready).unwrap();
        Self {
            home,
            wire,
            next: 1,
            host,
        }
    }

    fn able() -> Self {
        Self::start(json!({ "elicitation": {} }))
    }

    /// Calls the plugin, and gives each question that answer. Returns the questions, and the result.
    fn call(&mut self, method: &str, path: &str, answer: Option<&Value>) -> (Vec<Value>, Value) {
        let (questions, mut results) = self.calls_at_once(1, method, path, answer);
        (questions, results.remove(0))
    }

    /// Calls the plugin so many times at once.
    fn calls_at_once(
        &mut self,
        count: u64,
        method: &str,
        path: &str,
        answer: Option<&Value>,
    ) -> (Vec<Value>, Vec<Value>) {
        let ids = self.next..self.next + count;
        self.next = ids.end;
        for id in ids.clone() {
            let arguments = json!({
                "method": method, "scheme": "http", "authority": self.host.authority(),
                "path": path, "headers": [], "body": "",
            });
            let call = json!({ "name": "asks__send", "arguments": arguments });
            self.wire
                .send(&wire::request(id, "tools/call", call))
                .unwrap();
        }
        let (mut questions, mut results) = (Vec::new(), Vec::new());
        while results.len() < ids.clone().count() {
            let message = self.wire.receive().unwrap();
            if message["method"] == "elicitation/create" {
                questions.push(message["params"].clone());
                let result = answer.unwrap();
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                self.wire.send(&answer).unwrap();
            } else if message["id"].as_u64().is_some_and(|id| ids.contains(&id)) {
                results.push(message["result"].clone());
            }
        }
        (questions, results)
    }

    fn grants(&self) -> String {
        let output = self.home.run(&["grants", "asks"]).unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

fn chosen(answer: &str) -> Value {
    json!({ "action": "accept", "content": { "answer": answer } })
}

fn is_answered(result: &Value) -> bool {
    result["isError"] != true && result.to_string().contains("it is well")
}

#[test]
fn a_request_that_is_asked_for_goes_on_when_its_user_allows_it() {
    let mut asked = Asked::able();
    let (questions, result) = asked.call("GET", "/a", Some(&chosen("once")));
    assert!(is_answered(&result), "{result}");
    assert_eq!(questions.len(), 1);
    let message = questions[0]["message"].as_str().unwrap();
    let host = asked.host.authority();
    let (name, port) = host.split_once(':').unwrap();
    for part in [
        "`asks`",
        "GET requests to",
        name,
        port,
        "Its author says why: to see",
    ] {
        assert!(message.contains(part), "no `{part}` in {message}");
    }
    // Once is for this call alone; a session is for all of its calls.
    let (questions, result) = asked.call("GET", "/b", Some(&chosen("session")));
    assert!(is_answered(&result) && questions.len() == 1, "{result}");
    let (questions, result) = asked.call("GET", "/c", None);
    assert!(is_answered(&result) && questions.is_empty(), "{result}");
    // Nothing of that is in the configuration, and nothing else is allowed or asked about.
    assert!(
        asked.grants().contains("granted nothing"),
        "{}",
        asked.grants()
    );
    let (questions, result) = asked.call("POST", "/c", None);
    assert!(
        result["isError"] == true && questions.is_empty(),
        "{result}"
    );
    assert_eq!(asked.host.received().len(), 3);
}

#[test]
fn what_its_user_always_allows_is_granted_from_then_on() {
    let mut asked = Asked::able();
    let (questions, result) = asked.call("GET", "/a", Some(&chosen("always")));
    assert!(is_answered(&result) && questions.len() == 1, "{result}");
    let expected = format!("GET http://{}", asked.host.authority());
    let configuration = std::fs::read_to_string(asked.home.config()).unwrap();
    assert!(configuration.contains(&expected), "{configuration}");
    let (questions, result) = asked.call("GET", "/b", None);
    assert!(is_answered(&result) && questions.is_empty(), "{result}");
    // What is taken away is not granted by an earlier answer either.
    let revoked = asked.home.run(&["revoke", "asks", "--all"]).unwrap();
    assert!(revoked.status.success(), "{revoked:?}");
    let (questions, result) = asked.call("GET", "/c", Some(&chosen("no")));
    assert!(
        result["isError"] == true && questions.len() == 1,
        "{result}"
    );
    assert_eq!(asked.host.received().len(), 2);
}

#[test]
fn a_no_holds_for_the_session_and_nobody_else_is_asked() {
    for refusal in [
        chosen("no"),
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept", "content": { "answer": "yes" } }),
        json!({ "action": "accept" }),
    ] {
        let mut asked = Asked::able();
        let (questions, result) = asked.call("GET", "/a", Some(&refusal));
        assert!(
            result["isError"] == true && questions.len() == 1,
            "{refusal}: {result}"
        );
        assert!(
            result
                .to_string()
                .contains("dormouse grant asks --grant-http"),
            "{result}"
        );
        let (questions, result) = asked.call("GET", "/a", None);
        assert!(
            result["isError"] == true && questions.is_empty(),
            "{result}"
        );
        assert_eq!(asked.host.received(), [""; 0]);
    }
    let mut asked = Asked::start(json!({}));
    let (_, result) = asked.call("GET", "/a", None);
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(asked.host.received(), [""; 0]);
}

#[test]
fn calls_at_once_share_one_answer() {
    for answer in ["no", "session"] {
        let mut asked = Asked::able();
        let given = chosen(answer);
        let (questions, results) = asked.calls_at_once(16, "GET", "/a", Some(&given));
        assert_eq!(questions.len(), 1, "{answer}: {results:?}");
        for result in &results {
            assert_eq!(is_answered(result), answer == "session", "{result}");
        }
    }
}
