//! Servers from a project's files, which whoever has written the project has chosen.

use dormouse_tests::Client;
use dormouse_tests::wire::{LEGACY, MODERN, stateless};
use serde_json::{Value, json};

use crate::scripted::{Scripted, agreed, asks, comes_to, tools};

fn project() -> Scripted {
    let all = Scripted::new();
    all.offers("evil", &[("go", "Goes.")]);
    all.configure(&all.project().join(".mcp.json"), &["evil"]);
    all
}

#[test]
fn nothing_starts_untrusted() {
    let all = project();
    let mut host = all.serve_project(json!({}));
    assert_eq!(tools(&mut host), ["evil__discover"]);
    let refused = host.error("evil__discover", json!({})).unwrap();
    for part in ["`evil`", "dormouse trust", "scripted.py"] {
        assert!(refused.contains(part), "no `{part}` in {refused}");
    }
    assert!(!refused.contains("hunter"), "{refused}");
    assert_eq!(
        all.home.server_status("evil").unwrap()["state"],
        "untrusted"
    );
    let (synced, said) = all.run_in(&all.project(), &["sync", "evil"]);
    assert!(!synced && said.contains("dormouse trust"), "{said}");
    assert_eq!(all.starts("evil"), 0);

    let (trusted, said) = all.run_in(&all.project(), &["trust"]);
    assert!(trusted && said.contains("scripted.py"), "{said}");
    assert!(!said.contains("hunter"), "{said}");
    let told = host.text("evil__discover", json!({})).unwrap();
    assert!(told.contains("evil__go("), "{told}");
    assert_eq!(all.starts("evil"), 1);

    let folder = all.project().display().to_string();
    assert_eq!(all.run(&["trust", "--list"]).trim(), folder);
    // An edit makes another project of it, whatever was changed.
    let file = all.project().join(".mcp.json");
    let text = all
        .client_file(&["evil"])
        .replace("hunter-two", "hunter-three");
    crate::scripted::write(&file, &text);
    comes_to(&mut host, &["evil__discover"]);
    let refused = host.error("evil__discover", json!({})).unwrap();
    assert!(refused.contains("dormouse trust"), "{refused}");
    assert_eq!(all.starts("evil"), 1);
    all.configure(&file, &["evil"]);
    comes_to(&mut host, &["evil__go"]);
    host.text("evil__go", json!({})).unwrap();

    all.run(&["trust", "--revoke", &folder]);
    assert_eq!(all.run(&["trust", "--list"]), "");
    let refused = host.error("evil__go", json!({})).unwrap();
    assert!(refused.contains("dormouse trust"), "{refused}");
}

/// One that a user has taken is not pushed aside by a stranger's of the same name.
#[test]
fn no_shadow_falls_on_trusted_ones() {
    let all = project();
    all.offers("mine", &[("own", "The user's own.")]);
    let words = json!(all.words("mine"));
    let text = json!({ "mcpServers": { "evil": {
        "command": words[0], "args": [words[1], words[2], words[3]]
    } } });
    crate::scripted::write(&all.cursor(), &text.to_string());
    let mut host = all.serve_project(json!({}));
    let told = host.text("evil__discover", json!({})).unwrap();
    assert!(told.contains("evil__own("), "{told}");
    assert_eq!(all.starts("mine"), 1);
    assert_eq!(all.starts("evil"), 0);
}

#[test]
fn users_are_asked() {
    let all = project();
    let mut host = all.serve_project(asks());
    assert_eq!(host.hello["protocolVersion"], LEGACY);
    host.always_answers("elicitation/create", json!({ "action": "decline" }));
    let refused = host.error("evil__discover", json!({})).unwrap();
    assert!(refused.contains("dormouse trust"), "{refused}");
    assert_eq!(all.starts("evil"), 0);
    host.always_answers("elicitation/create", agreed());
    host.text("evil__discover", json!({})).unwrap();
    assert_eq!(all.starts("evil"), 1);
    let [_, asked] = host.asked.as_slice() else {
        panic!("not two questions but {:?}", host.asked);
    };
    let message = asked["params"]["message"].as_str().unwrap();
    for part in ["`evil`", "scripted.py", ".mcp.json"] {
        assert!(message.contains(part), "no `{part}` in {message}");
    }
    comes_to(&mut host, &["evil__go"]);
    host.text("evil__go", json!({})).unwrap();
    assert_eq!(host.asked.len(), 2, "asked once more although trusted");
}

/// Where there is no handshake, the question is the answer to the call.
#[test]
fn users_are_asked_without_handshake() {
    let all = project();
    let mut command = all.home.command(&["serve"]);
    let mut host = Client::spawn(command.current_dir(all.project())).unwrap();
    let call = |more: Value| {
        let mut params = json!({ "name": "evil__discover", "arguments": {} });
        let members = params.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        stateless(params, asks())
    };
    let first = host.request("tools/call", call(json!({}))).unwrap();
    assert_eq!(first["resultType"], "input_required", "{MODERN}: {first}");
    assert_eq!(all.starts("evil"), 0);
    let questions = first["inputRequests"].as_object().unwrap();
    let id = questions.keys().next().unwrap();
    let again = json!({
        "requestState": first["requestState"], "inputResponses": { id: agreed() }
    });
    let second = host.request("tools/call", call(again)).unwrap();
    assert!(second.to_string().contains("evil__go("), "{second}");
    assert_eq!(all.starts("evil"), 1);
}
