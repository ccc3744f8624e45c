//! Questions and notifications that agents get while their calls run: through Dormouse the same as
//! directly, whatever the server is made with, and whatever the agents speak and declare.
//!
//! Servers behave differently in each era of MCP, and some do what cannot be undone without
//! asking where they believe that nobody can be asked.

use std::process::{Command, Stdio};

use dormouse_tests::upstream::{self, Listening};
use dormouse_tests::{Home, artifacts};
use serde_json::{Map, Value, json};

use crate::difference::assert_same;

/// Name of the server, in front of its questions and logs.
const NAME: &str = "asking";

/// Error message of the client for questions that it has not declared, which the server may repeat.
const REFUSED: &str = "REFUSED";

const MODERN: &str = "2026-07-28";

/// Runs sessions of the client that writes and reads JSON as it is on the wire.
fn run(home: &Home, sessions: &[Value], place: &[String], token: Option<&str>) -> Vec<Value> {
    let script = artifacts::workspace().join("tests/clients/python/asked.py");
    let output = Command::new(artifacts::python("clients", "python").unwrap())
        .arg(script)
        .arg(json!(sessions).to_string())
        .args(place)
        .envs(home.environment())
        .env("DORMOUSE_TEST_NPM", artifacts::npm())
        .envs(token.map(|token| ("DORMOUSE_TEST_TOKEN", token)))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let [said, errors] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{place:?}: {errors}");
    serde_json::from_str(&said).unwrap()
}

/// Outcomes of the same sessions with a server, directly and behind Dormouse, over standard streams
/// or HTTP all the way.
struct Both {
    direct: Vec<Value>,
    through: Vec<Value>,
}

impl Both {
    fn run(sdk: &str, http: bool, sessions: &[Value]) -> Self {
        let home = Home::new().unwrap();
        let server = upstream::asking(sdk).unwrap();
        let prefixed: Vec<Value> = sessions.iter().map(prefixed).collect();
        if !http {
            home.upstream(NAME, &server, "").unwrap();
            home.synced(NAME).unwrap();
            return Self {
                direct: run(&home, sessions, &server.launch(), None),
                through: run(&home, &prefixed, &home.launch(), None),
            };
        }
        let listening = Listening::start(&server.arg("--http")).unwrap();
        let url = format!("http://{}/mcp", listening.address());
        home.table(NAME, &format!("url = '{url}'")).unwrap();
        home.synced(NAME).unwrap();
        let host = home.serve_http(&[]).unwrap();
        Self {
            direct: run(&home, sessions, &[url], None),
            through: run(&home, &prefixed, &[host.url()], host.token()),
        }
    }

    /// Fails where a session is not the same on both sides. Returns the outcomes.
    fn same(self, sessions: &[Value]) -> Vec<Value> {
        let outcomes = self.direct.into_iter().zip(self.through);
        let outcomes = outcomes.zip(sessions).map(|((direct, through), session)| {
            let modern = session["revision"] == MODERN;
            let [direct, through] = [direct, through].map(|mut outcome| {
                let calls = outcome["calls"].as_array_mut().unwrap();
                calls.iter_mut().for_each(|call| unmark(call, modern));
                outcome
            });
            let called = |outcome: &Value| outcome["calls"].as_array().unwrap().len();
            assert_eq!(called(&direct), called(&through));
            for (place, tool) in session["tools"].as_array().unwrap().iter().enumerate() {
                let [direct, mut through] =
                    [&direct, &through].map(|outcome| outcome["calls"][place].clone());
                let what = format!("{tool} of {session}");
                if direct["answer"].to_string().contains(REFUSED) {
                    // What Dormouse says instead is its own.
                    through["answer"] = direct["answer"].clone();
                }
                assert_same(&through, &direct, &what);
            }
            direct
        });
        outcomes.collect()
    }
}

/// Returns a session with the names of tools that Dormouse shows.
fn prefixed(session: &Value) -> Value {
    let mut session = session.clone();
    for tool in session["tools"].as_array_mut().unwrap() {
        let name = tool.as_str().unwrap();
        if !name.starts_with("level=") {
            *tool = json!(format!("{NAME}__{name}"));
        }
    }
    session
}

/// Takes the names of servers, and members of the newest era only, out of the outcome of a call.
fn unmark(call: &mut Value, modern: bool) {
    let mark = format!("[server `{NAME}`]");
    for question in call["asked"].as_array_mut().into_iter().flatten() {
        let params = question[1].as_object_mut().unwrap();
        for name in ["message", "systemPrompt"] {
            let Some(Value::String(text)) = params.get_mut(name) else {
                continue;
            };
            *text = text.replace(&mark, "").trim_start().to_owned();
            if text.is_empty() {
                params.shift_remove(name);
            }
        }
        // A number of the server's own, which counts the requests of its client.
        without(params, "_meta", &["progressToken"]);
    }
    for log in call["logs"].as_array_mut().into_iter().flatten() {
        let log = log.as_object_mut().unwrap();
        log.retain(|name, value| name != "logger" || value != NAME);
        if let Some(Value::String(logger)) = log.get_mut("logger") {
            *logger = logger.trim_start_matches(&format!("{NAME}/")).to_owned();
        }
    }
    if let (true, Some(result)) = (modern, call["answer"]["result"].as_object_mut()) {
        result.shift_remove("resultType");
        without(result, "_meta", &["io.modelcontextprotocol/serverInfo"]);
    }
}

/// Takes members out of an object that is a member, and that object where it is empty then.
fn without(members: &mut Map<String, Value>, name: &str, inner: &[&str]) {
    if let Some(Value::Object(found)) = members.get_mut(name) {
        found.retain(|name, _| !inner.contains(&name.as_str()));
        if found.is_empty() {
            members.shift_remove(name);
        }
    }
}

/// Returns sessions of a revision, of clients that declare all capabilities or none, or with
/// `one_each`, also of others that declare one of them.
fn sessions_of(revision: &str, one_each: bool, tools: &[&str]) -> Vec<Value> {
    let all = json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} });
    let mut declared = vec![json!({}), all];
    let single = [
        json!({ "elicitation": {} }),
        json!({ "sampling": {} }),
        json!({ "roots": {} }),
        // It shows pages of servers.
        json!({ "extensions": { "io.modelcontextprotocol/ui": {
            "mimeTypes": ["text/html;profile=mcp-app"],
        } } }),
    ];
    if one_each {
        declared.extend(single);
    }
    let sessions = declared.into_iter().map(|capabilities| {
        json!({ "revision": revision, "capabilities": capabilities, "tools": tools })
    });
    sessions.collect()
}

/// Whether a session's client was asked by a method in one of its calls.
fn asked(outcome: &Value, tool: usize, method: &str) -> bool {
    let asked = outcome["calls"][tool]["asked"].as_array().unwrap();
    asked.iter().any(|question| question[0] == method)
}

fn agents_are_asked_and_told_the_same(sdk: &str, revision: &str, http: bool) {
    let mut tools = vec!["told", "ask", "sample", "drop", "log", "roots"];
    if matches!(sdk, "python" | "v2") {
        tools.push("ask-in-answer");
    }
    // Over HTTP no session starts a process of its server's.
    let sessions = sessions_of(revision, http, &tools);
    let outcomes = Both::run(sdk, http, &sessions).same(&sessions);
    // There is something to compare.
    for (session, outcome) in sessions.iter().zip(&outcomes) {
        let logs = outcome["calls"][4]["logs"].as_array().unwrap();
        assert_eq!(logs.len(), 4, "{session}: {outcome}");
        if outcome["hello"]["revision"] == MODERN {
            continue;
        }
        for (tool, capability, method) in [
            (1, "elicitation", "elicitation/create"),
            (2, "sampling", "sampling/createMessage"),
            (3, "elicitation", "elicitation/create"),
            (5, "roots", "roots/list"),
        ] {
            let declared = session["capabilities"].get(capability).is_some();
            assert_eq!(
                asked(outcome, tool, method),
                declared,
                "{session}: {outcome}"
            );
        }
    }
}

/// Levels that a client sets after its first log reach a server that knows levels.
fn levels_are_the_same(sdk: &str) {
    let sessions: Vec<_> = ["2025-06-18", "2025-11-25"]
        .into_iter()
        .map(|revision| {
            let tools = ["log", "level=warning", "log", "level=debug", "log"];
            json!({ "revision": revision, "capabilities": {}, "tools": tools })
        })
        .collect();
    for outcome in Both::run(sdk, false, &sessions).same(&sessions) {
        let logs = |call: usize| outcome["calls"][call]["logs"].as_array().unwrap().len();
        assert_eq!([logs(0), logs(2), logs(4)], [4, 2, 4], "{outcome}");
    }
}

/// One test for each kind of server, revision and transport: each starts some servers.
macro_rules! of_revisions {
    ($sdk:literal: $($name:ident $over_http:ident = $revision:literal;)*) => {
        $(#[test]
        fn $name() {
            super::agents_are_asked_and_told_the_same($sdk, $revision, false);
        }

        #[test]
        fn $over_http() {
            super::agents_are_asked_and_told_the_same($sdk, $revision, true);
        })*
    };
}

macro_rules! of_sdks {
    ($($name:ident = $sdk:literal;)*) => {
        $(mod $name {
            of_revisions! {
                $sdk:
                agents_of_2025_06_18_are_asked_and_told_what_they_are_directly
                agents_of_2025_06_18_are_asked_and_told_what_they_are_directly_over_http
                    = "2025-06-18";
                agents_of_2025_11_25_are_asked_and_told_what_they_are_directly
                agents_of_2025_11_25_are_asked_and_told_what_they_are_directly_over_http
                    = "2025-11-25";
                agents_of_2026_07_28_are_asked_and_told_what_they_are_directly
                agents_of_2026_07_28_are_asked_and_told_what_they_are_directly_over_http
                    = "2026-07-28";
            }
        })*
    };
}

of_sdks! {
    python = "python";
    fastmcp = "fastmcp";
    typescript_1 = "v1";
    typescript_2 = "v2";
}

/// A server that would ask before it destroys something looks in the handshake whether its client
/// can be asked, and goes on without asking where it cannot.
#[test]
fn a_confirmation_is_asked_for_exactly_where_it_is_directly() {
    let sessions: Vec<_> = ["2025-06-18", "2025-11-25"]
        .into_iter()
        .flat_map(|revision| sessions_of(revision, false, &["drop"]))
        .collect();
    for (sdk, http) in [("v1", false), ("v1", true), ("v2", false), ("v2", true)] {
        let outcomes = Both::run(sdk, http, &sessions).same(&sessions);
        for (session, outcome) in sessions.iter().zip(&outcomes) {
            let declared = session["capabilities"].get("elicitation").is_some();
            let confirmed = asked(outcome, 0, "elicitation/create");
            assert_eq!(confirmed, declared, "{session}: {outcome}");
        }
    }
}

#[test]
fn levels_of_fastmcp_are_what_they_are_directly() {
    levels_are_the_same("fastmcp");
}

#[test]
fn levels_of_typescript_are_what_they_are_directly() {
    levels_are_the_same("v1");
    levels_are_the_same("v2");
}

/// A server that knows only the era without a handshake is bridged to a client with one: the client
/// is told nothing that its own era does not have, and is asked the questions that the server puts
/// into its answers.
#[test]
fn a_server_of_the_newest_era_answers_others_in_their_words() {
    let server = upstream::asking("v2").unwrap();
    let modern = server.clone().arg("--modern");
    let sessions: Vec<_> = ["2025-06-18", "2025-11-25"]
        .into_iter()
        .map(|revision| {
            let able = json!({ "elicitation": {} });
            let tools = ["ask-in-answer", "log"];
            json!({ "revision": revision, "capabilities": able, "tools": tools })
        })
        .collect();
    let prefixed: Vec<Value> = sessions.iter().map(prefixed).collect();
    let listening = Listening::start(&modern.clone().arg("--http")).unwrap();
    let url = format!("url = 'http://{}/mcp'", listening.address());
    for lines in [modern.toml(), url] {
        let home = Home::new().unwrap();
        home.table(NAME, &lines).unwrap();
        home.synced(NAME).unwrap();
        // What the server says where it knows both eras.
        let direct = run(&home, &sessions, &server.launch(), None);
        let through = run(&home, &prefixed, &home.launch(), None);
        for (mut direct, mut through) in direct.into_iter().zip(through) {
            for outcome in [&mut direct, &mut through] {
                unmark(&mut outcome["calls"][0], false);
            }
            assert_same(&through["calls"][0], &direct["calls"][0], &lines);
            assert_eq!(through["calls"][1]["answer"], direct["calls"][1]["answer"]);
            assert!(asked(&through, 0, "elicitation/create"), "{through}");
        }
    }
}
