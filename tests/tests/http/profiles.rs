//! Profiles by their paths: what clients see there, and what of the others they do not.

use std::fs;

use dormouse_tests::http::{Answer, Request, Server, Session};
use dormouse_tests::{Home, artifacts};
use serde_json::{Value, json};

use crate::{call, home, wait_for};

const WORK: &str = "/mcp/p/work";

const PROFILES: &str = "\
    [profiles.work]\nservers = ['echo', 'library']\ntools = ['echo__add', 'library']\n\n\
    [profiles.found]\nservers = ['echo']\nexpose = 'search'\n\n";

fn with_profiles(profiles: &str) -> Home {
    let home = home(&["echo", "library", "keeper"]);
    let servers = fs::read_to_string(home.config()).unwrap();
    fs::write(home.config(), format!("{profiles}{servers}")).unwrap();
    home
}

fn stateless(server: &Server, path: &str, method: &str, params: Value) -> Value {
    let request = Request::stateless(1, method, params).at(path);
    let mut messages = server.ask(&request).unwrap().messages().unwrap();
    messages.pop().unwrap()
}

fn in_session(server: &Server, session: &Session, method: &str, params: Value) -> Value {
    let request = session.request(1, method, params).at(WORK);
    let mut messages = server.ask(&request).unwrap().messages().unwrap();
    messages.pop().unwrap()
}

fn text(answer: &mut Answer) -> String {
    String::from_utf8(answer.body().unwrap()).unwrap()
}

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array();
    let tools = tools.unwrap_or_else(|| panic!("no tools in {answer}"));
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

/// Sends a request of an era, and returns the answer.
type Ask<'a> = &'a dyn Fn(&str, Value) -> Value;

/// Both eras see the servers, tools, prompts, resources and status of the profile alone, and reach no
/// others.
#[test]
fn its_clients_see_and_reach_what_a_profile_has() {
    let home = with_profiles(PROFILES);
    let server = home.serve_http(&[]).unwrap();
    let session = Session::open_at(&server, WORK, json!({})).unwrap();
    let whole = stateless(&server, "/mcp", "tools/list", json!({}));
    assert!(names(&whole).contains(&"keeper__count"), "{whole}");
    let eras: [Ask<'_>; 2] = [
        &|method, params| stateless(&server, WORK, method, params),
        &|method, params| in_session(&server, &session, method, params),
    ];
    for ask in eras {
        let listed = ask("tools/list", json!({}));
        let listed = names(&listed);
        assert!(listed.contains(&"echo__add"), "{listed:?}");
        for other in ["echo__echo", "keeper__count"] {
            assert!(!listed.contains(&other), "{listed:?}");
        }
        let sum = call("echo__add", json!({ "a": 2, "b": 3 }));
        let added = ask("tools/call", sum);
        assert_eq!(added["result"]["structuredContent"]["result"], 5, "{added}");
        for other in ["echo__echo", "keeper__count"] {
            let refused = ask("tools/call", call(other, json!({ "text": "x" })));
            assert_eq!(refused["error"]["code"], -32602, "{refused}");
        }
        // Nor is there a word of the third server.
        for (method, params) in [
            ("prompts/list", json!({})),
            ("resources/list", json!({})),
            ("prompts/get", json!({ "name": "servers" })),
            ("resources/read", json!({ "uri": "dormouse://status" })),
        ] {
            let said = ask(method, params).to_string();
            assert!(
                said.contains("library") || said.contains("status"),
                "{said}"
            );
            assert!(!said.contains("keeper"), "{method}: {said}");
        }
        let read = ask("resources/read", json!({ "uri": "library://today" }));
        assert!(read["result"]["contents"].is_array(), "{read}");
    }
    // Nor of clients that have named another profile, or none.
    for path in ["/mcp/p/found", "/mcp"] {
        stateless(&server, path, "tools/list", json!({}));
    }
    for (path, profiles) in [
        (WORK, Some(("work", "found"))),
        ("/mcp/p/found", Some(("found", "work"))),
        ("/mcp", None),
    ] {
        let status = json!({ "uri": "dormouse://status" });
        let read = stateless(&server, path, "resources/read", status);
        let said = read["result"]["contents"][0]["text"].as_str().unwrap();
        let status: Value = serde_json::from_str(said).unwrap();
        let shown = status["shown_to"].as_array().unwrap();
        assert!(!shown.is_empty(), "{path}: {said}");
        let servers = status["servers"].as_array().unwrap();
        let echo = servers.iter().find(|server| server["name"] == "echo");
        let listed = echo.unwrap()["tools"].as_u64().unwrap();
        assert_eq!(listed == 1, path == WORK, "{path}: {said}");
        if let Some((own, other)) = profiles {
            assert!(shown.iter().all(|shown| shown["profile"] == own), "{said}");
            assert!(!said.contains(&format!("\"{other}\"")), "{path}: {said}");
        }
    }
    // The profile without `library` does not read its resources either.
    let read = stateless(
        &server,
        "/mcp/p/found",
        "resources/read",
        json!({ "uri": "library://today" }),
    );
    assert!(read["error"].is_object(), "{read}");
    // Each has its own exposure.
    let found = stateless(&server, "/mcp/p/found", "tools/list", json!({}));
    assert!(names(&found).contains(&"search_tools"), "{found}");
    let searched = call("search_tools", json!({ "query": "count how often" }));
    let searched = stateless(&server, "/mcp/p/found", "tools/call", searched).to_string();
    assert!(!searched.contains("keeper"), "{searched}");
    // `dormouse status` says which is whose.
    let shown = home.status().unwrap()["shown_to"].to_string();
    assert!(shown.contains(r#""profile":"found""#), "{shown}");
}

/// A session is there at its own path alone: at others it is not known, and nobody ends it from there.
#[test]
fn a_session_keeps_the_profile_it_was_opened_with() {
    let home = with_profiles(PROFILES);
    let server = home.serve_http(&[]).unwrap();
    let session = Session::open_at(&server, WORK, json!({})).unwrap();
    let unknown = Session::open_at(&server, "/mcp", json!({})).unwrap();
    assert_eq!(server.ask(&unknown.delete()).unwrap().status, 204);
    let mut gone = server.ask(&unknown.request(1, "ping", json!({}))).unwrap();
    let gone = (gone.status, text(&mut gone));
    for path in ["/mcp", "/mcp/p/found"] {
        let ping = session.request(1, "ping", json!({})).at(path);
        let mut refused = server.ask(&ping).unwrap();
        assert_eq!((refused.status, text(&mut refused)), gone, "{path}");
        for request in [session.news().at(path), session.delete().at(path)] {
            assert_eq!(server.ask(&request).unwrap().status, 404, "{path}");
        }
    }
    let listed = in_session(&server, &session, "tools/list", json!({}));
    assert!(!names(&listed).contains(&"keeper__count"), "{listed}");
    assert_eq!(server.ask(&session.delete().at(WORK)).unwrap().status, 204);
}

#[test]
fn a_profile_that_is_not_there_is_answered_with_those_that_are() {
    let home = with_profiles(PROFILES);
    let server = home.serve_http(&[]).unwrap();
    let initialize = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "x", "version": "1" } });
    let initialize = json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize",
        "params": initialize });
    let requests = [
        (Request::stateless(7, "tools/list", json!({})), json!(7)),
        (Request::post(initialize.to_string()), json!(7)),
        (
            Request::get("/mcp").header("accept", "text/event-stream"),
            Value::Null,
        ),
    ];
    for (request, id) in requests {
        for (path, hint) in [
            (
                "/mcp/p/works",
                "did you mean `work`? There are `found`, `work`",
            ),
            ("/mcp/p/", "there are `found`, `work`"),
            ("/mcp/p/x%0a%1b", "there are `found`, `work`"),
        ] {
            let mut refused = server.ask(&request.clone().at(path)).unwrap();
            assert_eq!(refused.status, 404, "{path}");
            let answer = refused.messages().unwrap().pop().unwrap();
            assert_eq!(answer["id"], id, "{answer}");
            let said = answer["error"]["message"].as_str().unwrap();
            assert!(said.starts_with("no profile is called `"), "{said}");
            assert!(said.ends_with(hint), "{said}");
        }
        // Whoever has no token is not told which there are.
        let stranger = request.at("/mcp/p/works").header("authorization", "");
        let mut refused = server.ask(&stranger).unwrap();
        assert_eq!(refused.status, 401);
        assert!(!text(&mut refused).contains("found"));
    }
}

/// A host that was started for one profile, or for one server, serves no other.
#[test]
fn the_command_line_narrows_what_paths_may_name() {
    let home = with_profiles(PROFILES);
    for (options, served, hint) in [
        (["--profile", "work"], true, "there are `work`"),
        (["--server", "echo"], false, "(`--server`), and no profiles"),
    ] {
        let server = home.serve_http(&options).unwrap();
        let list = |path: &str| stateless(&server, path, "tools/list", json!({}));
        let whole = list("/mcp");
        assert!(!names(&whole).contains(&"keeper__count"), "{whole}");
        let work = list(WORK);
        match served {
            true => assert_eq!(work["result"]["tools"], whole["result"]["tools"]),
            false => assert!(work["error"].is_object(), "{work}"),
        }
        let found = list("/mcp/p/found");
        let said = found["error"]["message"].as_str().unwrap();
        assert!(said.contains(hint), "{said}");
    }
}

/// Who listens is told when its profile becomes another one, although the servers are the same.
#[test]
fn a_changed_profile_is_told_and_one_that_has_gone_is_not_there() {
    let home = with_profiles(PROFILES);
    let server = home.serve_http(&[]).unwrap();
    let session = Session::open_at(&server, WORK, json!({})).unwrap();
    let before = in_session(&server, &session, "tools/list", json!({}));
    assert!(!names(&before).contains(&"echo__echo"), "{before}");
    let mut news = server.ask(&session.news().at(WORK)).unwrap();
    let config = fs::read_to_string(home.config()).unwrap();
    let more = config.replace("['echo__add', 'library']", "['echo', 'library']");
    fs::write(home.config(), more).unwrap();
    loop {
        let (_, message) = news.event().unwrap().unwrap();
        if message["method"] == "notifications/tools/list_changed" {
            break;
        }
    }
    let after = in_session(&server, &session, "tools/list", json!({}));
    assert!(names(&after).contains(&"echo__echo"), "{after}");
    fs::write(
        home.config(),
        config.replace("profiles.work", "profiles.gone"),
    )
    .unwrap();
    let ping = session.request(2, "ping", json!({})).at(WORK);
    wait_for("the profile goes", || {
        server.ask(&ping).unwrap().status == 404
    });
}

/// What changes of servers that a profile does not have is no change of its lists.
#[test]
fn a_change_of_what_a_profile_does_not_have_is_told_to_none_of_its_clients() {
    let home = with_profiles(PROFILES);
    let server = home.serve_http(&[]).unwrap();
    let paths = ["/mcp", WORK];
    let mut news = paths.map(|path| {
        let session = Session::open_at(&server, path, json!({})).unwrap();
        server.ask(&session.news().at(path)).unwrap()
    });
    let params = json!({ "notifications": {
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
    } });
    let listen = Request::stateless(5, "subscriptions/listen", params).at(WORK);
    let mut listened = server.ask(&listen).unwrap();
    // Until the changes of the last list that is told of.
    let until = |news: &mut Answer, last: &str| {
        let mut told = Vec::new();
        while told.last().is_none_or(|told| told != last) {
            let (_, message) = news.event().unwrap().expect("the stream ends");
            let method = message["method"].as_str().unwrap_or_default();
            if method.ends_with("/list_changed") {
                told.push(method.to_owned());
            }
        }
        told
    };
    loop {
        let (_, message) = listened.event().unwrap().expect("the stream ends");
        if message["method"] == "notifications/subscriptions/acknowledged" {
            break;
        }
    }
    let write = |config: &str| {
        let other = home.path().join("other.toml");
        fs::write(&other, config).unwrap();
        fs::rename(other, home.config()).unwrap();
    };
    let config = fs::read_to_string(home.config()).unwrap();
    // A server that only the whole has; then one that the profile loses.
    let [tools, prompts, resources] =
        ["tools", "prompts", "resources"].map(|list| format!("notifications/{list}/list_changed"));
    let without = config.replace("[servers.keeper]\n", "[servers.keeper]\nenabled = false\n");
    assert_ne!(without, config);
    write(&without);
    until(&mut news[0], &tools);
    write(&without.replace("['echo', 'library']", "['echo']"));
    for news in [&mut news[1], &mut listened] {
        let told = until(news, &resources);
        assert_eq!(told, [&*tools, &*prompts, &*resources]);
    }
}

/// What a tool may do is said by its own server, also where another one that the profile does not have
/// takes its name from it elsewhere.
#[test]
fn a_tool_of_a_profile_is_what_its_server_says_whoever_else_has_its_name() {
    let home = Home::new().unwrap();
    let echo = artifacts::guest("echo").unwrap();
    for name in ["one", "two"] {
        let more =
            format!("prefix = ''\n[servers.{name}.annotations]\nadd = {{ readOnlyHint = true }}\n");
        home.server_with(name, &echo, &more).unwrap();
    }
    let servers = fs::read_to_string(home.config()).unwrap();
    let profile = "[profiles.work]\nservers = ['one']\nexpose = 'search'\n\n";
    fs::write(home.config(), format!("{profile}{servers}")).unwrap();
    let server = home.serve_http(&[]).unwrap();
    let arguments = json!({ "name": "add", "arguments": { "a": 2, "b": 3 } });
    let added = stateless(
        &server,
        WORK,
        "tools/call",
        call("call_tool", arguments.clone()),
    );
    assert_eq!(added["result"]["structuredContent"]["result"], 5, "{added}");
    let refused = stateless(
        &server,
        WORK,
        "tools/call",
        call("call_tool_destructive", arguments),
    );
    assert_eq!(refused["result"]["isError"], true, "{refused}");
}
