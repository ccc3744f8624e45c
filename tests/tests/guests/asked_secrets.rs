//! Secrets that a user is asked for because they have no text: before a plugin is started, and while it
//! runs. None is ever typed into a client.

use std::fs::File;

use dormouse_tests::http::{self, Request};
use dormouse_tests::recording_host::RecordingHost;
use dormouse_tests::wire::{self, Wire};

use super::*;

const TEXT: &str = "s3cret-of-the-store";

/// Host, and a home with a plugin whose requests to it are to have a secret of the user's store.
struct Setting {
    home: Home,
    host: RecordingHost,
}

/// Session of a client.
struct Session {
    wire: Wire,
    next: u64,
}

impl Setting {
    fn new(more: &str) -> Self {
        let home = Home::new().unwrap();
        let host = RecordingHost::answering("it is well").unwrap();
        let at = format!("http://{}", host.authority());
        let request = format!("/// @secret key {{\"hosts\": [\"{at}\"], \"header\": \"X-Key\"}}\n");
        let packed = packed_asking(&home, "http", &request, "asks");
        let more = format!(
            "grants.http = ['{at}']\n{more}\n[servers.asks.secrets]\n\
             key = {{ keyring = 'asks-key', hosts = ['{at}'], header = 'X-Key' }}\n"
        );
        home.server_with("asks", packed.as_ref(), &more).unwrap();
        Self { home, host }
    }

    /// Keeps a secret, as its user does in a terminal.
    fn keep(&self, name: &str) {
        let file = self.home.path().join("typed");
        std::fs::write(&file, TEXT).unwrap();
        let mut set = self.home.command(&["secret", "set", name]);
        let set = set.stdin(File::open(file).unwrap()).output().unwrap();
        assert!(set.status.success(), "{set:?}");
    }

    fn arguments(&self) -> Value {
        json!({
            "method": "GET", "scheme": "http", "authority": self.host.authority(),
            "path": "/a", "headers": [], "body": "",
        })
    }

    fn serve(&self, capabilities: Value) -> Session {
        Session::start(&self.home, capabilities)
    }

    /// Whether the host was sent one request, with that text in it.
    fn is_sent(&self, text: &str) -> bool {
        let received = self.host.received();
        received.len() == 1 && received[0].contains(&format!("x-key: {text}\r\n"))
    }
}

impl Session {
    fn start(home: &Home, capabilities: Value) -> Self {
        let mut wire = Wire::spawn(&mut home.command(&["serve"])).unwrap();
        wire.initialize_able(capabilities).unwrap();
        Self { wire, next: 1 }
    }

    /// Sends a request, and returns its id.
    fn begin(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.wire.send(&wire::request(id, method, params)).unwrap();
        id
    }

    /// Reads messages until one is wanted.
    fn until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.wire.receive().unwrap();
            if is_wanted(&message) {
                return message;
            }
        }
    }

    fn question(&mut self) -> Value {
        self.until(|message| message["method"] == "elicitation/create" || message["id"].is_u64())
    }

    fn answer(&mut self, question: &Value, answer: &Value) {
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer });
        self.wire.send(&answer).unwrap();
    }

    fn result(&mut self, id: u64) -> Value {
        let answer = self.until(|message| message["id"] == id || message["method"] == ASK);
        assert!(answer["method"].is_null(), "asked again: {answer}");
        answer["result"].clone()
    }
}

const ASK: &str = "elicitation/create";

fn chosen(answer: &str) -> Value {
    json!({ "action": "accept", "content": { "answer": answer } })
}

fn call(setting: &Setting) -> Value {
    json!({ "name": "asks__send", "arguments": setting.arguments() })
}

fn is_answered(result: &Value) -> bool {
    result["isError"] != true && result.to_string().contains("it is well")
}

/// The call waits longer than it may run.
#[test]
fn a_call_goes_on_once_its_secret_is_given_in_a_terminal() {
    let setting = Setting::new("limits.timeout = '4s'");
    let mut session = setting.serve(json!({ "elicitation": {} }));
    let id = session.begin("tools/call", call(&setting));
    let question = session.question();
    let message = question["params"]["message"].as_str().unwrap();
    let host = format!("http://{}", setting.host.authority());
    for part in [
        "`asks`",
        "`key`",
        &host,
        "never here",
        "`dormouse secret set asks-key`",
        "`dormouse grant asks --secret key`",
    ] {
        assert!(message.contains(part), "no `{part}` in {message}");
    }
    // There is no field for a text.
    let fields = &question["params"]["requestedSchema"]["properties"];
    assert_eq!(fields.as_object().unwrap().len(), 1, "{fields}");
    assert_eq!(fields["answer"]["enum"], json!(["done", "no"]));
    std::thread::sleep(Duration::from_secs(5));
    setting.keep("asks-key");
    assert_eq!(setting.host.received(), [""; 0]);
    session.answer(&question, &chosen("done"));
    let result = session.result(id);
    assert!(is_answered(&result) && setting.is_sent(TEXT), "{result}");
    let id = session.begin("tools/call", call(&setting));
    assert!(is_answered(&session.result(id)));
}

#[test]
fn a_secret_may_come_from_elsewhere_by_then() {
    let setting = Setting::new("");
    let mut session = setting.serve(json!({ "elicitation": {} }));
    let id = session.begin("tools/call", call(&setting));
    let question = session.question();
    setting.keep("other");
    let words = ["grant", "asks", "--secret", "key=keyring:other", "--yes"];
    let output = setting.home.run(&words).unwrap();
    assert!(output.status.success(), "{output:?}");
    session.answer(&question, &chosen("done"));
    let result = session.result(id);
    assert!(is_answered(&result) && setting.is_sent(TEXT), "{result}");
}

#[test]
fn a_no_holds_and_who_only_says_done_is_asked_a_few_times() {
    for (answer, count) in [
        (chosen("no"), 1),
        (json!({ "action": "decline" }), 1),
        (
            json!({ "action": "accept", "content": { "answer": "s3cret" } }),
            1,
        ),
        (chosen("done"), 3),
    ] {
        let setting = Setting::new("");
        let mut session = setting.serve(json!({ "elicitation": {} }));
        let id = session.begin("tools/call", call(&setting));
        for _ in 0..count {
            let question = session.question();
            assert_eq!(question["method"], ASK, "{answer}: {question}");
            session.answer(&question, &answer);
        }
        let result = session.result(id);
        let is_told = result.to_string().contains("dormouse secret set asks-key");
        assert!(result["isError"] == true && is_told, "{answer}: {result}");
        if count == 1 {
            let id = session.begin("tools/call", call(&setting));
            assert_eq!(session.result(id)["isError"], true);
        }
        assert_eq!(setting.host.received(), [""; 0]);
    }
}

#[test]
fn a_call_asks_a_few_times_however_many_of_its_requests_need_a_secret() {
    let setting = Setting::new("");
    let mut session = setting.serve(json!({ "elicitation": {} }));
    let at = setting.host.authority();
    let arguments = json!({ "authority": at, "count": 4, "in_flight": 4 });
    let many = json!({ "name": "asks__time_gets", "arguments": arguments });
    for _ in 0..2 {
        let id = session.begin("tools/call", many.clone());
        for _ in 0..3 {
            let question = session.question();
            assert_eq!(question["method"], ASK, "{question}");
            session.answer(&question, &chosen("done"));
        }
        assert_eq!(session.result(id)["isError"], true);
    }
    assert_eq!(setting.host.received(), [""; 0]);
}

#[test]
fn who_cannot_be_asked_is_told_the_command() {
    let setting = Setting::new("");
    let mut session = setting.serve(json!({}));
    let id = session.begin("tools/call", call(&setting));
    let over_stdio = session.result(id);
    // Over HTTP, nobody knows whether it is the user who answers.
    let server = setting.home.serve_http(&[]).unwrap();
    let params = wire::stateless(call(&setting), json!({ "elicitation": { "form": {} } }));
    let request = Request::stateless(1, "tools/call", params);
    let over_http = server.ask(&request).unwrap().result().unwrap();
    let able = http::Session::open_able(&server, json!({ "elicitation": {} })).unwrap();
    let request = able.request(1, "tools/call", call(&setting));
    let messages = server.ask(&request).unwrap().messages().unwrap();
    assert!(messages.iter().all(|message| message["method"] != ASK));
    let in_session = messages.last().unwrap()["result"].clone();
    for result in [over_stdio, over_http, in_session] {
        let is_told = result.to_string().contains("dormouse secret set asks-key");
        assert!(result["isError"] == true && is_told, "{result}");
    }
    assert_eq!(setting.host.received(), [""; 0]);
}

#[test]
fn a_call_that_is_cancelled_takes_its_question_back() {
    let setting = Setting::new("");
    let mut session = setting.serve(json!({ "elicitation": {} }));
    let id = session.begin("tools/call", call(&setting));
    let question = session.question();
    let cancelled = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id },
    });
    session.wire.send(&cancelled).unwrap();
    let withdrawn = session.until(|message| message["method"] == "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    // A late answer refuses nothing and gives nothing, and the next call is asked anew.
    session.answer(&question, &chosen("no"));
    let id = session.begin("tools/call", call(&setting));
    let question = session.question();
    assert_eq!(question["method"], ASK, "{question}");
    setting.keep("asks-key");
    session.answer(&question, &chosen("done"));
    assert!(is_answered(&session.result(id)) && setting.is_sent(TEXT));
}

/// In the era without a handshake the question is the answer, and the next request has its answer.
#[test]
fn a_stateless_client_is_asked_too() {
    let setting = Setting::new("");
    let mut wire = Wire::spawn(&mut setting.home.command(&["serve"])).unwrap();
    let able = json!({ "elicitation": { "form": {} } });
    let params = wire::stateless(call(&setting), able.clone());
    let asked = wire.request(1, "tools/call", params).unwrap();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let questions = asked["inputRequests"].as_object().unwrap();
    let (id, question) = questions.iter().next().unwrap();
    let is_command = question
        .to_string()
        .contains("dormouse secret set asks-key");
    assert!(questions.len() == 1 && is_command, "{asked}");
    setting.keep("asks-key");
    let mut params = wire::stateless(call(&setting), able);
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] = json!({ id: chosen("done") });
    let result = wire.request(2, "tools/call", params).unwrap();
    assert!(is_answered(&result) && setting.is_sent(TEXT), "{result}");
}

/// A plugin that does not work without its secret, and has none.
#[test]
fn a_secret_that_is_needed_is_asked_for_before_a_start_and_marks_its_tools() {
    let home = Home::new().unwrap();
    let request = "/// @secret key {\"hosts\": [\"https://api.example.com\"], \
        \"header\": \"X-Key\", \"isRequired\": true}\n";
    let packed = packed_asking(&home, "loud", request, "loud");
    home.server("loud", packed.as_ref()).unwrap();
    let mut session = Session::start(&home, json!({ "elicitation": {} }));
    let mark = |session: &mut Session| {
        let id = session.begin("tools/list", json!({}));
        let tools = session.result(id)["tools"].clone();
        tools[0]["_meta"]["anthropic/requiresUserInteraction"].clone()
    };
    assert_eq!(mark(&mut session), true);
    let say = json!({ "name": "loud__say", "arguments": { "text": "aloud" } });
    let id = session.begin("tools/call", say.clone());
    let question = session.question();
    let message = question["params"]["message"].as_str().unwrap();
    let is_command = message.contains("`dormouse grant loud --secret key`");
    assert!(is_command && message.contains("never here"), "{message}");
    let fields = &question["params"]["requestedSchema"]["properties"];
    assert_eq!(fields["answer"]["enum"], json!(["done", "no"]));
    let words = ["grant", "loud", "--secret", "key=env:LOUD_KEY", "--yes"];
    let output = home.run(&words).unwrap();
    assert!(output.status.success(), "{output:?}");
    session.until(|message| message["method"] == "notifications/tools/list_changed");
    session.answer(&question, &chosen("done"));
    let result = session.result(id);
    assert!(result.to_string().contains("aloud"), "{result}");
    assert_eq!(mark(&mut session), Value::Null);
}
