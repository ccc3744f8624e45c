//! Guests that are after an answer of their user which would grant them something.

use std::time::Duration;

use dormouse_tests::http::Session;
use dormouse_tests::wire::{self, Wire};
use dormouse_tests::{Home, artifacts};
use serde_json::{Value, json};

use super::canary::Canaries;
use super::{Outcome, WELL, all_refused, good_host, outcomes};

/// Most questions about grants that a user is asked in one session.
const MAX_QUESTIONS: usize = 64;

/// Session of a client whose user can be asked.
struct Asked {
    home: Home,
    wire: Wire,
    next: u64,
}

impl Asked {
    /// Starts a host with a guest that is granted some requests, and asks for others.
    fn start(guest: &str, granted: &str, requested: &str) -> Self {
        let home = Home::new().unwrap();
        let packed = packed(&home, guest, requested);
        let more = format!("grants.http = ['http://{granted}']");
        home.server_with("guest", packed.as_ref(), &more).unwrap();
        let mut wire = Wire::spawn(&mut home.command(&["serve"])).unwrap();
        wire.initialize_able(json!({ "elicitation": {} })).unwrap();
        Self {
            home,
            wire,
            next: 1,
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let call = json!({ "name": format!("guest__{tool}"), "arguments": arguments });
        self.wire
            .send(&wire::request(id, "tools/call", call))
            .unwrap();
        id
    }

    fn answer(&mut self, question: &Value, answer: &str) {
        let result = json!({ "action": "accept", "content": { "answer": answer } });
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        self.wire.send(&answer).unwrap();
    }

    /// Returns the next question, or the result of a call.
    fn next(&mut self, id: u64) -> Result<Value, Value> {
        loop {
            let message = self.wire.receive().unwrap();
            if message["method"] == "elicitation/create" {
                return Ok(message);
            }
            if message["id"] == id {
                return Err(message["result"].clone());
            }
        }
    }

    /// Lets the guest try all, and gives each question that answer. Returns the questions, and what
    /// came of the tries.
    fn attempt(&mut self, other: &str, answer: &str) -> (Vec<String>, Vec<Outcome>) {
        let id = self.call("attempt", json!({ "granted": "", "other": other }));
        let mut questions = Vec::new();
        loop {
            match self.next(id) {
                Ok(question) => {
                    questions.push(question["params"].to_string());
                    self.answer(&question, answer);
                }
                Err(result) => return (questions, outcomes(&result)),
            }
        }
    }

    /// Checks that nothing was granted, and that a good request goes through.
    fn ends_well(mut self, granted: &str, before: &str) {
        let configuration = std::fs::read_to_string(self.home.config()).unwrap();
        assert_eq!(configuration, before);
        let id = self.call("get", json!({ "url": format!("http://{granted}/well") }));
        let result = self.next(id).unwrap_err();
        assert_eq!(result["content"][0]["text"], WELL, "{result}");
        self.wire.close();
        assert!(self.wire.wait(Duration::from_secs(6)).unwrap().success());
    }

    fn configuration(&self) -> String {
        std::fs::read_to_string(self.home.config()).unwrap()
    }
}

/// Packs a guest that asks for requests over HTTP, and returns its file.
fn packed(home: &Home, guest: &str, requested: &str) -> String {
    let wit = artifacts::workspace().join("tests/hostile-guests/wit/hostile-guests.wit");
    let wit = std::fs::read_to_string(wit).unwrap();
    let asking = format!("/// @grant http {requested} to be had\nworld ");
    let file = home.path().join("hostile-guests.wit");
    std::fs::write(&file, wit.replacen("world ", &asking, 1)).unwrap();
    let packed = home.path().join("plugins/guest.wasm");
    let component = artifacts::hostile_guest(guest).unwrap();
    let [component, file, packed] =
        [&component, &file, &packed].map(|path| path.to_str().unwrap().to_owned());
    let pack = ["pack", &component, "--wit", &file, "-o", &packed];
    let output = home.run(&pack).unwrap();
    assert!(output.status.success(), "{output:?}");
    packed
}

#[test]
pub(super) fn imitating_questions() {
    let good = good_host("127.0.0.1:0");
    let canaries = Canaries::start(&["127.0.0.1"], 0);
    let granted = good.authority();
    let mut asked = Asked::start("imitating_questions", &granted, "https://other.example");
    let before = asked.configuration();
    let (questions, outcomes) = asked.attempt(&canaries.authority(), "always");
    assert!(!questions.is_empty());
    for question in &questions {
        assert!(question.contains("[server `guest`]"), "{question}");
        for imitated in ["[server `good`]", "[server `dormouse`]"] {
            assert!(!question.contains(imitated), "{question}");
        }
        let hidden = ["\\u001b", "\u{202e}", "\u{2028}", "\u{2029}"];
        assert!(
            !hidden.iter().any(|one| question.contains(one)),
            "{question}"
        );
    }
    all_refused(&outcomes[outcomes.len() - 1..]);
    canaries.heard_nothing();
    asked.ends_well(&granted, &before);
}

#[test]
pub(super) fn flood_of_questions() {
    let good = good_host("127.0.0.1:0");
    let granted = good.authority();
    let paths = (0..8).map(|number| {
        let at = format!("http://one.flood.example:8080/path-{number}");
        format!("{at} to be had\n/// @grant http ")
    });
    let paths: String = paths.collect();
    let requested = format!("{paths}http://*.flood.example:8080");
    let mut asked = Asked::start("flood_of_questions", &granted, &requested);
    let before = asked.configuration();
    let (questions, outcomes) = asked.attempt("flood.example:8080", "no");
    assert!(
        !questions.is_empty() && questions.len() <= MAX_QUESTIONS,
        "{}",
        questions.len()
    );
    let of_one = questions.iter();
    let of_one = of_one.filter(|question| question.contains("one.flood.example"));
    assert_eq!(of_one.count(), 1, "one for each path");
    all_refused(&outcomes);
    let (again, outcomes) = asked.attempt("flood.example:8080", "no");
    assert!(
        questions.len() + again.len() <= MAX_QUESTIONS,
        "{}",
        again.len()
    );
    all_refused(&outcomes);
    asked.ends_well(&granted, &before);
}

#[test]
pub(super) fn late_answers() {
    let good = good_host("127.0.0.1:0");
    let canaries = Canaries::start(&["127.0.0.1"], 0);
    let granted = good.authority();
    let requested = format!("GET http://{}", canaries.authority());
    let mut asked = Asked::start("late_answers", &granted, &requested);
    let before = asked.configuration();
    for answer in ["once", "session", "always"] {
        let arguments = json!({ "granted": "", "other": canaries.authority() });
        let id = asked.call("attempt", arguments);
        let question = asked.next(id).unwrap();
        let params = json!({ "requestId": id, "reason": "no longer wanted" });
        let cancelled = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params,
        });
        asked.wire.send(&cancelled).unwrap();
        // Longer than a cancelled call goes on.
        std::thread::sleep(Duration::from_secs(1));
        asked.answer(&question, answer);
        std::thread::sleep(Duration::from_millis(200));
    }
    canaries.heard_nothing();
    asked.ends_well(&granted, &before);
}

/// Where several clients share a host, none is asked for a grant, and no answer of any of them is one.
#[test]
pub(super) fn answers_of_other_sessions() {
    let good = good_host("127.0.0.1:0");
    let canaries = Canaries::start(&["127.0.0.1"], 0);
    let home = Home::new().unwrap();
    let requested = format!("GET http://{}", canaries.authority());
    let packed = packed(&home, "answers_of_other_sessions", &requested);
    let more = format!("grants.http = ['http://{}']", good.authority());
    home.server_with("guest", packed.as_ref(), &more).unwrap();
    let before = std::fs::read_to_string(home.config()).unwrap();
    let server = home.serve_http(&[]).unwrap();
    let able = json!({ "elicitation": {} });
    let own = Session::open_able(&server, able.clone()).unwrap();
    let other = Session::open_able(&server, able).unwrap();
    let call = |tool: &str, arguments: Value| {
        let call = json!({ "name": format!("guest__{tool}"), "arguments": arguments });
        own.request(1, "tools/call", call)
    };
    for answer in ["once", "session", "always"] {
        let arguments = json!({ "granted": "", "other": canaries.authority() });
        let calling = server.begin(&call("attempt", arguments)).unwrap();
        // Ids as Dormouse might have them.
        for id in 0..16 {
            let result = json!({ "action": "accept", "content": { "answer": answer } });
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
            server.ask(&other.message(&answer)).unwrap();
        }
        let result = calling.answer().unwrap().result().unwrap();
        all_refused(&outcomes(&result));
    }
    canaries.heard_nothing();
    assert_eq!(std::fs::read_to_string(home.config()).unwrap(), before);
    let url = json!({ "url": format!("http://{}/well", good.authority()) });
    let answer = server.ask(&call("get", url)).unwrap().result().unwrap();
    assert_eq!(answer["content"][0]["text"], WELL, "{answer}");
}
