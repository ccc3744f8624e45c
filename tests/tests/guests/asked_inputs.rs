//! Folders, variables and settings that a user is asked for before a plugin is started.

use dormouse_tests::wire::{self, Wire};

use super::*;

/// What the plugin of these tests asks for.
const REQUESTS: &str = "/// @grant fs ro what is in it\n\
    /// @grant env DORMOUSE_ZONE the zone\n\
    /// @setting unit {\"isRequired\": true, \"choices\": [\"metric\", \"imperial\"]}\n\
    /// @setting depth {\"format\": \"number\", \"default\": 3}\n";

/// Session of a client whose user can be asked.
struct Asked {
    home: Home,
    wire: Wire,
    next: u64,
}

impl Asked {
    fn start(capabilities: Value) -> Self {
        Self::start_exposed("", capabilities)
    }

    /// Starts it with more lines at the beginning of the configuration.
    fn start_exposed(exposure: &str, capabilities: Value) -> Self {
        let home = Home::new().unwrap();
        let packed = packed_asking(&home, "loud", REQUESTS, "loud");
        home.server("loud", packed.as_ref()).unwrap();
        let servers = std::fs::read_to_string(home.config()).unwrap();
        std::fs::write(home.config(), format!("{exposure}{servers}")).unwrap();
        let mut command = home.command(&["serve"]);
        let mut wire = Wire::spawn(command.env("DORMOUSE_ZONE", "zone-of-tests")).unwrap();
        wire.initialize_able(capabilities).unwrap();
        Self {
            home,
            wire,
            next: 1,
        }
    }

    fn able() -> Self {
        Self::start(json!({ "elicitation": {} }))
    }

    /// Calls `say` so often at once, and gives each question the next of these answers. Returns the
    /// questions, and the results.
    fn calls(&mut self, count: u64, answers: &[Value]) -> (Vec<Value>, Vec<Value>) {
        let ids = self.next..self.next + count;
        self.next = ids.end;
        for id in ids.clone() {
            let call = json!({ "name": "loud__say", "arguments": { "text": "aloud" } });
            self.wire
                .send(&wire::request(id, "tools/call", call))
                .unwrap();
        }
        let (mut questions, mut results) = (Vec::new(), Vec::new());
        while results.len() < ids.clone().count() {
            let message = self.wire.receive().unwrap();
            if message["method"] == "elicitation/create" {
                let result = &answers[questions.len()];
                questions.push(message["params"].clone());
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                self.wire.send(&answer).unwrap();
            } else if message["id"].as_u64().is_some_and(|id| ids.contains(&id)) {
                results.push(message["result"].clone());
            }
        }
        (questions, results)
    }

    fn configuration(&self) -> String {
        std::fs::read_to_string(self.home.config()).unwrap()
    }

    fn folder(&self) -> String {
        let folder = self.home.path().join("notes");
        std::fs::create_dir_all(&folder).unwrap();
        folder.canonicalize().unwrap().to_str().unwrap().to_owned()
    }
}

/// Returns an answer with a folder, a yes to the variable, and a unit.
fn filled_in(answer: &str, folder: &str, unit: &str) -> Value {
    json!({
        "action": "accept",
        "content": { "answer": answer, "request1": folder, "request2": true, "request3": unit },
    })
}

fn is_good(result: &Value) -> bool {
    result["isError"] != true && result.to_string().contains("aloud")
}

#[test]
fn what_a_plugin_asks_for_is_asked_once_before_it_is_started() {
    let mut asked = Asked::able();
    let folder = asked.folder();
    // All first calls share one question, and what is given holds for the session.
    let (questions, results) = asked.calls(3, &[filled_in("session", &folder, "metric")]);
    assert!(results.iter().all(is_good), "{results:?}");
    assert_eq!(questions.len(), 1);
    let message = questions[0]["message"].as_str().unwrap();
    for part in [
        "`loud`",
        "to read a folder",
        "Its author says why: what is in it",
        "`DORMOUSE_ZONE`",
        "`unit`, one of `metric`, `imperial`",
    ] {
        assert!(message.contains(part), "no `{part}` in {message}");
    }
    // What has a default, or is not needed, is not asked for.
    assert!(!message.contains("depth"), "{message}");
    let fields = &questions[0]["requestedSchema"]["properties"];
    assert_eq!(fields["request3"]["enum"], json!(["metric", "imperial"]));
    let (questions, results) = asked.calls(1, &[]);
    assert!(questions.is_empty() && is_good(&results[0]), "{results:?}");
    let text = asked.configuration();
    assert!(
        !text.contains("metric") && !text.contains("notes"),
        "{text}"
    );
}

/// Whether a call is made is asked last: what may change while another form is open is not what its
/// user agrees to.
#[test]
fn a_call_is_confirmed_after_what_its_plugin_needs_is_given() {
    let exposure = "[exposure]\nmode = 'direct'\nconfirm = ['destructive']\n\n";
    let mut asked = Asked::start_exposed(exposure, json!({ "elicitation": {} }));
    let folder = asked.folder();
    let once = json!({ "action": "accept", "content": { "answer": "once" } });
    let answers = [filled_in("session", &folder, "metric"), once.clone(), once];
    let (questions, results) = asked.calls(1, &answers);
    let fields = |question: &Value| question["requestedSchema"]["properties"].clone();
    assert_eq!(questions.len(), 2, "{questions:?}");
    assert!(fields(&questions[0])["request1"].is_object());
    assert!(fields(&questions[1])["request1"].is_null(), "{questions:?}");
    let message = questions[1]["message"].as_str().unwrap();
    assert!(message.contains("May it?"), "{message}");
    assert!(is_good(&results[0]), "{results:?}");
}

#[test]
fn what_its_user_always_gives_is_written_down() {
    let mut asked = Asked::able();
    let folder = asked.folder();
    let (questions, results) = asked.calls(1, &[filled_in("always", &folder, "imperial")]);
    assert!(is_good(&results[0]) && questions.len() == 1, "{results:?}");
    let shown = asked.home.json(&["grants", "loud", "--json"]).unwrap();
    assert_eq!(shown["fs"][0]["path"], json!(folder));
    assert_eq!(shown["fs"][0]["mode"], "ro");
    assert_eq!(shown["env"], json!(["DORMOUSE_ZONE"]));
    assert_eq!(shown["settings"], json!({ "unit": "imperial" }));
    let (questions, results) = asked.calls(1, &[]);
    assert!(questions.is_empty() && is_good(&results[0]), "{results:?}");
}

#[test]
fn a_wrong_answer_is_asked_again_with_why_and_not_for_ever() {
    let mut asked = Asked::able();
    let own = asked.home.config().parent().unwrap().to_owned();
    let answers = [
        filled_in("session", "/nonexistent/notes", "metric"),
        filled_in("session", own.to_str().unwrap(), "metric"),
        filled_in("session", "", "miles"),
    ];
    let (questions, results) = asked.calls(1, &answers);
    assert_eq!(results[0]["isError"], true, "{results:?}");
    assert_eq!(questions.len(), 3);
    for (question, part) in questions
        .iter()
        .zip(["", "there is no folder", "This cannot be"])
    {
        let message = question["message"].as_str().unwrap();
        assert!(message.contains(part), "no `{part}` in {message}");
    }
    let (questions, _) = asked.calls(1, &[]);
    assert!(questions.is_empty());
}

#[test]
fn a_no_holds_and_who_cannot_be_asked_is_told_the_command() {
    let command = "dormouse grant loud --setting unit=metric";
    let mut refused = Asked::able();
    let (questions, results) = refused.calls(1, &[json!({ "action": "decline" })]);
    assert_eq!(questions.len(), 1);
    let mut unable = Asked::start(json!({}));
    let (_, told) = unable.calls(1, &[]);
    for result in [&results[0], &told[0]] {
        let is_told = result.to_string().contains(command);
        assert!(result["isError"] == true && is_told, "{result}");
    }
    let (questions, _) = refused.calls(1, &[]);
    assert!(questions.is_empty());
    // The command works, and the host that runs follows.
    let words = ["grant", "loud", "--setting", "unit=metric", "--yes"];
    let output = refused.home.run(&words).unwrap();
    assert!(output.status.success(), "{output:?}");
    let (questions, results) = refused.calls(1, &[]);
    assert!(questions.is_empty() && is_good(&results[0]), "{results:?}");
}
