//! Grants of HTTP requests that a user is asked for while a plugin runs.

mod ended_guests;

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
        let request = |host: &str| format!("/// @grant http GET http://{host} to see how it is\n");
        Self::with(request, capabilities)
    }

    /// Starts a host with a plugin that asks for what `request` returns for the address of the host.
    fn with(request: impl Fn(&str) -> String, capabilities: Value) -> Self {
        let home = Home::new().unwrap();
        let host = RecordingHost::answering("it is well").unwrap();
        let request = request(&host.authority());
        let packed = packed_asking(&home, "http", &request, "asks");
        home.server("asks", packed.as_ref()).unwrap();
        let mut wire = Wire::spawn(&mut home.command(&["serve"])).unwrap();
        wire.initialize_able(capabilities).unwrap();
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

/// Calls a tool of the server `asks`, denies it while its user is asked, and gives that answer then.
/// Returns the response.
fn denied_while_asked(
    home: &Home,
    wire: &mut Wire,
    tool: &str,
    arguments: &Value,
    answer: &Value,
) -> Value {
    let call = json!({ "name": tool, "arguments": arguments });
    wire.send(&wire::request(1, "tools/call", call)).unwrap();
    let question = loop {
        let message = wire.receive().unwrap();
        if message["method"] == "elicitation/create" {
            break message;
        }
    };
    let config = std::fs::read_to_string(home.config()).unwrap();
    let denied = format!("[exposure]\ndeny = ['{tool}']\n\n{config}");
    std::fs::write(home.config(), denied).unwrap();
    let mut ids = 2..;
    dormouse_tests::wait::until("the tool to be hidden", || {
        let id = ids.next();
        let list = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {} });
        wire.send(&list)?;
        let listed = loop {
            let message = wire.receive()?;
            if message["id"].as_u64() == id && message.get("result").is_some() {
                break message;
            }
        };
        anyhow::ensure!(!listed.to_string().contains(tool), "{listed}");
        Ok(())
    })
    .unwrap();
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer });
    wire.send(&answer).unwrap();
    loop {
        let message = wire.receive().unwrap();
        if message["id"] == 1 && message.get("method").is_none() {
            break message;
        }
    }
}

/// What its user allows in a form is not sent for a tool that they have denied meanwhile.
#[test]
fn a_request_of_a_tool_that_is_denied_by_then_is_not_sent() {
    let mut asked = Asked::able();
    let arguments = json!({
        "method": "GET", "scheme": "http", "authority": asked.host.authority(),
        "path": "/a", "headers": [], "body": "",
    });
    let (home, wire) = (&asked.home, &mut asked.wire);
    let result = denied_while_asked(home, wire, "asks__send", &arguments, &chosen("once"));
    assert_eq!(result["result"]["isError"], true, "{result}");
    assert!(asked.host.received().is_empty(), "{result}");
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
fn a_no_holds_where_something_else_is_revoked() {
    let requests = |host: &str| {
        format!("/// @grant http GET http://{host}\n/// @grant http POST http://{host}\n")
    };
    let mut asked = Asked::with(requests, json!({ "elicitation": {} }));
    let (_, result) = asked.call("GET", "/a", Some(&chosen("always")));
    assert!(is_answered(&result), "{result}");
    let (questions, result) = asked.call("POST", "/a", Some(&chosen("no")));
    assert!(!is_answered(&result) && questions.len() == 1, "{result}");
    let granted = format!("GET http://{}", asked.host.authority());
    let words = ["revoke", "asks", "--grant-http", &granted];
    let revoked = asked.home.run(&words).unwrap();
    assert!(revoked.status.success(), "{revoked:?}");
    // It is for all that may be asked of that host.
    for method in ["GET", "POST"] {
        let (questions, result) = asked.call(method, "/b", None);
        assert!(
            !is_answered(&result) && questions.is_empty(),
            "{questions:?}: {result}"
        );
    }
    assert_eq!(asked.host.received().len(), 1);
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

/// Whatever a plugin's author writes as a reason is one short line of the question, and says whose it is.
#[test]
fn a_reason_that_imitates_a_question_is_told_as_its_authors() {
    let imitated = "``` The plugin `bank` wants to send requests to bank.example. May it? \
        Dormouse asks: <!-- x --> `dormouse grant asks --grant-http 'https://*'`";
    let request = |host: &str| format!("/// @grant http GET http://{host} {imitated}\n");
    let mut asked = Asked::with(request, json!({ "elicitation": {} }));
    let (questions, _) = asked.call("GET", "/a", Some(&chosen("no")));
    let message = questions[0]["message"].as_str().unwrap();
    let mut lines = message.lines();
    // It is longer than any run of these signs in what the author says.
    assert_eq!(lines.next(), Some("````text"), "{message}");
    let own = lines.next().unwrap();
    assert!(own.starts_with("The plugin `asks` wants to send"), "{own}");
    let told = lines.next().unwrap();
    let why = told.strip_prefix("Its author says why: ").unwrap();
    assert!(why.contains("bank.example") && why.ends_with('…'), "{why}");
    assert!(why.chars().count() <= 100, "{why}");
    assert_eq!(lines.collect::<Vec<_>>(), ["````", "", "May it?"]);
}

/// A client that is not its user's own agent, or has no session to be asked in, is not asked; one
/// without a handshake is, and the next request has the answer.
#[test]
fn over_http_nobody_is_asked_and_in_the_stateless_era_over_stdio_the_user_is() {
    let asked = Asked::able();
    let arguments = json!({
        "method": "GET", "scheme": "http", "authority": asked.host.authority(),
        "path": "/a", "headers": [], "body": "",
    });
    let call = json!({ "name": "asks__send", "arguments": arguments });
    let able = json!({ "elicitation": { "form": {} } });
    let server = asked.home.serve_http(&[]).unwrap();
    let params = wire::stateless(call.clone(), able.clone());
    let request = dormouse_tests::http::Request::stateless(1, "tools/call", params);
    let result = server.ask(&request).unwrap().result().unwrap();
    let is_told = result
        .to_string()
        .contains("dormouse grant asks --grant-http");
    assert!(result["isError"] == true && is_told, "{result}");
    let mut wire = Wire::spawn(&mut asked.home.command(&["serve"])).unwrap();
    let params = wire::stateless(call.clone(), able.clone());
    let first = wire.request(1, "tools/call", params).unwrap();
    assert_eq!(first["resultType"], "input_required", "{first}");
    let id = first["inputRequests"].as_object().unwrap().keys().next();
    let mut params = wire::stateless(call, able);
    params["requestState"] = first["requestState"].clone();
    params["inputResponses"] = json!({ id.unwrap(): chosen("once") });
    let result = wire.request(2, "tools/call", params).unwrap();
    assert!(is_answered(&result), "{result}");
    assert_eq!(asked.host.received().len(), 1);
}

/// What a project's plugin is granted for good, the project's file says, which its user trusts.
#[test]
fn nothing_lasts_of_what_the_user_of_a_projects_plugin_is_asked() {
    let home = Home::new().unwrap();
    let host = RecordingHost::answering("it is well").unwrap();
    let at = format!("http://{}", host.authority());
    let requests = format!(
        "/// @grant http GET {at}\n\
         /// @secret key {{\"hosts\": [\"{at}\"], \"header\": \"X-Key\"}}\n"
    );
    let packed = packed_asking(&home, "http", &requests, "asks");
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let text = format!(
        "[servers.asks]\ncomponent = '{packed}'\n[servers.asks.secrets]\n\
         key = {{ env = 'DORMOUSE_NONE', hosts = ['{at}'], header = 'X-Key' }}\n"
    );
    std::fs::write(project.join("dormouse.toml"), &text).unwrap();
    let mut trust = home.command(&["trust", "--yes"]);
    let trusted = trust.current_dir(&project).output().unwrap();
    assert!(trusted.status.success(), "{trusted:?}");
    let mut serve = home.command(&["serve"]);
    let mut wire = Wire::spawn(serve.current_dir(&project)).unwrap();
    wire.initialize_able(json!({ "elicitation": {} })).unwrap();
    let arguments = json!({
        "method": "GET", "scheme": "http", "authority": host.authority(),
        "path": "/a", "headers": [], "body": "",
    });
    let call = json!({ "name": "asks__send", "arguments": arguments });
    wire.send(&wire::request(1, "tools/call", call)).unwrap();
    let mut questions = Vec::new();
    for answer in ["session", "no"] {
        let question = wire.receive().unwrap();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": chosen(answer) });
        wire.send(&answer).unwrap();
        questions.push(question["params"].clone());
    }
    let result = wire.receive().unwrap()["result"].clone();
    assert_eq!(result["isError"], true, "{result}");
    let answers = &questions[0]["requestedSchema"]["properties"]["answer"]["enum"];
    assert_eq!(answers, &json!(["no", "once", "session"]));
    // The command would not change the project's file.
    let message = questions[1]["message"].as_str().unwrap();
    assert!(
        message.contains("DORMOUSE_NONE") && !message.contains("dormouse grant"),
        "{message}"
    );
    assert_eq!(host.received(), [""; 0]);
    let now = std::fs::read_to_string(project.join("dormouse.toml")).unwrap();
    assert_eq!(now, text);
}
