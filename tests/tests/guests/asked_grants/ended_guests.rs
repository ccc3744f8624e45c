//! Guests that end because of what has come of a question to their user.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const ASK: &str = "elicitation/create";

/// Whatever its user answers, nothing more of a request that was begun before goes out.
#[test]
fn a_plugin_whose_tool_is_denied_by_then_writes_no_more_into_an_open_request() {
    for answer in ["once", "no"] {
        let requests =
            |host: &str| format!("/// @instance per-session\n/// @grant http GET http://{host}\n");
        let mut asked = Asked::with(requests, json!({ "elicitation": {} }));
        let host = asked.host.authority();
        let granted = format!("POST http://{host}");
        let words = ["grant", "asks", "--grant-http", &granted, "--yes"];
        let output = asked.home.run(&words).unwrap();
        assert!(output.status.success(), "{output:?}");
        let arguments = json!({ "posted": host, "asked": host, "body": "written late" });
        let (home, wire) = (&asked.home, &mut asked.wire);
        let tool = "asks__write_later";
        let result = denied_while_asked(home, wire, tool, &arguments, &chosen(answer));
        assert_eq!(result["result"]["isError"], true, "{answer}: {result}");
        // The host has the beginning of it, and then its end.
        wait_for(|| !asked.host.received().is_empty());
        let received = asked.host.received();
        assert_eq!(received.len(), 1, "{answer}: {received:?}");
        assert!(
            received[0].starts_with("POST / ") && !received[0].contains("written late"),
            "{answer}: {received:?}"
        );
    }
}

/// It is not told the reason, and does nothing with it: its call is answered with that.
#[test]
fn a_plugin_does_not_go_on_where_its_own_question_is_answered_when_its_tool_is_denied() {
    let home = Home::new().unwrap();
    let asker = dormouse_tests::artifacts::guest("asker").unwrap();
    home.server("asks", &asker).unwrap();
    let mut wire = Wire::spawn(&mut home.command(&["serve"])).unwrap();
    let able = json!({ "elicitation": {} });
    wire.initialize_able(able).unwrap();
    let content = json!({ "city": "Berlin", "tone": "kind", "times": ["am"], "metric": true });
    let answer = json!({ "action": "accept", "content": content });
    let result = denied_while_asked(&home, &mut wire, "asks__survey", &json!({}), &answer);
    let result = &result["result"];
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        result["isError"] == true && text.starts_with("server `asks`, tool `survey`: "),
        "{result}"
    );
}

/// Also where it has its answer, and waits for its turn, when the rules are written.
#[test]
fn a_plugin_that_waits_for_its_turn_goes_on_by_the_rules_of_then() {
    let deny = "deny = ['asks__able', 'asks__greet']";
    let confirm = "deny = ['asks__able']\nconfirm = ['destructive']";
    for (rules, answer, said) in [
        (deny, None, "`deny` of `[exposure]`"),
        (confirm, Some("once"), "Hello, Ada!"),
        (confirm, Some("no"), "does not want it"),
    ] {
        let home = Home::new().unwrap();
        let asker = dormouse_tests::artifacts::guest("asker").unwrap();
        let limits = "[servers.asks.limits]\ninstances = 1";
        home.server_with("asks", &asker, limits).unwrap();
        let able = json!({ "elicitation": {} });
        let mut client = Client::start_able(&mut home.command(&["serve"]), able).unwrap();
        let [(greets, its_question), (hangs, other_question)] = ["greet", "hang"].map(|tool| {
            let call = json!({ "name": format!("asks__{tool}"), "arguments": {} });
            let id = client.send("tools/call", call).unwrap();
            (id, client.notification(ASK, client::PATIENCE).unwrap())
        });
        let name = json!({ "action": "accept", "content": { "name": "Ada" } });
        client.reply(&other_question, name.clone()).unwrap();
        // Its turn is that one's as long as it runs, and nothing says that it has begun to.
        std::thread::sleep(Duration::from_millis(500));
        client.reply(&its_question, name).unwrap();
        let config = std::fs::read_to_string(home.config()).unwrap();
        let config = format!("[exposure]\n{rules}\n\n{config}");
        std::fs::write(home.config(), config).unwrap();
        dormouse_tests::wait::until("the rules to be read", || {
            let tools = client.tools()?;
            let is_there = tools.iter().any(|tool| tool["name"] == "asks__able");
            anyhow::ensure!(!is_there, "{tools:?}");
            Ok(())
        })
        .unwrap();
        let ended = json!({ "requestId": hangs });
        client.notify("notifications/cancelled", ended).unwrap();
        if let Some(answer) = answer {
            let asked = client.notification(ASK, client::PATIENCE).unwrap();
            assert!(asked.to_string().contains("Tool: greet"), "{asked}");
            client.reply(&asked, chosen(answer)).unwrap();
        }
        let result = client.answer(greets).unwrap().to_string();
        assert!(result.contains(said), "{rules}: {result}");
    }
}

/// Starts a host whose responses have no end. Returns where it is, and the number of clients that have
/// ended their connection.
fn endless() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let authority = listener.local_addr().unwrap().to_string();
    let gone = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&gone);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let counted = Arc::clone(&counted);
            std::thread::spawn(move || {
                let mut more = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
                if stream.read(&mut [0; 4096]).is_ok() {
                    while stream.write_all(&more).is_ok() {
                        more = vec![b'x'; 4096];
                    }
                }
                counted.fetch_add(1, Ordering::AcqRel);
            });
        }
    });
    (authority, gone)
}

/// Has the plugin keep a response, and answers what its user is asked. Returns what it says.
fn held(asked: &mut Asked, authority: &str, answer: &str) -> String {
    let id = asked.next;
    asked.next += 1;
    let call = json!({ "name": "asks__hold", "arguments": { "authority": authority } });
    let call = wire::request(id, "tools/call", call);
    asked.wire.send(&call).unwrap();
    loop {
        let message = asked.wire.receive().unwrap();
        if message["method"] == "elicitation/create" {
            let result = chosen(answer);
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            asked.wire.send(&answer).unwrap();
        } else if message["id"] == id && message.get("method").is_none() {
            return message["result"].to_string();
        }
    }
}

/// Also one that the plugin keeps and nobody reads; what lasts longer than the call is kept.
#[test]
fn a_request_that_is_allowed_for_one_call_ends_with_it() {
    let (authority, gone) = endless();
    let requests =
        |_: &str| format!("/// @instance per-session\n/// @grant http GET http://{authority}\n");
    let mut asked = Asked::with(requests, json!({ "elicitation": {} }));
    for count in 1..=2 {
        let said = held(&mut asked, &authority, "once");
        assert!(said.contains("1 held"), "{said}");
        wait_for(|| gone.load(Ordering::Acquire) == count);
    }
    // Its last one was allowed for that call alone, so that the instance is another one now.
    for count in 1..=2 {
        let said = held(&mut asked, &authority, "session");
        assert!(said.contains(&format!("{count} held")), "{said}");
    }
    assert_eq!(gone.load(Ordering::Acquire), 2);
}
