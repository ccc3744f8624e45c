//! Rules of exposure, profiles and `confirm` that are written while a call waits for somebody: the call
//! goes on as they are then.

use std::fs;

use anyhow::ensure;
use dormouse_tests::client::{PATIENCE, text};
use dormouse_tests::http::{Request, Server, Session};
use dormouse_tests::wire::{self, stateless};
use dormouse_tests::{Client, wait};
use serde_json::{Value, json};

use crate::confirmed_calls::{ASK, chosen, home, is_added, is_refused, serve, sum};
use crate::scripted::{Scripted, agreed, asks, tools};

const WORK: &str = "/mcp/p/work";

/// Replaces a part of a home's own file.
fn rewrite(home: &dormouse_tests::Home, before: &str, after: &str) {
    let config = fs::read_to_string(home.config()).unwrap();
    assert!(config.contains(before), "{config}");
    fs::write(home.config(), config.replace(before, after)).unwrap();
}

/// Writes other rules, with a server more, and waits until a host has read them.
fn write_rules(all: &Scripted, client: &mut Client, rules: &str) {
    let command = json!(all.words("other"));
    let other = format!("\n[servers.other]\ncommand = {command}\n");
    let config = fs::read_to_string(all.home.config()).unwrap();
    let config = config.replace("mode = 'direct'", rules) + &other;
    fs::write(all.home.config(), config).unwrap();
    wait::until("the host to read the rules", || {
        let now = tools(client);
        ensure!(now.iter().any(|tool| tool == "other__discover"), "{now:?}");
        Ok(())
    })
    .unwrap();
}

fn wipe(description: &str) -> Value {
    json!([{ "name": "wipe", "description": description, "inputSchema": { "type": "object" },
        "annotations": { "readOnlyHint": false, "destructiveHint": true } }])
}

/// Returns a server `disk` with that tool, whose changes its user approves in a form.
fn disk(tool: &Value) -> Scripted {
    let all = Scripted::new();
    all.offers_just("disk", tool);
    all.own("disk", "on_change = \"ask\"\n");
    all.home.synced("disk").unwrap();
    let servers = fs::read_to_string(all.home.config()).unwrap();
    let exposure = "[exposure]\nmode = 'direct'\n\n";
    fs::write(all.home.config(), format!("{exposure}{servers}")).unwrap();
    all
}

/// Nobody was asked about the call when it began: its server has been started for it, and the user is
/// asked whether the tool may be what it has become.
#[test]
fn a_call_that_was_not_asked_about_when_it_began_is_asked_about_by_then() {
    let confirm = "mode = 'direct'\nconfirm = ['destructive']";
    let deny = "mode = 'direct'\ndeny = ['disk__wipe']";
    for (rules, answer, refused) in [
        ("mode = 'direct'\nconfirm = []", None, None),
        (confirm, Some("once"), None),
        (confirm, Some("no"), Some("does not want it")),
        (deny, None, Some("`deny` of `[exposure]`")),
    ] {
        let all = disk(&wipe("One."));
        let mut client = serve(&all.home, asks());
        all.offers_just("disk", &wipe("Two."));
        let call = json!({ "name": "disk__wipe", "arguments": {} });
        let id = client.send("tools/call", call).unwrap();
        let approval = client.notification(ASK, PATIENCE).unwrap();
        assert!(approval.to_string().contains("Two."), "{approval}");
        write_rules(&all, &mut client, rules);
        client.reply(&approval, agreed()).unwrap();
        if let Some(answer) = answer {
            let asked = client.notification(ASK, PATIENCE).unwrap();
            assert!(asked.to_string().contains("Tool: wipe"), "{asked}");
            client.reply(&asked, chosen(answer)).unwrap();
        }
        let result = client.answer(id).unwrap()["result"].take();
        match refused {
            None => assert_eq!(text(&result), Some("wipe {}"), "{rules}: {result}"),
            Some(why) => assert!(is_refused(&result, why), "{rules}: {result}"),
        }
        assert!(client.asked.is_empty(), "{rules}: {:?}", client.asked);
    }
}

/// What a server has asked its user in a call that may not go on by then is answered to nobody.
#[test]
fn an_answer_does_not_reach_a_server_whose_tool_is_denied_by_then() {
    for (rules, is_told) in [
        ("mode = 'direct'\ndeny = []", true),
        ("mode = 'direct'\ndeny = ['disk__ask-later']", false),
    ] {
        let all = disk(&json!([{ "name": "ask-later", "inputSchema": { "type": "object" } }]));
        let mut client = serve(&all.home, asks());
        let form = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
        let question = json!({ "method": ASK,
            "params": { "mode": "form", "message": "Who?", "requestedSchema": form } });
        let call = json!({ "name": "disk__ask-later",
            "arguments": { "question": question, "seconds": 0 } });
        let id = client.send("tools/call", call).unwrap();
        let asked = client.notification(ASK, PATIENCE).unwrap();
        write_rules(&all, &mut client, rules);
        let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
        client.reply(&asked, answer).unwrap();
        let result = client.answer(id).unwrap().to_string();
        assert_eq!(result.contains("Ada"), is_told, "{rules}: {result}");
        let is_refused = result.contains("`deny` of `[exposure]`");
        assert_eq!(is_refused, !is_told, "{rules}: {result}");
    }
}

/// Waits until the clients of the profile see a tool no more.
fn lose_the_tool(server: &Server, tool: &str) {
    let request = Request::stateless(9, "tools/list", json!({})).at(WORK);
    wait::until("the profile to become another one", || {
        let listed = server.ask(&request)?.result()?;
        ensure!(!listed.to_string().contains(tool), "{listed}");
        Ok(())
    })
    .unwrap();
}

/// Profiles that do not have a tool that `servers = ['echo']` has.
const LESS: [&str; 2] = [
    "servers = ['echo']\ntools = ['echo__echo']",
    "servers = ['another']",
];

/// Returns a server over HTTP with a profile that has the server `echo`, and its home.
fn with_profile() -> (dormouse_tests::Home, Server) {
    let home = home("mode = 'direct'\nconfirm = ['destructive']", "");
    let servers = fs::read_to_string(home.config()).unwrap();
    let profile = "[profiles.work]\nservers = ['echo']\n\n";
    fs::write(home.config(), format!("{profile}{servers}")).unwrap();
    let server = home.serve_http(&[]).unwrap();
    (home, server)
}

fn is_not_in_profile(message: &Value) -> bool {
    message.to_string().contains("not in the profile")
}

#[test]
fn a_call_of_a_session_goes_on_by_what_its_profile_has_then() {
    for less in LESS {
        let (home, server) = with_profile();
        let session = Session::open_at(&server, WORK, asks()).unwrap();
        let params = json!({ "name": "echo__add", "arguments": sum() });
        let request = session.request(1, "tools/call", params).at(WORK);
        let mut called = server.ask(&request).unwrap();
        let mut events = std::iter::from_fn(|| called.event().unwrap());
        let asked = events.find(|(_, message)| message["method"] == ASK);
        let (_, asked) = asked.expect("nothing is asked");
        rewrite(&home, "servers = ['echo']", less);
        lose_the_tool(&server, "echo__add");
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": chosen("once") });
        let taken = server.ask(&session.message(&answer).at(WORK)).unwrap();
        assert_eq!(taken.status, 202);
        let refused = called.messages().unwrap().pop().unwrap();
        assert!(is_not_in_profile(&refused), "{less}: {refused}");
        assert!(!is_added(&refused["result"]), "{less}: {refused}");
    }
}

#[test]
fn a_call_without_a_session_goes_on_by_what_its_profile_has_then() {
    let (home, server) = with_profile();
    let ask = |more: &Value| {
        let mut params = json!({ "name": "echo__add", "arguments": sum() });
        let members = params.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        let params = stateless(params, asks());
        let mut request = Request::stateless(1, "tools/call", params.clone()).at(WORK);
        request.body = wire::request(1, "tools/call", params).to_string().into();
        let mut messages = server.ask(&request).unwrap().messages().unwrap();
        messages.pop().unwrap()
    };
    let begin = || {
        let first = ask(&json!({}))["result"].take();
        let questions = first["inputRequests"].as_object();
        let questions = questions.unwrap_or_else(|| panic!("nothing is asked: {first}"));
        let (id, _) = questions.iter().next().unwrap();
        json!({ "requestState": first["requestState"],
            "inputResponses": { id: chosen("once") } })
    };
    let made = ask(&begin());
    assert!(is_added(&made["result"]), "{made}");
    let yes = begin();
    rewrite(&home, "servers = ['echo']", LESS[0]);
    lose_the_tool(&server, "echo__add");
    let refused = ask(&yes);
    assert!(is_not_in_profile(&refused), "{refused}");
    assert!(!is_added(&refused["result"]), "{refused}");
}

/// The server is started for the request, and starts for as long as nobody lets it: what its clients may
/// ask it for is looked at again then, of tools and of all else.
#[test]
fn a_request_goes_on_by_what_its_profile_has_when_its_server_is_started() {
    let all = Scripted::new();
    let [begun, gate] = ["begun", "gate"].map(|name| all.home.path().join(name));
    let resource = json!({ "uri": "disk://1", "name": "one" });
    let offered = json!({ "tools": wipe("One."), "resources": [resource] });
    all.offers_just("disk", &offered);
    let wait_for_gate = format!(
        "touch '{}'; while [ ! -e '{}' ]; do sleep 0.05; done; exec \"$@\"",
        begun.display(),
        gate.display()
    );
    let mut words = vec![
        "sh".to_owned(),
        "-c".to_owned(),
        wait_for_gate,
        "sh".to_owned(),
    ];
    words.extend(all.words("disk"));
    let command = format!("command = {}\n", json!(words));
    all.home.table("disk", &command).unwrap();
    fs::write(&gate, "").unwrap();
    all.home.synced("disk").unwrap();
    let config = fs::read_to_string(all.home.config()).unwrap();
    let exposure = "[exposure]\nmode = 'direct'\n\n[profiles.work]\nservers = ['disk']\n\n";
    let config = format!("{exposure}{config}");
    for (method, params, why) in [
        (
            "tools/call",
            json!({ "name": "disk__wipe", "arguments": {} }),
            "not in the profile",
        ),
        (
            "resources/read",
            json!({ "uri": "disk://1" }),
            "the profile that is served does not have it",
        ),
    ] {
        for is_changed in [false, true] {
            fs::remove_file(&gate).unwrap();
            fs::remove_file(&begun).unwrap();
            fs::write(all.home.config(), &config).unwrap();
            let server = all.home.serve_http(&[]).unwrap();
            let request = Request::stateless(1, method, params.clone()).at(WORK);
            let asked = server.begin(&request).unwrap();
            wait::until("the server to be started", || {
                ensure!(begun.exists(), "it is not");
                Ok(())
            })
            .unwrap();
            if is_changed {
                rewrite(&all.home, "servers = ['disk']", "servers = ['another']");
                lose_the_tool(&server, "disk__wipe");
            }
            fs::write(&gate, "").unwrap();
            let answer = asked.answer().unwrap().messages().unwrap().pop().unwrap();
            let answer = answer.to_string();
            assert_eq!(answer.contains(why), is_changed, "{method}: {answer}");
            let is_answered = answer.contains("wipe {}") || answer.contains("from disk");
            assert_eq!(is_answered, !is_changed, "{method}: {answer}");
        }
    }
}
