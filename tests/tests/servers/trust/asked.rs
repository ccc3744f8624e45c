//! Users who are asked whether a project is trusted.

use dormouse_tests::Client;
use dormouse_tests::wire::{LEGACY, stateless};
use serde_json::json;

use crate::scripted::{agreed, asks, call_and_answer, comes_to, tools, write};
use crate::trust::{TRUST, at_a_terminal, project};

#[test]
fn users_are_asked() {
    let all = project();
    let mut host = all.serve_project(asks());
    assert_eq!(host.hello["protocolVersion"], LEGACY);
    assert_eq!(tools(&mut host), [TRUST]);
    host.always_answers("elicitation/create", json!({ "action": "decline" }));
    let refused = host.error(TRUST, json!({})).unwrap();
    assert!(refused.contains("dormouse trust"), "{refused}");
    assert_eq!(tools(&mut host), [TRUST]);
    // One no is one for the whole session, however often a model asks.
    host.always_answers("elicitation/create", agreed());
    for _ in 0..3 {
        let refused = host.error(TRUST, json!({})).unwrap();
        assert!(refused.contains("`dormouse trust`"), "{refused}");
    }
    assert_eq!(host.asked.len(), 1, "{:?}", host.asked);
    let mut host = all.serve_project(asks());
    host.always_answers("elicitation/create", agreed());
    host.text(TRUST, json!({})).unwrap();
    let [asked] = host.asked.as_slice() else {
        panic!("not one question but {:?}", host.asked);
    };
    let message = asked["params"]["message"].as_str().unwrap();
    for part in ["`evil`", "scripted.py", ".mcp.json", "`SECRET`"] {
        assert!(message.contains(part), "no `{part}` in {message}");
    }
    assert!(!message.contains("hunter"), "{message}");
    assert_eq!(all.starts("evil"), 0, "trusting starts nothing");
    comes_to(&mut host, &["evil__discover"]);
    host.text("evil__discover", json!({})).unwrap();
    comes_to(&mut host, &["evil__go"]);
    host.text("evil__go", json!({})).unwrap();
    assert_eq!(host.asked.len(), 1, "asked once more although trusted");
}

/// Where there is no handshake, the question is the answer to the call.
#[test]
fn users_are_asked_without_handshake() {
    let all = project();
    let mut command = all.home.command(&["serve"]);
    let mut host = Client::spawn(command.current_dir(all.project())).unwrap();
    let list = host.request("tools/list", stateless(json!({}), asks()));
    let tool = list.unwrap()["tools"][0].take();
    assert_eq!(tool["name"], TRUST);
    let mark = "anthropic/requiresUserInteraction";
    assert_eq!(tool["_meta"][mark], true, "{tool}");
    let list = host.request("tools/list", stateless(json!({}), json!({})));
    assert_eq!(list.unwrap()["tools"], json!([]));
    let (question, told) = call_and_answer(&mut host, TRUST, &agreed());
    assert_eq!(question["method"], "elicitation/create");
    assert!(question.to_string().contains("scripted.py"), "{question}");
    assert!(told.to_string().contains("trusted now"), "{told}");
}

/// Trust is given to the files that were shown, and not to those that are there at the end.
#[test]
fn what_changes_while_a_form_is_open_is_not_trusted() {
    let all = project();
    all.offers("worse", &[("go", "Goes.")]);
    let mut host = all.serve_project(asks());
    let call = host
        .send("tools/call", json!({ "name": TRUST, "arguments": {} }))
        .unwrap();
    let asked = host
        .notification("elicitation/create", dormouse_tests::client::PATIENCE)
        .unwrap();
    all.configure(&all.project().join(".mcp.json"), &["worse"]);
    host.reply(&asked, agreed()).unwrap();
    let answer = host.answer(call).unwrap();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(answer.to_string().contains("changed while"), "{answer}");
    assert_eq!(all.run(&["trust", "--list"]), "");
    assert_eq!(tools(&mut host), [TRUST]);
    assert_eq!(all.starts("evil") + all.starts("worse"), 0);
}

#[test]
fn whoever_sits_at_a_terminal_is_asked_and_trusts_what_they_saw() {
    let all = project();
    let project = all.project();
    let no = json!([["[y/N] ", "n\n"]]);
    let (shown, code) = at_a_terminal(&all, &project, &["trust"], &no);
    assert_eq!(code, Some(1), "{shown}");
    assert_eq!(all.run(&["trust", "--list"]), "");
    let copy = project.join("next.json");
    all.offers("worse", &[("go", "Goes.")]);
    all.configure(&copy, &["worse"]);
    let change = json!(["mv", copy, project.join(".mcp.json")]);
    let swapped = json!([["[y/N] ", "y\n", change]]);
    let (shown, code) = at_a_terminal(&all, &project, &["trust"], &swapped);
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("changed while"), "{shown}");
    assert_eq!(all.run(&["trust", "--list"]), "");
    let yes = json!([["[y/N] ", "y\n"]]);
    let (shown, code) = at_a_terminal(&all, &project, &["trust"], &yes);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("`worse`"), "{shown}");
    assert!(!all.run(&["trust", "--list"]).is_empty());
}

/// Texts that are too long to be read in a form are not decided in one.
#[test]
fn a_project_that_does_not_fit_into_a_form_is_not_asked_about() {
    let all = project();
    let text = all.client_file(&["evil"]);
    let arguments: Vec<_> = (0..4000)
        .map(|number| format!("argument-{number}"))
        .collect();
    let first = all.words("evil")[1].clone();
    let many = format!(
        "{}, {}",
        json!(first),
        json!(arguments).to_string().trim_matches(['[', ']'])
    );
    let text = text.replace(&json!(first).to_string(), &many);
    write(&all.project().join(".mcp.json"), &text);
    let mut host = all.serve_project(asks());
    host.always_answers("elicitation/create", agreed());
    let refused = host.error(TRUST, json!({})).unwrap();
    assert!(
        refused.contains("fits into a form") && refused.contains("`dormouse trust`"),
        "{refused}"
    );
    assert_eq!(host.asked.len(), 0, "{:?}", host.asked);
    assert_eq!(all.run(&["trust", "--list"]), "");
    let (trusted, said) = all.run_in(&all.project(), &["trust"]);
    assert!(!trusted && said.contains("argument-3999"), "{said:.300}");
}
