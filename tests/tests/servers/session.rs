//! Actions of users within a session.

use dormouse_tests::oauth;
use serde_json::{Value, json};

use crate::scripted::{Scripted, comes_to, tools};

#[test]
fn commands_are_prompts() {
    let all = Scripted::new();
    for name in ["Notes", "post"] {
        all.offers(name, &[("add", "Adds.")]);
    }
    all.configure(&all.cursor(), &["Notes", "post"]);
    let mut host = all.serve(&[]);
    assert_eq!(tools(&mut host), ["Notes__discover", "post__discover"]);
    let prompts = host.list("prompts/list", "prompts").unwrap();
    let named: Vec<_> = prompts
        .iter()
        .map(|prompt| prompt["name"].as_str().unwrap())
        .collect();
    assert_eq!(named, ["servers", "status", "enable", "disable", "approve"]);

    let get = |name: &str, server: Option<&str>| {
        let arguments = server.map_or(json!({}), |server| json!({ "server": server }));
        json!({ "name": name, "arguments": arguments })
    };
    let said = |result: &Value| {
        result["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let table = host.request("prompts/get", get("servers", None)).unwrap();
    let table = said(&table);
    assert!(table.contains("| Notes | never asked | ? |"), "{table}");
    assert!(!table.contains("hunter"), "{table}");

    let typed = json!({
        "ref": { "type": "ref/prompt", "name": "disable" },
        "argument": { "name": "server", "value": "no" }
    });
    let completed = host.request("completion/complete", typed).unwrap();
    assert_eq!(
        completed["completion"]["values"],
        json!(["Notes"]),
        "{completed}"
    );

    let done = host
        .request("prompts/get", get("disable", Some("nOTES")))
        .unwrap();
    let done = said(&done);
    assert!(done.contains("`Notes` is now disabled"), "{done}");
    comes_to(&mut host, &["post__discover"]);
    let own = std::fs::read_to_string(all.home.config()).unwrap();
    assert_eq!(own.trim(), "[servers.Notes]\nenabled = false");
    let one = host
        .request("prompts/get", get("status", Some("notes")))
        .unwrap();
    let one = said(&one);
    assert!(one.contains(r#""state": "disabled""#), "{one}");
    host.request("prompts/get", get("enable", Some("notes")))
        .unwrap();
    comes_to(&mut host, &["Notes__discover", "post__discover"]);

    for (params, part) in [
        (get("disable", None), "`server`"),
        (get("disable", Some("Nots")), "`Notes`"),
    ] {
        let refused = host.outcome("prompts/get", params).unwrap();
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(part), "no `{part}` in {message}");
    }
}

/// Returns the part of a host's status about a server.
fn server<'a>(status: &'a Value, name: &str) -> &'a Value {
    let mut servers = status["servers"].as_array().unwrap().iter();
    servers.find(|server| server["name"] == name).unwrap()
}

/// Clients can read the status, in the six words that they have.
#[test]
fn status_is_a_resource() {
    let all = Scripted::new();
    for name in ["asleep", "awake", "broken", "off"] {
        all.offers(name, &[("add", "Adds.")]);
        all.own(
            name,
            if name == "off" {
                "enabled = false\n"
            } else {
                ""
            },
        );
    }
    all.home
        .table(
            "nowhere",
            "command = [\"/no/such/program\"]\ntools = [\"x\"]\n",
        )
        .unwrap();
    let locked = oauth::Server::start(&[]).unwrap();
    let lines = format!("url = '{}'\ntools = ['x']\n", locked.url());
    all.home.table("locked", &lines).unwrap();
    // Nobody knows more than the files say, before there is a host.
    let said = all.home.json(&["status", "--json"]).unwrap();
    assert_eq!(said[0]["pid"], Value::Null, "{said}");
    for (name, state) in [
        ("awake", "unknown"),
        ("locked", "unknown"),
        ("off", "disabled"),
    ] {
        assert_eq!(server(&said[0], name)["client_state"], state, "{said}");
    }

    let mut host = all.serve(&[]);
    host.text("awake__discover", json!({})).unwrap();
    host.error("nowhere__x", json!({})).unwrap();
    let told = host.error("locked__x", json!({})).unwrap();
    assert!(told.contains("dormouse login locked"), "{told}");
    let listed = host.list("resources/list", "resources").unwrap();
    let uri = "dormouse://status";
    assert!(listed.iter().any(|one| one["uri"] == uri), "{listed:?}");
    let read = host
        .request("resources/read", json!({ "uri": uri }))
        .unwrap();
    let contents = &read["contents"][0];
    assert_eq!(contents["mimeType"], "application/json");
    let status: Value = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
    for (name, state) in [
        ("asleep", "pending"),
        ("awake", "connected"),
        ("locked", "needs-auth"),
        ("nowhere", "failed"),
        ("off", "disabled"),
    ] {
        let server = server(&status, name);
        assert_eq!(server["client_state"], state, "{server}");
        let origin = server["origin"].as_str().unwrap();
        assert!(origin.contains("dormouse.toml:"), "{origin}");
        let wrong = matches!(state, "failed" | "needs-auth");
        assert_eq!(server["error"].is_string(), wrong, "{server}");
    }
}
