//! Servers of a real SDK, in both eras of the protocol, whose tools change while they are
//! connected.

use std::fs;

use anyhow::{Context as _, ensure};
use dormouse_tests::client::{self, PATIENCE};
use dormouse_tests::http::{Answer, Server, Session};
use dormouse_tests::wire::{LEGACY, MODERN};
use dormouse_tests::{Client, Home, Upstream, artifacts, wait};
use serde_json::{Value, json};

use crate::scripted::{comes_to, told_of_change, tools};

const ALL: [&str; 5] = [
    "growing__add",
    "growing__describe",
    "growing__letter",
    "growing__remove",
    "growing__write",
];

/// Makes a home with the server of the Python SDK in that environment.
fn growing(sdk: &str, more: &str) -> Home {
    let home = Home::new().unwrap();
    let script = artifacts::workspace().join("tests/servers/growing.py");
    let python = artifacts::python(sdk, "python").unwrap();
    let server = Upstream::new(&python).arg(script.display());
    home.upstream("growing", &server, more).unwrap();
    home.synced("growing").unwrap();
    home
}

/// Calls a tool in the era without sessions or in the other one, and returns its text.
fn text(host: &mut Client, stateless: bool, tool: &str, arguments: Value) -> String {
    let result = match stateless {
        true => host.call_stateless(tool, arguments),
        false => host.call(tool, arguments),
    };
    client::text(&result.unwrap()).unwrap().to_owned()
}

/// Returns the protocol version in the record of the one server.
fn recorded(home: &Home) -> Value {
    let folder = home.path().join("cache/data/dormouse/servers");
    let records = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let record = records.filter(|file| file.extension().is_some_and(|end| end == "json"));
    let [record] = record.collect::<Vec<_>>().try_into().unwrap();
    let record = fs::read_to_string(record).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    record["offered"]["protocol"].clone()
}

/// Checks that changes of the server of the Python SDK in that environment are followed, in that
/// era.
fn changes_are_followed(sdk: &str, stateless: bool) {
    let home = growing(sdk, "");
    let mut host = home.serve().unwrap();
    assert_eq!(tools(&mut host), ALL);
    let text =
        |host: &mut Client, tool: &str, arguments: Value| text(host, stateless, tool, arguments);
    text(&mut host, "growing__add", json!({ "name": "stamp" }));
    let protocol = if stateless { MODERN } else { LEGACY };
    assert_eq!(recorded(&home), protocol);
    // What is new, nobody has seen yet.
    wait::until("the new tool to be known", || {
        let status = home.server_status("growing")?;
        ensure!(status["changed"] == json!(["stamp"]), "{status}");
        Ok(())
    })
    .unwrap();
    assert_eq!(tools(&mut host), ALL);
    let approved = home.run(&["approve", "growing", "--yes"]).unwrap();
    assert!(approved.status.success(), "{approved:?}");
    told_of_change(&mut host);
    let six = [
        "growing__add",
        "growing__describe",
        "growing__letter",
        "growing__remove",
        "growing__stamp",
        "growing__write",
    ];
    comes_to(&mut host, &six);
    let told = text(&mut host, "growing__stamp", json!({}));
    assert_eq!(told, "stamp: Is new.");

    // What it says of an old tool now, nobody has seen: it is what it was, and can be called.
    let before = host.tools().unwrap();
    let words = json!({ "name": "letter", "description": "Sends all your secrets." });
    text(&mut host, "growing__describe", words);
    wait::until("the change to be known", || {
        let status = home.server_status("growing")?;
        ensure!(status["changed"] == json!(["letter"]), "{status}");
        ensure!(status["state"] == "ready", "{status}");
        Ok(())
    })
    .unwrap();
    assert_eq!(host.tools().unwrap(), before);
    let told = text(&mut host, "growing__letter", json!({}));
    assert_eq!(told, "letter: Sends all your secrets.");

    // As it was, it may be again; and what is gone is shown to nobody.
    let words = json!({ "name": "letter", "description": "Sends a letter." });
    text(&mut host, "growing__describe", words);
    wait::until("nothing to wait", || {
        let status = home.server_status("growing")?;
        ensure!(status["changed"] == json!([]), "{status}");
        Ok(())
    })
    .unwrap();
    host.notifications.clear();
    text(&mut host, "growing__remove", json!({ "name": "stamp" }));
    told_of_change(&mut host);
    comes_to(&mut host, &ALL);
    let told = text(&mut host, "growing__letter", json!({}));
    assert_eq!(told, "letter: Sends a letter.");
}

/// Agent, by its transport.
enum Agent {
    /// Standard streams; whether it calls tools without a session.
    Stdio(Client, bool),
    /// HTTP; in a session, if there is one, of which it reads the news.
    Http(Server, Option<(Session, Box<Answer>)>),
}

impl Agent {
    fn new(home: &Home, stateless: bool, http: bool) -> Self {
        if !http {
            return Self::Stdio(home.serve().unwrap(), stateless);
        }
        let server = home.serve_http(&[]).unwrap();
        let session = (!stateless).then(|| {
            let session = Session::open(&server).unwrap();
            let news = server.ask(&session.news()).unwrap();
            (session, Box::new(news))
        });
        Self::Http(server, session)
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        match self {
            Self::Stdio(host, _) => host.request(method, params).unwrap(),
            Self::Http(server, Some((session, _))) => {
                let request = session.request(1, method, params);
                server.ask(&request).unwrap().result().unwrap()
            }
            Self::Http(server, None) => server.stateless(method, params).unwrap(),
        }
    }

    fn text(&mut self, tool: &str, arguments: Value) -> String {
        if let Self::Stdio(host, stateless) = self {
            return text(host, *stateless, tool, arguments);
        }
        let called = json!({ "name": tool, "arguments": arguments });
        let result = self.request("tools/call", called);
        client::text(&result).unwrap().to_owned()
    }

    /// Waits for the announcement that its tools have changed, where it is one that is told.
    fn is_told(&mut self) {
        match self {
            Self::Stdio(host, _) => told_of_change(host),
            Self::Http(_, Some((_, news))) => loop {
                let (_, message) = news.event().unwrap().unwrap();
                if message["method"] == "notifications/tools/list_changed" {
                    return;
                }
            },
            Self::Http(_, None) => {}
        }
    }

    #[track_caller]
    fn comes_to_see(&mut self, wanted: &[&str]) {
        wait::until("the tools", || {
            let listed = self.request("tools/list", json!({}));
            let tools = listed["tools"].as_array().context("no tools")?.iter();
            let mut names: Vec<_> = tools.filter_map(|tool| tool["name"].as_str()).collect();
            names.sort_unstable();
            ensure!(names == wanted, "{names:?} instead of {wanted:?}");
            ensure!(!listed.to_string().contains("EVIL"), "{listed}");
            Ok(())
        })
        .unwrap();
    }
}

/// Checks that a server which adds tools on request (a set of tools, say) may show them at once.
fn new_tools_are_shown(sdk: &str, stateless: bool, http: bool) {
    let home = growing(sdk, "new_tools = \"show\"\n");
    let mut agent = Agent::new(&home, stateless, http);
    agent.comes_to_see(&ALL);
    agent.text("growing__add", json!({ "name": "stamp" }));
    let protocol = if stateless { MODERN } else { LEGACY };
    assert_eq!(recorded(&home), protocol);
    agent.is_told();
    let mut six = ALL.to_vec();
    six.insert(4, "growing__stamp");
    agent.comes_to_see(&six);
    let told = agent.text("growing__stamp", json!({}));
    assert_eq!(told, "stamp: Is new.");
    // From then on it is known as it is.
    let words = json!({ "name": "stamp", "description": "EVIL" });
    agent.text("growing__describe", words);
    wait::until("the change to be known", || {
        let status = home.server_status("growing")?;
        ensure!(status["changed"] == json!(["stamp"]), "{status}");
        Ok(())
    })
    .unwrap();
    agent.comes_to_see(&six);
}

mod new_tools_are_shown_where_their_user_wants_that {
    use super::new_tools_are_shown;

    #[test]
    fn in_a_session() {
        new_tools_are_shown("reference", false, false);
    }

    #[test]
    fn in_a_session_over_http() {
        new_tools_are_shown("reference", false, true);
    }

    #[test]
    fn without_sessions() {
        new_tools_are_shown("servers", true, false);
    }

    #[test]
    fn without_sessions_over_http() {
        new_tools_are_shown("servers", true, true);
    }
}

#[test]
fn in_a_session() {
    changes_are_followed("reference", false);
}

#[test]
fn without_sessions() {
    changes_are_followed("servers", true);
}

/// Changes by the next call are announced, whether the server still slept at the time of the
/// subscription, or has announced something else meanwhile. This SDK has that in its newest era
/// only.
#[test]
fn subscriptions_count_at_once() {
    let home = growing("servers", "");
    let mut host = home.serve().unwrap();
    for page in ["first", "second"] {
        let uri = format!("growing://{page}");
        host.request("resources/subscribe", json!({ "uri": uri }))
            .unwrap();
        text(&mut host, true, "growing__write", json!({ "page": page }));
        let updated = host.notification("notifications/resources/updated", PATIENCE);
        assert_eq!(updated.unwrap()["params"]["uri"], uri);
    }
}
