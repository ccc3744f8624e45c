//! Answers of a user to the forms of a plugin: for how long they hold, and for which plugin.

mod revoked;

use std::path::{Path, PathBuf};
use std::process::Command;

use dormouse_tests::recording_host::RecordingHost;
use dormouse_tests::wire::{self, Wire};

use super::*;

/// Value of the variable that the plugin of these tests asks for.
const ZONE: &str = "zone-of-tests";

/// Value of another variable, which it does not ask for.
const OTHER: &str = "other-of-tests";

/// Host with a plugin that asks for a folder, a variable or requests to one host.
struct Asked {
    home: Home,
    wire: Wire,
    host: RecordingHost,
    packed: PathBuf,
    next: u64,
}

impl Asked {
    fn with(requests: impl Fn(&str) -> String) -> Self {
        Self::at(RecordingHost::answering("it is well").unwrap(), requests)
    }

    fn at(host: RecordingHost, requests: impl Fn(&str) -> String) -> Self {
        let home = Home::new().unwrap();
        let requests = requests(&host.authority());
        let packed = PathBuf::from(packed_asking(&home, "http", &requests, "asks"));
        home.server("asks", &packed).unwrap();
        let mut serve = home.command(&["serve"]);
        let wire = Self::wire(&mut serve);
        Self {
            home,
            wire,
            host,
            packed,
            next: 1,
        }
    }

    /// Starts a host, with a client whose user can be asked.
    fn wire(serve: &mut Command) -> Wire {
        serve
            .env("DORMOUSE_ZONE", ZONE)
            .env("DORMOUSE_OTHER", OTHER);
        let mut wire = Wire::spawn(serve).unwrap();
        wire.initialize_able(json!({ "elicitation": {} })).unwrap();
        wire
    }

    /// Calls a tool, and answers each question. Returns the questions, and the result.
    fn call(
        &mut self,
        tool: &str,
        arguments: Value,
        answer: impl Fn(&Value) -> Value,
    ) -> (Vec<Value>, Value) {
        let id = self.begin(tool, arguments);
        self.end(id, answer)
    }

    /// Begins a call, and returns its id.
    fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let call = json!({ "name": format!("asks__{tool}"), "arguments": arguments });
        self.wire
            .send(&wire::request(id, "tools/call", call))
            .unwrap();
        id
    }

    /// Answers the next question, and returns it.
    fn answer_next(&mut self, answer: impl Fn(&Value) -> Value) -> Value {
        loop {
            let message = self.wire.receive().unwrap();
            if message["method"] == "elicitation/create" {
                self.answer(&message, answer);
                return message["params"].clone();
            }
            assert!(message["result"].is_null(), "{message}");
        }
    }

    fn answer(&mut self, message: &Value, answer: impl Fn(&Value) -> Value) {
        let result = answer(&message["params"]);
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        self.wire.send(&answer).unwrap();
    }

    /// Waits for the result of a call, and answers each question. Returns the questions, and the
    /// result.
    fn end(&mut self, id: u64, answer: impl Fn(&Value) -> Value) -> (Vec<Value>, Value) {
        let mut questions = Vec::new();
        loop {
            let message = self.wire.receive().unwrap();
            if message["method"] == "elicitation/create" {
                self.answer(&message, &answer);
                questions.push(message["params"].clone());
            } else if message["id"].as_u64() == Some(id) {
                return (questions, message["result"].clone());
            }
        }
    }

    /// Has the plugin look at the variable.
    fn look(&mut self, answer: impl Fn(&Value) -> Value) -> (Vec<Value>, Value) {
        self.call("variable", json!({ "name": "DORMOUSE_ZONE" }), answer)
    }

    /// Has the plugin send a request.
    fn send(&mut self, answer: impl Fn(&Value) -> Value) -> (Vec<Value>, Value) {
        let arguments = json!({
            "method": "GET", "scheme": "http", "authority": self.host.authority(),
            "path": "/", "headers": [], "body": "",
        });
        self.call("send", arguments, answer)
    }

    fn run(&self, words: &[&str]) {
        let output = self.home.run(words).unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
    }

    fn configuration(&self) -> String {
        std::fs::read_to_string(self.home.config()).unwrap()
    }

    /// Writes the configuration by hand, and has the host read it at once.
    fn configure(&self, text: &str) {
        std::fs::write(self.home.config(), text).unwrap();
        self.run(&["add", "beside", self.packed.to_str().unwrap()]);
    }

    fn folder(&self) -> String {
        let folder = self.home.path().join("notes");
        std::fs::create_dir_all(&folder).unwrap();
        folder.canonicalize().unwrap().to_str().unwrap().to_owned()
    }

    /// Returns another plugin with the same tools, which asks for nothing.
    fn other(&self) -> Vec<u8> {
        let other = packed_asking(&self.home, "http", "/// It asks for nothing.\n", "other");
        std::fs::read(other).unwrap()
    }
}

/// Puts another file in the place of one, at once.
fn replace_file(file: &Path, bytes: &[u8]) {
    let next = file.with_extension("next");
    std::fs::write(&next, bytes).unwrap();
    std::fs::rename(&next, file).unwrap();
}

/// Returns an answer that fills in each field of a form.
fn filled_in(question: &Value, answer: &str, folder: &str) -> Value {
    let fields = question["requestedSchema"]["properties"].as_object();
    let content = fields.unwrap().iter().map(|(name, field)| {
        let value = match (name.as_str(), field["type"].as_str()) {
            ("answer", _) => json!(answer),
            (_, Some("boolean")) => json!(true),
            _ => json!(folder),
        };
        (name.clone(), value)
    });
    let content: serde_json::Map<_, _> = content.collect();
    json!({ "action": "accept", "content": content })
}

fn unasked(question: &Value) -> Value {
    panic!("nobody was to be asked: {question}")
}

fn inputs(_: &str) -> String {
    "/// @grant fs ro what is in it\n/// @grant env DORMOUSE_ZONE the zone\n".to_owned()
}

fn requests(host: &str) -> String {
    format!("/// @grant http GET http://{host} to see how it is\n")
}

#[test]
fn what_is_given_before_a_start_is_not_given_to_a_plugin_that_has_come_meanwhile() {
    for answer in ["session", "always"] {
        let mut asked = Asked::with(inputs);
        let (folder, other) = (asked.folder(), asked.other());
        let packed = asked.packed.clone();
        let configured = asked.configuration();
        let replace = |question: &Value| {
            replace_file(&packed, &other);
            filled_in(question, answer, &folder)
        };
        let (questions, result) = asked.look(replace);
        assert_eq!(questions.len(), 1, "{answer}");
        let told = "its plugin was replaced";
        let is_told = result.to_string().contains(told);
        assert!(result["isError"] == true && is_told, "{answer}: {result}");
        assert_eq!(asked.configuration(), configured, "{answer}");
        let (_, result) = asked.look(unasked);
        assert!(!result.to_string().contains(ZONE), "{answer}: {result}");
    }
}

/// A call that waits for the form of another is for the plugin that it was made for.
#[test]
fn a_call_that_waits_is_not_asked_about_for_a_plugin_that_has_come_meanwhile() {
    let mut asked = Asked::with(inputs);
    let folder = asked.folder();
    let wants = "/// @grant env DORMOUSE_OTHER another one\n";
    let other = packed_asking(&asked.home, "http", wants, "other");
    let other = std::fs::read(other).unwrap();
    let packed = asked.packed.clone();
    let look = json!({ "name": "DORMOUSE_ZONE" });
    let calls = [(); 2].map(|()| asked.begin("variable", look.clone()));
    asked.answer_next(|question| {
        // By then the other one waits.
        std::thread::sleep(Duration::from_secs(2));
        replace_file(&packed, &other);
        filled_in(question, "session", &folder)
    });
    let mut refused = 0;
    while refused < calls.len() {
        let message = asked.wire.receive().unwrap();
        assert_ne!(message["method"], "elicitation/create", "{message}");
        if message["id"].as_u64().is_some_and(|id| calls.contains(&id)) {
            let result = &message["result"];
            let is_told = result.to_string().contains("its plugin was replaced");
            assert!(result["isError"] == true && is_told, "{message}");
            refused += 1;
        }
    }
}

#[test]
fn a_request_that_is_granted_is_not_granted_to_a_plugin_that_has_come_meanwhile() {
    for answer in ["once", "session", "always"] {
        let mut asked = Asked::with(requests);
        let other = asked.other();
        let packed = asked.packed.clone();
        let configured = asked.configuration();
        let replace = |question: &Value| {
            replace_file(&packed, &other);
            filled_in(question, answer, "")
        };
        let (questions, result) = asked.send(replace);
        assert_eq!(questions.len(), 1, "{answer}");
        assert_eq!(result["isError"], true, "{answer}: {result}");
        assert_eq!(asked.configuration(), configured, "{answer}");
        let (_, result) = asked.send(unasked);
        assert_eq!(result["isError"], true, "{answer}: {result}");
        assert_eq!(asked.host.received(), [""; 0], "{answer}");
    }
}

fn declined(_: &Value) -> Value {
    json!({ "action": "decline" })
}

fn is_answered(result: &Value) -> bool {
    result["isError"] != true && result.to_string().contains("it is well")
}

/// Starts a host, and gives its plugin all that it asks for, for the session.
fn given() -> Asked {
    let mut asked = Asked::with(|host| format!("{}{}", inputs(host), requests(host)));
    let folder = asked.folder();
    let give = |question: &Value| filled_in(question, "session", &folder);
    let (questions, result) = asked.send(give);
    assert!(is_answered(&result) && questions.len() == 2, "{result}");
    let (_, result) = asked.look(unasked);
    assert!(result.to_string().contains(ZONE), "{result}");
    asked
}

#[test]
fn what_is_given_for_the_session_ends_with_the_plugin_that_has_it() {
    for end in ["restart", "revoke", "off and on", "remove and add", "file"] {
        let mut asked = given();
        let file = asked.packed.to_str().unwrap().to_owned();
        match end {
            "restart" => asked.run(&["restart", "asks"]),
            "revoke" => asked.run(&["revoke", "asks", "--all"]),
            "off and on" => {
                asked.run(&["disable", "asks"]);
                asked.run(&["enable", "asks"]);
            }
            "remove and add" => {
                asked.run(&["remove", "asks"]);
                asked.run(&["add", "asks", &file]);
            }
            _ => {
                let bytes = std::fs::read(&asked.packed).unwrap();
                asked.home.replace(&asked.packed, &bytes).unwrap();
            }
        }
        let is_kept = end == "restart";
        let (questions, result) = asked.send(declined);
        let expected = if is_kept { 0 } else { 2 };
        assert_eq!(questions.len(), expected, "{end}: {questions:?}");
        assert_eq!(is_answered(&result), is_kept, "{end}: {result}");
        let (_, result) = asked.look(unasked);
        assert_eq!(
            result.to_string().contains(ZONE),
            is_kept,
            "{end}: {result}"
        );
    }
}

#[test]
fn what_is_revoked_by_its_name_is_taken_back_and_the_rest_stays() {
    let mut asked = given();
    let folder = asked.folder();
    let origin = format!("http://{}", asked.host.authority());
    let revokes_once = |asked: &Asked, option: &str, value: &str| {
        let words = ["revoke", "asks", option, value];
        asked.run(&words);
        let again = asked.home.run(&words).unwrap();
        let told = String::from_utf8_lossy(&again.stderr).into_owned();
        let is_told = told.contains("server `asks` is granted nothing");
        assert!(again.status.code() == Some(1) && is_told, "{told}");
    };
    revokes_once(&asked, "--grant-env", "DORMOUSE_ZONE");
    let (questions, result) = asked.look(declined);
    assert!(!result.to_string().contains(ZONE), "{result}");
    assert_eq!(questions.len(), 1, "{questions:?}");
    // For the variable alone: the folder it still has.
    let fields = &questions[0]["requestedSchema"]["properties"];
    assert_eq!(fields["request1"]["type"], "boolean", "{fields}");
    assert!(fields["request2"].is_null(), "{fields}");
    let (_, result) = asked.send(unasked);
    assert!(is_answered(&result), "{result}");
    revokes_once(&asked, "--grant-fs", &folder);
    revokes_once(&asked, "--grant-http", &origin);
    let (questions, result) = asked.send(declined);
    assert!(
        !is_answered(&result) && questions.len() == 1,
        "{questions:?}: {result}"
    );
}
