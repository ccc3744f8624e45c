//! Servers that change their tools: agents go on seeing them as their users have approved them, and
//! calls pass.

use std::fs;

use dormouse_tests::Client;
use serde_json::{Value, json};

use crate::scripted::{Scripted, asks, comes_to, tools};
use crate::trust::at_a_terminal;

pub(super) fn tool(name: &str, description: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    json!({ "name": name, "description": description, "inputSchema": schema })
}

/// Makes a home with a server `post` with these tools, which their user knows.
pub(super) fn knowing(offered: &Value, more: &str) -> Scripted {
    let all = Scripted::new();
    all.offers_just("post", offered);
    all.own("post", more);
    all.home.synced("post").unwrap();
    all
}

/// Returns the tool of that name, as an agent sees it.
pub(super) fn shown(host: &mut Client, name: &str) -> Value {
    let tools = host.tools().unwrap().into_iter();
    let mut tools = tools.filter(|tool| tool["name"] == name);
    tools.next().unwrap()
}

/// Returns the text of a prompt of Dormouse's own.
fn prompt(host: &mut Client, params: Value) -> String {
    host.request("prompts/get", params).unwrap().to_string()
}

#[test]
fn agents_go_on_seeing_what_was_approved_and_calls_pass() {
    let before = json!([tool("send", "Sends a letter."), tool("read", "Reads one.")]);
    let all = knowing(&before, "");
    let mut host = Client::start_able(&mut all.home.command(&["serve"]), asks()).unwrap();
    let listed = host.tools().unwrap();
    all.offers_just(
        "post",
        &json!([
            tool("send", "EVIL"),
            tool("read", "Reads one."),
            tool("EVIL", "EVIL")
        ]),
    );
    let told = host.text("post__send", json!({ "text": "a" })).unwrap();
    assert_eq!(told, r#"send {"text": "a"}"#);
    assert_eq!(host.tools().unwrap(), listed);
    let refused = host.error("post__EVIL", json!({})).unwrap();
    assert!(refused.contains("dormouse approve post"), "{refused}");
    // Nobody was asked unasked.
    assert_eq!(host.asked, [] as [Value; 0]);
    let status = all.home.server_status("post").unwrap();
    assert_eq!(status["state"], "ready", "{status}");
    let waiting = &status["waiting"];
    assert_eq!(
        (&waiting["changed"], &waiting["new"]),
        (&json!(1), &json!(1))
    );
    assert!(
        waiting["since"].as_u64().unwrap() > 1_700_000_000,
        "{status}"
    );

    // Its user is told how much waits, since when, and what to do; a model hears no more.
    let read = host.request("resources/read", json!({ "uri": "dormouse://status" }));
    let for_models = [
        prompt(&mut host, json!({ "name": "servers" })),
        prompt(
            &mut host,
            json!({ "name": "status", "arguments": { "server": "post" } }),
        ),
        read.unwrap().to_string(),
    ];
    for told in for_models {
        assert!(!told.contains("EVIL"), "{told}");
        assert!(
            told.contains("waiting") || told.contains("dormouse approve post"),
            "{told}"
        );
    }
    let servers = prompt(&mut host, json!({ "name": "servers" }));
    for words in ["list", "status", "doctor"] {
        for told in [&all.run(&[words]), &servers] {
            for part in [
                "1 of what it offers has changed, and is shown as it was approved",
                "1 of what it offers is new, and is not shown",
                "(for ",
                "dormouse diff post",
                "dormouse approve post",
            ] {
                assert!(told.contains(part), "{words}: no `{part}` in {told}");
            }
        }
    }

    // A restart changes nothing of that.
    drop(host);
    let mut host = all.serve(&[]);
    assert_eq!(host.tools().unwrap(), listed);
    host.text("post__send", json!({})).unwrap();
    all.run(&["approve", "post", "--yes"]);
    comes_to(&mut host, &["post__EVIL", "post__read", "post__send"]);
    assert_eq!(shown(&mut host, "post__send")["description"], "EVIL");
    let status = all.home.server_status("post").unwrap();
    assert_eq!(status["waiting"], Value::Null, "{status}");
}

/// Hints of a tool, by which a client decides on its own, are never less cautious than those of the
/// tool as it is now.
#[test]
fn hints_are_the_more_cautious_ones_at_once_and_a_changed_output_schema_goes() {
    let mut before = tool("send", "Sends.");
    before["annotations"] = json!({ "title": "Send", "readOnlyHint": true });
    before["outputSchema"] = json!({ "type": "object", "properties": { "a": {} } });
    before["x-odd"] = json!(1);
    let result = json!({ "content": [], "structuredContent": { "EVIL": 1 } });
    let with = |tool: &Value| json!({ "tools": [tool], "results": { "send": result } });
    let all = knowing(&with(&before), "");
    let mut host = all.serve(&[]);
    let mut now = tool("send", "EVIL");
    now["annotations"] = json!({ "title": "EVIL", "destructiveHint": true });
    now["outputSchema"] = json!({ "type": "object", "required": ["EVIL"] });
    all.offers_just("post", &with(&now));
    let before = shown(&mut host, "post__send");
    let called = host.call("post__send", json!({})).unwrap();
    assert_eq!(called, result);
    let mut expected = before;
    expected["annotations"] =
        json!({ "title": "Send", "readOnlyHint": false, "destructiveHint": true });
    expected.as_object_mut().unwrap().remove("outputSchema");
    crate::scripted::told_of_change(&mut host);
    assert_eq!(shown(&mut host, "post__send"), expected);
}

/// A model that has called a tool as it was learns why the call is refused, and no more.
#[test]
fn a_call_that_is_refused_because_the_tool_is_another_says_so() {
    let wanting = |name: &str, wanted: &str| {
        let mut tool = tool(name, "Does.");
        tool["inputSchema"]["required"] = json!([wanted]);
        tool
    };
    // Of `read` only the words change, for which no call is refused.
    let both = |wanted: &str| {
        json!({
            "tools": [wanting("send", wanted), wanting("burn", wanted), tool("read", wanted)],
            "errors": {
                "send": { "code": -32602, "message": "`to` is missing" },
                "read": { "code": -32602, "message": "no" },
            },
            "results": {
                "burn": { "content": [{ "type": "text", "text": "no" }], "isError": true },
            },
        })
    };
    let all = knowing(&both("text"), "");
    let line = "The definition of this tool has changed since its user approved it: \
                `dormouse approve post` shows how, and allows it.";
    let mut host = all.serve(&[]);
    let call = |host: &mut Client, tool: &str| {
        let call = json!({ "name": format!("post__{tool}"), "arguments": {} });
        host.outcome("tools/call", call).unwrap()
    };
    for tool in ["send", "burn", "read"] {
        let answer = call(&mut host, tool).to_string();
        assert!(!answer.contains("dormouse"), "{answer}");
    }
    drop(host);
    all.offers_just("post", &both("to"));
    let mut host = all.serve(&[]);
    let answer = call(&mut host, "send");
    let error = &answer["error"];
    assert_eq!(error["code"], -32602, "{answer}");
    assert_eq!(
        error["message"],
        format!("`to` is missing\n[dormouse] {line}")
    );
    let answer = call(&mut host, "burn");
    let content = &answer["result"]["content"];
    assert_eq!(content[0]["text"], "no", "{answer}");
    assert_eq!(content[1]["text"], format!("[dormouse] {line}"), "{answer}");
    let answer = call(&mut host, "read").to_string();
    assert!(!answer.contains("dormouse"), "{answer}");
}

/// Some servers describe a tool differently at every start, such as with the order of a set in the
/// text.
#[test]
fn what_changes_at_every_start_stays_as_it_was_approved_and_is_told_once() {
    let offer = |round: usize| json!([tool("send", &format!("Round {round}."))]);
    let all = knowing(&offer(0), "");
    let mut told = Vec::new();
    let mut since = Vec::new();
    for round in 1..4 {
        all.offers_just("post", &offer(round));
        let mut host = all.serve(&[]);
        host.text("post__send", json!({})).unwrap();
        assert_eq!(shown(&mut host, "post__send")["description"], "Round 0.");
        let status = all.home.server_status("post").unwrap();
        assert_eq!(status["state"], "ready", "{status}");
        since.push(status["waiting"]["since"].clone());
        drop(host);
        let said = all.run(&["sync", "post"]);
        told.push(said.matches("is not what its user has approved").count());
    }
    // The first host has told it in its log.
    assert_eq!(told, [0, 0, 0]);
    assert!(since.windows(2).all(|two| two[0] == two[1]), "{since:?}");
    let all = knowing(&offer(0), "");
    let mut told = Vec::new();
    for round in 1..4 {
        all.offers_just("post", &offer(round));
        let said = all.run(&["sync", "post"]);
        told.push(said.matches("is not what its user has approved").count());
    }
    assert_eq!(told, [1, 0, 0]);
}

#[test]
fn what_is_said_of_changes_of_one_tool_is_about_that_tool() {
    let names = ["asked", "blocked", "taken_a", "taken_b", "usual"];
    let offer = |words: &str| -> Value { names.iter().map(|name| tool(name, words)).collect() };
    let all = knowing(
        &offer("Old."),
        "tools_on_change = { asked = 'ask', blocked = 'block', 'taken_*' = 'accept' }\n",
    );
    all.offers_just("post", &offer("New."));
    let mut host = Client::start_able(&mut all.home.command(&["serve"]), asks()).unwrap();
    host.always_answers("elicitation/create", json!({ "action": "decline" }));
    host.text("post__usual", json!({})).unwrap();
    comes_to(
        &mut host,
        &["post__taken_a", "post__taken_b", "post__usual"],
    );
    for (tool, words) in [("taken_a", "New."), ("taken_b", "New."), ("usual", "Old.")] {
        let shown = shown(&mut host, &format!("post__{tool}"));
        assert_eq!(shown["description"], words, "{tool}");
    }
    host.error("post__blocked", json!({})).unwrap();
    assert_eq!(host.asked.len(), 0, "{:?}", host.asked);
    host.error("post__asked", json!({})).unwrap();
    assert_eq!(host.asked.len(), 1, "{:?}", host.asked);
    let status = all.home.server_status("post").unwrap();
    assert_eq!(status["state"], "quarantined", "{status}");
    assert_eq!(status["changed"], json!(["asked", "blocked", "usual"]));
}

/// Approving works for tools that are named, for one server, and for all.
#[test]
fn approving_takes_what_is_named_and_shown() {
    let all = Scripted::new();
    for name in ["bank", "post", "wiki"] {
        all.offers(name, &[("a", "Old a."), ("b", "Old b.")]);
        all.own(name, "");
        all.home.synced(name).unwrap();
    }
    for name in ["bank", "post"] {
        all.offers(name, &[("a", "New a."), ("b", "New b."), ("c", "New c.")]);
        all.home.synced(name).unwrap();
    }
    let words = |server: &str| {
        let mut host = all.serve(&[]);
        let tools = host.tools().unwrap().into_iter();
        let of = |tool: &Value| tool["name"].as_str().unwrap().starts_with(server);
        let words = tools.filter(of).map(|tool| tool["description"].clone());
        json!(words.collect::<Vec<_>>())
    };
    let (old, new) = (
        json!(["Old a.", "Old b."]),
        json!(["New a.", "New b.", "New c."]),
    );

    let shown = all.run(&["diff"]);
    for part in ["server bank", "server post", "- Old a.", "+ New c."] {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
    assert!(!shown.contains("wiki"), "{shown}");
    assert_eq!(shown.matches("+ New a.").count(), 2, "{shown}");
    let shown = all.run(&["diff", "post"]);
    assert_eq!(shown.matches("+ New a.").count(), 1, "{shown}");
    let shown = all.run(&["diff", "wiki"]);
    assert!(shown.contains("nothing of `wiki` has changed"), "{shown}");

    // Without a terminal nobody is asked, so that nothing is allowed.
    let refused = all.fails(&["approve", "--all"]);
    assert!(refused.contains("--yes"), "{refused}");
    let refused = all.fails(&["approve", "post", "d", "--yes"]);
    assert!(refused.contains("no tool `d` of `post` waits"), "{refused}");
    for wrong in [&["approve"][..], &["approve", "post", "--all"]] {
        let (succeeded, said) = all.run_in(all.home.path(), wrong);
        assert!(!succeeded && said.contains("Usage"), "{said}");
    }
    assert_eq!((words("bank"), words("post")), (old.clone(), old.clone()));

    let shown = all.run(&["approve", "post", "b", "c", "--yes"]);
    assert!(!shown.contains("New a."), "{shown}");
    assert_eq!(words("post"), json!(["Old a.", "New b.", "New c."]));
    // One by one, at a terminal: yes to one server is none to the next.
    let steps = json!([
        ["of `bank` as it is now, in ", "n\n"],
        ["of `post` as it is now, in ", "y\n"],
    ]);
    let home = all.home.path();
    let (shown, code) = at_a_terminal(&all, home, &["approve", "--all"], &steps);
    assert_eq!(code, Some(1), "{shown}");
    assert_eq!((words("bank"), words("post")), (old, new.clone()));
    all.run(&["approve", "--all", "--yes"]);
    assert_eq!(words("bank"), new);
    let log = fs::read_to_string(home.join("cache/data/dormouse/decisions.jsonl")).unwrap();
    let by: Vec<_> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["by"].clone())
        .collect();
    assert_eq!(by, ["flag", "terminal", "flag"]);
    let said = all.run(&["approve", "--all"]);
    assert!(said.contains("nothing of any server has changed"), "{said}");
    assert_eq!(tools(&mut all.serve(&[])).len(), 8);
}

/// A tool that a release has removed leaves the list of every agent when one is connected,
/// whichever client was connected before: no `sync` is needed.
#[test]
fn tools_that_a_release_has_removed_leave_the_list_at_the_next_connection() {
    let before = json!([tool("send", "Sends."), tool("read", "Reads.")]);
    let after = |version: &str| json!({ "tools": [tool("send", "Sends.")], "version": version });
    // Of an agent that knows the tool itself, the release may call itself as it likes; else it says
    // that it is another one.
    for (is_known, version) in [(true, "1.2.3"), (false, "1.2.4")] {
        let all = knowing(&before, "");
        if is_known {
            let mut host = all.serve(&[]);
            host.text("post__send", json!({})).unwrap();
            assert_eq!(tools(&mut host), ["post__read", "post__send"]);
        }
        all.offers_just("post", &after(version));
        let mut host = all.serve(&[]);
        host.text("post__send", json!({})).unwrap();
        comes_to(&mut host, &["post__send"]);
        assert_eq!(tools(&mut all.serve(&[])), ["post__send"]);
    }
}
