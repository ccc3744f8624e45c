//! JSON that most types have no room for: byte for byte, the agent gets the server's, and the
//! server the agent's.

mod raw;

use std::collections::BTreeMap;
use std::path::Path;

use dormouse_tests::http::{Answer, Request, Server, Session};
use dormouse_tests::wire::{self, LEGACY, MODERN};
use dormouse_tests::{Home, Upstream, artifacts};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::exact::raw::Raw;

/// Members with numbers that neither an `f64` nor a `u64` holds, and with a name that is there
/// twice.
const ODD: &str =
    r#"{"n": 12345678901234567890123, "x": 1.10,"z":-0.0, "e":1E5 ,"twice":1,"twice":[2.50]}"#;

/// Members of that kind that the server sends.
const SAID: &str = r#""n":12345678901234567890123, "x":1.10,"z":-0.0, "e":1E5 ,"#;

/// Returns a server that sends such members, with its name as the scheme of its resources.
pub(crate) fn server(name: &str, resources: bool) -> Upstream {
    let script = artifacts::workspace().join("tests/servers/exact.py");
    let server = Upstream::new(Path::new("python3"));
    let server = server.arg(script.display()).arg(name);
    match resources {
        true => server.arg("resources"),
        false => server,
    }
}

/// Makes a home with that server.
fn home() -> Home {
    let home = Home::new().unwrap();
    home.upstream("odd", &server("odd", true), "").unwrap();
    home.synced("odd").unwrap();
    home
}

/// Returns the text of an object's member.
fn member(object: &str, name: &str) -> Option<String> {
    let members: serde_json::Result<BTreeMap<String, Box<RawValue>>> = serde_json::from_str(object);
    let mut members = members.unwrap_or_else(|error| panic!("{error}: {object}"));
    members.remove(name).map(|value| value.get().to_owned())
}

fn result(message: &str) -> String {
    member(message, "result").unwrap_or_else(|| panic!("no result in {message}"))
}

/// Returns the text of a result's first block.
fn text(result: &str) -> String {
    let content: Value = serde_json::from_str(&member(result, "content").unwrap()).unwrap();
    let text = content[0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text in {result}"))
        .to_owned()
}

fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

fn response(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// Returns parameters as the stateless era has them.
fn stateless(params: &str) -> String {
    let meta = &wire::stateless(json!({}), able())["_meta"];
    params.replacen('{', &format!("{{\"_meta\":{meta},"), 1)
}

/// Returns the capabilities that the client declares.
pub(crate) fn able() -> Value {
    json!({ "elicitation": { "form": {} } })
}

/// Makes a request over HTTP, in that session or in none.
fn posted(session: Option<&Session>, method: &str, params: &str) -> Request {
    match session {
        Some(session) => Request::post(request(1, method, params))
            .header("mcp-session-id", &session.id)
            .header("mcp-protocol-version", LEGACY),
        None => {
            let name = ["name", "uri"]
                .into_iter()
                .find_map(|name| member(params, name));
            let asked = Request::post(request(1, method, &stateless(params)))
                .header("mcp-protocol-version", MODERN)
                .header("mcp-method", method);
            match name {
                Some(name) => asked.header("mcp-name", name.trim_matches('"')),
                None => asked,
            }
        }
    }
}

/// Returns the last message of an answer, and whether it came in a stream.
fn last(answer: &mut Answer) -> (String, bool) {
    if answer.header("content-type") == Some("application/json") {
        return (String::from_utf8(answer.body().unwrap()).unwrap(), false);
    }
    let mut last = String::new();
    while let Some((_, message)) = answer.event_text().unwrap() {
        last = message;
    }
    (last, true)
}

/// Opens a session over HTTP whose client can be asked something.
fn session(host: &Server) -> Session {
    let hello = wire::request(0, "initialize", wire::initialize(able()));
    let mut answer = host.ask(&Request::post(hello.to_string())).unwrap();
    let id = answer.header("mcp-session-id").unwrap().to_owned();
    answer.result().unwrap();
    let session = Session { id };
    session
        .notify(host, "notifications/initialized", json!({}))
        .unwrap();
    session
}

/// Requests to the server, with `NAME` for that of its tools and prompts.
const ASKED: [(&str, &str); 4] = [
    ("tools/call", r#"{"name":"NAME","arguments":{}}"#),
    (
        "tools/call",
        r#"{"name":"NAME-after-progress","arguments":{},"_meta":{"progressToken":"t"}}"#,
    ),
    ("resources/read", r#"{"uri":"odd:somewhere"}"#),
    (
        "completion/complete",
        r#"{"ref":{"type":"ref/prompt","name":"NAME"},"argument":{"name":"a","value":""}}"#,
    ),
];

/// Returns the same parameters without a progress token.
fn silent(params: &str) -> String {
    params.replace(r#","_meta":{"progressToken":"t"}"#, "")
}

/// Returns a result as the stateless era has it: its type first, and at the end the time for which
/// it may be cached, if it was read, and the name of the server.
fn of_stateless(method: &str, result: &str) -> String {
    let keeps = match method {
        "resources/read" => r#","ttlMs":0,"cacheScope":"private""#,
        _ => "",
    };
    let server = json!({
        "name": "dormouse", "title": "Dormouse", "version": env!("CARGO_PKG_VERSION"),
    });
    let result = result.replacen('{', r#"{"resultType":"complete","#, 1);
    let result = result.strip_suffix('}').unwrap();
    format!(r#"{result}{keeps},"_meta":{{"io.modelcontextprotocol/serverInfo":{server}}}}}"#)
}

#[test]
fn answers_over_stdio_are_the_servers() {
    let home = home();
    let mut direct = Raw::start(&mut server("odd", true).command());
    let mut through = Raw::start(&mut home.command(&["serve"]));
    let mut modern = Raw::stateless(&home);
    for (method, params) in ASKED {
        let said = result(&direct.ask(method, &params.replace("NAME", "odd")));
        assert!(said.contains(SAID), "{said}");
        let shown = params.replace("NAME", "odd__odd");
        assert_eq!(result(&through.ask(method, &shown)), said, "{method}");
        let answer = modern.ask(method, &stateless(&silent(&shown)));
        assert_eq!(result(&answer), of_stateless(method, &said), "{method}");
    }
}

#[test]
fn answers_over_http_are_the_servers_in_streams_too() {
    let home = home();
    let host = home.serve_http(&[]).unwrap();
    let session = session(&host);
    let mut direct = Raw::start(&mut server("odd", true).command());
    for (method, params) in ASKED {
        let said = result(&direct.ask(method, &params.replace("NAME", "odd")));
        let shown = params.replace("NAME", "odd__odd");
        for session in [Some(&session), None] {
            // In the stateless era `_meta` is the tests' own.
            let shown = match session {
                Some(_) => shown.clone(),
                None => silent(&shown),
            };
            let asked = posted(session, method, &shown);
            let (message, in_stream) = last(&mut host.ask(&asked).unwrap());
            let expected = match session {
                Some(_) => said.clone(),
                None => of_stateless(method, &said),
            };
            assert_eq!(result(&message), expected, "{method}");
            // In a session a call that takes its time is answered in a stream, too.
            let told = shown.contains("progressToken");
            assert!(
                in_stream == told || (in_stream && session.is_some()),
                "{method}"
            );
        }
    }
    // The same stream without a session.
    let params = ASKED[1].1.replace("NAME", "odd__odd");
    let asked =
        stateless(&silent(&params)).replacen("_meta\":{", "_meta\":{\"progressToken\":\"t\",", 1);
    let asked = Request::post(request(1, "tools/call", &asked))
        .header("mcp-protocol-version", MODERN)
        .header("mcp-method", "tools/call")
        .header("mcp-name", "odd__odd-after-progress");
    let (message, in_stream) = last(&mut host.ask(&asked).unwrap());
    let said = result(&direct.ask("tools/call", &ASKED[1].1.replace("NAME", "odd")));
    assert_eq!(result(&message), of_stateless("tools/call", &said));
    assert!(in_stream);
}

/// The server returns the arguments that it got.
#[test]
fn arguments_reach_the_server_as_they_are() {
    let home = home();
    let calls = [
        ("tools/call", r#"{"name":"odd__echo","arguments":ODD}"#),
        ("prompts/get", r#"{"name":"odd__odd","arguments":ODD}"#),
    ];
    let mut through = Raw::start(&mut home.command(&["serve"]));
    let mut modern = Raw::stateless(&home);
    let host = home.serve_http(&[]).unwrap();
    let session = session(&host);
    let sent = format!("\"arguments\":{ODD}");
    for (method, params) in calls {
        let params = params.replace("ODD", ODD);
        let mut messages = vec![
            through.ask(method, &params),
            modern.ask(method, &stateless(&params)),
        ];
        for session in [Some(&session), None] {
            let asked = posted(session, method, &params);
            messages.push(last(&mut host.ask(&asked).unwrap()).0);
            // One that rmcp reads from the beginning.
            let choosy = asked.header("accept", "text/event-stream, application/json;q=0.5");
            messages.push(last(&mut host.ask(&choosy).unwrap()).0);
        }
        for message in messages {
            let said = match method {
                "tools/call" => text(&result(&message)),
                // An array of one, in which JSON is text once more.
                _ => message.replace("\\\"", "\""),
            };
            assert!(said.contains(&sent), "{said}");
        }
    }
    let told = home.run(&["call", "odd", "echo", ODD]).unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains(&sent), "{told}");
}

#[test]
fn the_command_prints_what_the_server_has_said() {
    let home = home();
    let mut direct = Raw::start(&mut server("odd", true).command());
    let said = result(&direct.ask("tools/call", r#"{"name":"odd"}"#));
    let printed = home.run(&["call", "odd", "odd", "--json"]).unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert_eq!(printed.trim_end(), said);
}

#[test]
fn errors_are_the_servers() {
    let home = home();
    let read = r#"{"uri":"even:nothing"}"#;
    let mut direct = Raw::start(&mut server("odd", true).command());
    let error = member(&direct.ask("resources/read", read), "error").unwrap();
    assert!(error.contains(r#""near":[1.10]"#), "{error}");
    let data = member(&error, "data").unwrap();
    let mut through = Raw::start(&mut home.command(&["serve"]));
    let host = home.serve_http(&[]).unwrap();
    let session = session(&host);
    let asked = posted(Some(&session), "resources/read", read);
    for message in [
        through.ask("resources/read", read),
        last(&mut host.ask(&asked).unwrap()).0,
    ] {
        let error = member(&message, "error").unwrap();
        assert_eq!(member(&error, "code").unwrap(), "-32002", "{error}");
        assert_eq!(member(&error, "data").unwrap(), data);
    }
    // The newer era has another code for that.
    let mut modern = Raw::stateless(&home);
    let message = modern.ask("resources/read", &stateless(read));
    let error = member(&message, "error").unwrap();
    assert_eq!(member(&error, "code").unwrap(), "-32602", "{error}");
    assert_eq!(member(&error, "data").unwrap(), data);
}

/// Answer of a user, which a server then gets.
const ANSWER: &str =
    r#"{"action":"accept", "content":{"n": 12345678901234567890123},"x-odd":{"a":1.10,"a":2.50}}"#;

/// The parameters of a question are the server's, and nothing besides, but for the server's name.
#[track_caller]
fn is_the_servers(question: &str) {
    let odd = member(question, "x-odd").unwrap();
    assert!(odd.contains(SAID), "{question}");
    assert!(question.contains("\"minimum\":0.10"), "{question}");
    assert_eq!(member(question, "_meta"), None, "{question}");
    let message = member(question, "message").unwrap();
    assert!(message.starts_with("\"[server `odd`] "), "{question}");
}

#[test]
fn questions_and_answers_pass_as_they_are() {
    let home = home();
    let ask = r#"{"name":"odd__ask"}"#;
    let heard = format!("\"result\":{ANSWER}");

    let mut through = Raw::start(&mut home.command(&["serve"]));
    through.answer = ANSWER;
    let told = text(&result(&through.ask("tools/call", ask)));
    assert!(told.contains(&heard), "{told}");
    is_the_servers(&member(&through.asked, "params").unwrap());

    // In the stateless era the question is an answer.
    let mut modern = Raw::stateless(&home);
    let asked = result(&modern.ask("tools/call", &stateless(ask)));
    assert_eq!(member(&asked, "resultType").unwrap(), "\"input_required\"");
    let requests = member(&asked, "inputRequests").unwrap();
    let all: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&requests).unwrap();
    let (id, question) = all.iter().next().unwrap();
    is_the_servers(&member(question.get(), "params").unwrap());
    let answer = json!(id).to_string();
    let state = member(&asked, "requestState").unwrap();
    let again = format!(
        r#"{{"name":"odd__ask","inputResponses":{{{answer}:{ANSWER}}},"requestState":{state}}}"#
    );
    let told = text(&result(&modern.ask("tools/call", &stateless(&again))));
    assert!(told.contains(&heard), "{told}");

    // Over HTTP the question is an event, and the answer a request of its own.
    let host = home.serve_http(&[]).unwrap();
    let session = session(&host);
    let mut stream = host
        .ask(&posted(Some(&session), "tools/call", ask))
        .unwrap();
    let mut told = None;
    while let Some((_, message)) = stream.event_text().unwrap() {
        if message.is_empty() {
            continue;
        }
        if member(&message, "method").is_none() {
            told = Some(text(&result(&message)));
            break;
        }
        is_the_servers(&member(&message, "params").unwrap());
        let answer = response(&member(&message, "id").unwrap(), ANSWER);
        let answer = Request::post(answer)
            .header("mcp-session-id", &session.id)
            .header("mcp-protocol-version", LEGACY);
        assert_eq!(host.ask(&answer).unwrap().status, 202);
    }
    let told = told.unwrap();
    assert!(told.contains(&heard), "{told}");
}
