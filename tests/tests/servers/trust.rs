//! Servers from a project's files, which whoever has written the project has chosen.

use dormouse_tests::wire::LEGACY;
use dormouse_tests::{Client, artifacts};
use serde_json::json;

use crate::scripted::{Scripted, agreed, asks, call_and_answer, comes_to, tools};

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
    let (question, told) = call_and_answer(&mut host, "evil__discover", &agreed());
    assert_eq!(question["method"], "elicitation/create");
    assert!(question.to_string().contains("scripted.py"), "{question}");
    assert!(told.to_string().contains("evil__go("), "{told}");
    assert_eq!(all.starts("evil"), 1);
}

/// A link to a project is that project.
#[cfg(unix)]
#[test]
fn links_lead_to_the_project() {
    let all = project();
    let link = all.home.path().join("link");
    std::os::unix::fs::symlink(all.project(), &link).unwrap();
    let link = link.display().to_string();
    all.run(&["trust", &link]);
    let mut host = all.serve_project(json!({}));
    host.text("evil__discover", json!({})).unwrap();
    all.run(&["trust", "--revoke", &link]);
    let refused = host.error("evil__go", json!({})).unwrap();
    assert!(refused.contains("dormouse trust"), "{refused}");
}

/// A project's own dormouse.toml is no more its user's than other files of it, also
/// where it names a plugin.
#[test]
fn own_files_of_projects_are_strangers_too() {
    let all = project();
    let time = artifacts::plugin("time").unwrap();
    let own = format!("[servers.clock]\ncomponent = '{}'\n", time.display());
    crate::scripted::write(&all.project().join("dormouse.toml"), &own);
    let mut host = all.serve_project(json!({}));
    let tool = tools(&mut host)
        .into_iter()
        .find(|name| name.starts_with("clock__"));
    let refused = host.error(&tool.unwrap(), json!({})).unwrap();
    for part in ["`clock`", "time.wasm", "dormouse trust"] {
        assert!(refused.contains(part), "no `{part}` in {refused}");
    }
    let (trusted, said) = all.run_in(&all.project(), &["trust"]);
    assert!(
        trusted && said.contains("clock: ") && said.contains("evil: "),
        "{said}"
    );
    assert_eq!(all.home.server_status("clock").unwrap()["state"], "known");
}
