//! Changed tools that are approved by a prompt of Dormouse's.

use std::fs;

use dormouse_tests::Client;
use dormouse_tests::wire::stateless;
use serde_json::{Value, json};

use crate::changes::approval::changed;
use crate::scripted::{agreed, asks, comes_to, told_of_change};

/// Returns a request for the prompt by which a user approves something.
pub(super) fn approve_prompt(server: &str) -> Value {
    json!({ "name": "approve", "arguments": { "server": server } })
}

/// Returns the text of the prompt.
fn said(result: &Value) -> &str {
    result["messages"][0]["content"]["text"].as_str().unwrap()
}

/// Items that wait, under the default too, are approved from within a session: in a form that their
/// user has asked for. Texts for models have nothing of them.
#[test]
fn users_approve_by_a_prompt_of_dormouses() {
    let all = changed("");
    all.offers("quiet", &[("go", "Goes.")]);
    all.own("quiet", "");
    for server in ["quiet", "post"] {
        all.home.synced(server).unwrap();
    }
    let serve = |able: Value| Client::start_able(&mut all.home.command(&["serve"]), able).unwrap();
    let words = "Sends all your secrets.";
    let shows = |host: &mut Client| json!(host.tools().unwrap()).to_string().contains(words);
    let refuses = |host: &mut Client| {
        let result = host.request("prompts/get", approve_prompt("post")).unwrap();
        let told = said(&result);
        for part in [
            "`post`",
            "1 item",
            "is not approved",
            "`dormouse approve post`",
        ] {
            assert!(told.contains(part), "no `{part}` in {told}");
        }
        assert!(!result.to_string().contains("secrets"), "{result}");
        assert!(!shows(host));
    };
    // Who cannot be asked is told the command.
    let mut host = serve(json!({}));
    refuses(&mut host);
    assert_eq!(host.asked.len(), 0);
    // Who says no has said it for this session.
    let mut host = serve(asks());
    for answer in [json!({ "action": "decline" }), agreed()] {
        host.always_answers("elicitation/create", answer);
        refuses(&mut host);
    }
    assert_eq!(host.asked.len(), 1);
    let log = all.home.path().join("cache/data/dormouse/decisions.jsonl");
    assert!(!log.exists(), "something was decided");

    let mut host = serve(asks());
    host.always_answers("elicitation/create", agreed());
    let typed = json!({
        "ref": { "type": "ref/prompt", "name": "approve" },
        "argument": { "name": "server", "value": "" }
    });
    let completed = |host: &mut Client| {
        let completed = host.request("completion/complete", typed.clone()).unwrap();
        completed["completion"]["values"].clone()
    };
    assert_eq!(completed(&mut host), json!(["post"]));
    let result = host.request("prompts/get", approve_prompt("POST")).unwrap();
    let told = said(&result);
    assert!(
        told.contains("`post` (1 item)") && told.contains("approved"),
        "{told}"
    );
    assert!(!result.to_string().contains("secrets"), "{result}");
    let message = host.asked[0]["params"]["message"].as_str().unwrap();
    let shown = [
        "tool `send`",
        "- Sends a letter.",
        "+ Sends all your secrets.",
    ];
    for part in shown {
        assert!(message.contains(part), "no `{part}` in {message}");
    }
    // Nothing of it is rendered.
    let is_block = message.starts_with("```text\n") && message.ends_with("\n```\n");
    assert!(is_block, "{message}");
    told_of_change(&mut host);
    assert!(shows(&mut host));
    let log = fs::read_to_string(log).unwrap();
    let line: Value = serde_json::from_str(log.trim()).unwrap();
    for (member, value) in [("what", "approve"), ("subject", "post"), ("by", "client")] {
        assert_eq!(line[member], value, "{line}");
    }
    // Nothing is asked where nothing waits.
    assert_eq!(completed(&mut host), json!([]));
    for server in ["post", "quiet"] {
        let result = host.request("prompts/get", approve_prompt(server)).unwrap();
        assert!(
            said(&result).contains("Nothing of the MCP server"),
            "{result}"
        );
    }
    assert_eq!(host.asked.len(), 1);
    for (params, part) in [
        (json!({ "name": "approve" }), "`server`"),
        (approve_prompt("posd"), "`post`"),
    ] {
        let refused = host.outcome("prompts/get", params).unwrap();
        let refused = refused["error"]["message"].to_string();
        assert!(refused.contains(part), "no `{part}` in {refused}");
    }
}

/// The same holds where there is no handshake: the question is an answer.
#[test]
fn users_approve_by_a_prompt_without_a_handshake() {
    let all = changed("");
    all.home.synced("post").unwrap();
    let mut host = Client::spawn(&mut all.home.command(&["serve"])).unwrap();
    let mut get = |able: Value, more: Value| {
        let mut params = approve_prompt("post");
        let members = params.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        host.outcome("prompts/get", stateless(params, able))
            .unwrap()
    };
    let unasked = get(json!({}), json!({}));
    assert!(
        said(&unasked["result"]).contains("`dormouse approve post`"),
        "{unasked}"
    );
    let first = get(asks(), json!({}))["result"].clone();
    assert_eq!(first["resultType"], "input_required", "{first}");
    let questions = first["inputRequests"].as_object().unwrap();
    let (id, question) = questions.iter().next().unwrap();
    assert!(
        question.to_string().contains("- Sends a letter."),
        "{question}"
    );
    let again = json!({
        "requestState": first["requestState"], "inputResponses": { id: agreed() }
    });
    let last = get(asks(), again.clone());
    assert!(said(&last["result"]).contains("`post` (1 item)"), "{last}");
    // That answer was to that question.
    let twice = get(asks(), again);
    assert!(twice.get("error").is_some(), "{twice}");
    let shown = all.run(&["approve", "post", "--dry-run"]);
    assert!(shown.contains("nothing of `post` has changed"), "{shown}");
}

#[test]
fn what_is_gone_is_told_with_what_there_is() {
    let all = changed("");
    all.offers("post", &[("read", "Reads one."), ("stamp", "Is new.")]);
    let mut host = all.serve(&[]);
    let refused = host.error("post__send", json!({})).unwrap();
    for part in ["`send`", "`read`"] {
        assert!(refused.contains(part), "no `{part}` in {refused}");
    }
    // What nobody has seen may be called anything, and a model reads this.
    assert!(!refused.contains("stamp"), "{refused}");
    told_of_change(&mut host);
    // This client can be asked nothing, and there are servers that show such a one less
    // than others: whether the tool is gone for all is looked up. What is new, nobody has
    // seen yet.
    comes_to(&mut host, &["post__read"]);
}
