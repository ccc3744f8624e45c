//! A plugin that takes calls by name: its arguments fit its schemas, and its answers are MCP's.

use serde_json::{Value, json};

use super::Host;

/// Returns the result that the guest's answer becomes.
fn answered(host: &mut Host, tool: &str, answer: &Value) -> Value {
    let arguments = json!({ "answer": answer });
    host.client
        .call(&format!("adapter__{tool}"), arguments)
        .unwrap()
}

#[test]
fn arguments_are_checked_in_the_dialect_of_their_schema() {
    let mut host = Host::with("adapter");
    for (tool, good, bad, why) in [
        ("draft-4", json!({ "n": 4 }), json!({ "n": 3 }), "`/n`"),
        (
            "draft-4",
            json!({ "n": 4 }),
            json!({}),
            "`n` is a required property",
        ),
        (
            "draft-7",
            json!({ "a": 1, "b": 1 }),
            json!({ "b": 1 }),
            "`a`",
        ),
    ] {
        let tool = format!("adapter__{tool}");
        assert_eq!(host.client.text(&tool, good).unwrap(), "called");
        let error = host.fails(&tool, bad, why);
        assert!(error.contains("the arguments do not fit"), "{error}");
    }
    // What cannot be checked is not called, and nothing is fetched for it.
    for (tool, why) in [
        ("dialect", "https://example.com/dialect"),
        ("elsewhere", "127.0.0.1:9"),
    ] {
        let error = host.fails(&format!("adapter__{tool}"), json!({ "n": 1 }), why);
        assert!(error.contains("`inputSchema` cannot be used"), "{error}");
    }
    host.stays_well();
}

/// Returns lists in one another between two texts.
fn nested(before: &str, after: &str) -> String {
    format!("{before}{}{}{after}", "[".repeat(200), "]".repeat(200))
}

#[test]
fn answers_are_what_clients_can_read() {
    let mut host = Host::with("adapter");
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    for (answer, content) in [
        (json!({}), json!([])),
        (json!({ "content": null }), json!([])),
        (
            json!({ "structuredContent": { "a": 1 } }),
            text("{\"a\":1}"),
        ),
        (
            json!({ "content": text("x"), "structuredContent": [1] }),
            text("x"),
        ),
    ] {
        let result = answered(&mut host, "answer", &answer);
        assert_eq!(result["content"], content, "{answer}");
        assert_ne!(result["isError"], true, "{answer}");
    }
    for (answer, why) in [
        (json!("not JSON"), "expected"),
        (json!([]), "expected"),
        (json!({ "content": "x" }), "`content` is `\"x\"`"),
        (
            json!({ "content": [{ "type": "bogus" }] }),
            "`content[0].type`",
        ),
        (json!({ "content": [null] }), "`content[0]` is `null`"),
        (json!({ "content": [], "isError": "yes" }), "`isError`"),
        (
            json!({ "content": [], "resultType": "input_required" }),
            "`resultType`",
        ),
        // Clients read a message as a whole, so that this could cost one all servers.
        (
            json!(nested(r#"{"content":[],"structuredContent":{"a":"#, "}}")),
            "levels deep",
        ),
        (
            json!(nested(r#"{"content":[],"_meta":{"a":"#, "}}")),
            "levels deep",
        ),
    ] {
        let arguments = json!({ "answer": answer });
        host.fails("adapter__answer", arguments, why);
    }
    host.stays_well();
}

#[test]
fn prompts_and_resources_are_what_clients_can_read() {
    let mut host = Host::with("adapter");
    let mut ask = |method: &str, params: Value| {
        let id = host.client.send(method, params).unwrap();
        host.client.answer(id).unwrap()
    };
    let mut get = |answer: &str| {
        let arguments = json!({ "answer": answer });
        ask(
            "prompts/get",
            json!({ "name": "adapter__answer", "arguments": arguments }),
        )
    };
    let good = r#"{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"x-odd":1}"#;
    assert_eq!(get(good)["result"].to_string(), good);
    for (bad, why) in [
        ("{}", "no `messages`"),
        (r#"{"messages":[{"role":"system"}]}"#, "`messages[0].role`"),
        ("nothing", "expected"),
        (
            &nested(r#"{"messages":[],"_meta":{"a":"#, "}}"),
            "levels deep",
        ),
    ] {
        let refused = get(bad);
        let told = refused["error"]["message"].as_str().unwrap();
        assert!(
            told.contains(why) && told.contains("prompt `answer`"),
            "{refused}"
        );
    }
    let mut read = |uri: &str| ask("resources/read", json!({ "uri": uri }));
    let good = &read("adapter:good")["result"]["contents"][0];
    assert_eq!(good["text"], "good");
    let hinted = &read("adapter:hinted")["result"]["contents"][0];
    assert_eq!(*hinted, json!({ "uri": "adapter:hinted", "text": "odd" }));
    let refused = read("adapter:unnamed");
    let told = refused["error"]["message"].as_str().unwrap();
    assert!(told.contains("`contents[0]` has no `uri`"), "{refused}");
    host.stays_well();
}

#[test]
fn structured_content_is_what_the_tool_says_that_it_is() {
    let mut host = Host::with("adapter");
    let good = answered(
        &mut host,
        "count",
        &json!({ "structuredContent": { "n": 7 } }),
    );
    assert_eq!(good["structuredContent"], json!({ "n": 7 }));
    let failed = json!({ "content": [], "isError": true });
    assert_eq!(answered(&mut host, "count", &failed), failed);
    for (answer, why) in [
        (json!({ "content": [] }), "`structuredContent`"),
        (json!({ "structuredContent": { "n": "7" } }), "`/n`"),
        (
            json!({ "structuredContent": {} }),
            "`n` is a required property",
        ),
    ] {
        host.fails("adapter__count", json!({ "answer": answer }), why);
    }
    host.stays_well();
}

/// A client of before 2026-07-28 knows only objects as structured content.
#[test]
fn what_an_old_client_has_no_place_for_it_is_not_given() {
    let mut host = Host::with("adapter");
    let tools = host.tools();
    let list = tools
        .iter()
        .find(|tool| tool["name"] == "adapter__list")
        .unwrap();
    assert_eq!(list.get("outputSchema"), None);
    assert_eq!(list["inputSchema"]["properties"]["answer"], json!({}));
    let result = answered(&mut host, "list", &json!({ "structuredContent": [1, 2] }));
    let text = json!([{ "type": "text", "text": "[1,2]" }]);
    assert_eq!(result, json!({ "content": text }));
    host.fails(
        "adapter__list",
        json!({ "answer": { "structuredContent": ["a"] } }),
        "`/0`",
    );

    let stateless = dormouse_tests::wire::stateless;
    let listed = host
        .client
        .request("tools/list", stateless(json!({}), json!({})))
        .unwrap();
    let tools = listed["tools"].as_array().unwrap();
    let list = tools
        .iter()
        .find(|tool| tool["name"] == "adapter__list")
        .unwrap();
    assert_eq!(list["outputSchema"]["type"], "array");
    let arguments = json!({ "answer": { "structuredContent": [1] } });
    let call = json!({ "name": "adapter__list", "arguments": arguments });
    let result = host
        .client
        .request("tools/call", stateless(call, json!({})))
        .unwrap();
    assert_eq!(result["structuredContent"], json!([1]));
    host.stays_well();
}
