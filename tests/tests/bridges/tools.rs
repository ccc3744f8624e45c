//! Tools of a server that has one for every feature.

use serde_json::json;

use crate::everything;

#[test]
fn are_listed_alike() {
    let names = everything().same_tools();
    // Those that are there for this client only, because of what it can be asked.
    for wanted in [
        "echo",
        "get-roots-list",
        "trigger-elicitation-request",
        "trigger-url-elicitation",
        "trigger-sampling-request",
    ] {
        assert!(
            names.iter().any(|name| name == wanted),
            "no `{wanted}` in {names:?}"
        );
    }
}

#[test]
fn answer_alike() {
    let mut pair = everything();
    let hello = pair.same_call("echo", json!({ "message": "Grüße, 日本, 😀 \u{0} \"\\" }));
    assert!(hello.contains("日本"), "{hello}");
    let long = "x".repeat(1_000_000);
    let echoed = pair.same_call("echo", json!({ "message": long }));
    assert!(echoed.contains(&long));
    assert!(
        pair.same_call("get-sum", json!({ "a": 2, "b": 0.5 }))
            .contains("2.5")
    );

    // Structured content, annotations, images, links, embedded resources.
    for (tool, arguments) in [
        ("get-structured-content", json!({ "location": "Chicago" })),
        (
            "get-annotated-message",
            json!({ "messageType": "error", "includeImage": true }),
        ),
        ("get-annotated-message", json!({ "messageType": "debug" })),
        ("get-tiny-image", json!({})),
        ("get-resource-links", json!({ "count": 5 })),
    ] {
        pair.same_call(tool, arguments);
    }
    for kind in ["Text", "Blob"] {
        let arguments = json!({ "resourceType": kind, "resourceId": 7 });
        let params = json!({ "name": "get-resource-reference", "arguments": arguments });
        // The resource says when it was made, in base64 too.
        let outcome = pair.alike("tools/call", params, |text| match kind {
            "Text" => crate::pair::no_digits(text),
            _ => text.chars().take(40).collect(),
        });
        assert_eq!(outcome["result"]["content"][1]["type"], "resource");
    }
}

#[test]
fn fail_alike() {
    let mut pair = everything();
    for (tool, arguments, part) in [
        ("echo", json!({}), "-32602"),
        ("echo", json!({ "message": 5 }), "expected string"),
        ("get-sum", json!({ "a": "one" }), "expected number"),
        (
            "get-structured-content",
            json!({ "location": "Nowhere" }),
            "-32602",
        ),
        ("get-resource-links", json!({ "count": 99 }), "-32602"),
    ] {
        let told = pair.same_failure(tool, arguments);
        assert!(told.contains(part), "no {part} in {told}");
    }
    // What can be called as a task alone is not shown, and the agent is told why.
    let params = json!({ "name": "simulate-research-query", "arguments": { "topic": "sleep" } });
    let outcome = pair.through.ask("tools/call", &params);
    let message = outcome["error"]["message"].as_str().unwrap();
    assert!(message.contains("as a task alone"), "{message}");
    // What is not there never reaches the server.
    let params = json!({ "name": "ecko", "arguments": {} });
    let outcome = pair.through.ask("tools/call", &params);
    assert_eq!(outcome["error"]["code"], -32602, "{outcome}");
    let message = outcome["error"]["message"].as_str().unwrap();
    assert!(message.contains("`everything__echo`"), "{message}");
}

/// The server's environment has the variables of its entry and those that every program needs, not
/// those of the agent.
#[test]
fn see_their_own_environment_only() {
    use dormouse_tests::{Client, Home, upstream};
    let home = Home::new().unwrap();
    let server = upstream::everything()
        .unwrap()
        .env("GIVEN", "with the entry");
    home.upstream("everything", &server, "").unwrap();
    let mut command = home.command(&["serve"]);
    command.env("NOT_FOR_SERVERS", "a secret of the agent's");
    let mut client = Client::start(&mut command).unwrap();
    client.text("everything__discover", json!({})).unwrap();
    let told = client.text("everything__get-env", json!({})).unwrap();
    let env: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(env["GIVEN"], "with the entry");
    assert!(env["PATH"].is_string() && env["HOME"].is_string(), "{env}");
    assert_eq!(env["NOT_FOR_SERVERS"], serde_json::Value::Null, "{env}");
}
