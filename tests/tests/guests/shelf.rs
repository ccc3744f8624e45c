//! Has tools, prompts, resources and templates that are MCP's own objects, and is asked
//! for them by name and URI, in both eras.

use super::*;
use dormouse_tests::wire::stateless;

/// Agent of one era.
struct Agent {
    home: Home,
    client: Client,
    modern: bool,
}

impl Agent {
    fn of(modern: bool) -> Self {
        let home = Home::new().unwrap();
        home.guests(&["shelf"]).unwrap();
        let client = match modern {
            true => Client::spawn(&mut home.command(&["serve"])).unwrap(),
            false => home.serve().unwrap(),
        };
        Self {
            home,
            client,
            modern,
        }
    }

    fn send(&mut self, method: &str, params: Value) -> u64 {
        let params = match self.modern {
            true => stateless(params, json!({})),
            false => params,
        };
        self.client.send(method, params).unwrap()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.client.answer(id).unwrap()
    }

    fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }
}

fn in_both_eras(test: impl Fn(Agent)) {
    for modern in [false, true] {
        test(Agent::of(modern));
    }
}

/// An agent sees the objects of the file, but for the prefix of a name.
#[test]
fn lists_are_the_objects_of_its_file() {
    in_both_eras(|mut agent| {
        let file = include_str!("../../guests/mcp/shelf.json");
        let mut file: Value = serde_json::from_str(file).unwrap();
        for (member, method) in [
            ("tools", "tools/list"),
            ("prompts", "prompts/list"),
            ("resources", "resources/list"),
            ("resourceTemplates", "resources/templates/list"),
        ] {
            let list = agent.result(method, json!({}));
            let list = list[member].as_array().unwrap();
            for declared in file[member].as_array_mut().unwrap() {
                if matches!(member, "tools" | "prompts") {
                    let name = format!("shelf__{}", declared["name"].as_str().unwrap());
                    declared["name"] = name.into();
                }
                assert!(list.contains(declared), "{declared} is not in {list:?}");
            }
        }
        let status = agent.home.status().unwrap();
        assert_eq!(status["engines"], 0, "lists wake nobody: {status}");
    });
}

/// `dormouse pack` does for every language what the macro does for Rust.
#[test]
fn another_file_of_objects_is_packed() {
    let home = Home::new().unwrap();
    let plain = dormouse_tests::artifacts::guest("shelf").unwrap();
    let objects = home.path().join("objects.json");
    let packed = home.path().join("packed.wasm");
    let file = json!({
        "tools": [{ "name": "turn", "description": "Turns.", "inputSchema": { "type": "object" } }],
        "resources": [{ "uri": "shelf://open", "name": "page" }],
    });
    std::fs::write(&objects, file.to_string()).unwrap();
    let objects = objects.to_str().unwrap();
    let run = |more: &[&str]| {
        let words = ["pack", plain.to_str().unwrap(), "--output"];
        let words = [&words[..], &[packed.to_str().unwrap()], more].concat();
        let output = home.run(&words).unwrap();
        (
            output.status.success(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (done, told) = run(&["--prompts", objects]);
    assert!(!done, "{told}");
    assert!(
        told.contains("no array of MCP Prompt objects") && told.contains("objects.json"),
        "{told}"
    );
    let (done, told) = run(&["--tools", objects, "--resources", objects, "--subscribe"]);
    assert!(done, "{told}");

    home.server("shelf", &packed).unwrap();
    let mut client = home.serve().unwrap();
    let tools = client.tools().unwrap();
    assert_eq!(tools.len(), 1, "{tools:?}");
    assert_eq!(tools[0]["description"], "Turns.");
    let open = json!({ "uri": "shelf://open" });
    client.request("resources/subscribe", open.clone()).unwrap();
    assert_eq!(client.text("shelf__turn", json!({})).unwrap(), "turned");
    let read = client.request("resources/read", open).unwrap();
    assert_eq!(read["contents"][0]["blob"], "AQID");
}

#[test]
fn tools_answer_with_blocks_and_structured_content_at_once() {
    in_both_eras(|mut agent| {
        let arguments = json!({ "title": "Dormouse", "days": 3 });
        let params = json!({ "name": "shelf__lend", "arguments": arguments });
        let result = agent.result("tools/call", params);
        assert_eq!(
            result["content"],
            json!([
                { "type": "text", "text": "`Dormouse` is due in 3 days" },
                { "type": "resource_link", "uri": "shelf://books/Dormouse", "name": "Dormouse" },
            ])
        );
        assert_eq!(
            result["structuredContent"],
            json!({ "title": "Dormouse", "days": 3 })
        );
    });
}

#[test]
fn prompts_are_got_by_name() {
    in_both_eras(|mut agent| {
        let params = json!({ "name": "shelf__recommend", "arguments": { "mood": "merry" } });
        let result = agent.result("prompts/get", params);
        assert_eq!(result["description"], "A recommendation");
        assert_eq!(
            result["messages"],
            json!([
                {
                    "role": "user",
                    "content": { "type": "text", "text": "Recommend a merry book." }
                },
                { "role": "assistant", "content": { "type": "text", "text": "Gladly." } },
            ])
        );
        let refused = agent.ask("prompts/get", json!({ "name": "shelf__recommend" }));
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("nobody knows"), "{message}");
    });
}

#[test]
fn resources_are_read_by_uri() {
    in_both_eras(|mut agent| {
        for (uri, contents) in [
            ("shelf://open", json!({ "blob": "AQID" })),
            ("shelf://books/Dormouse", json!({ "text": "# It sleeps" })),
        ] {
            let mut expected = contents;
            expected["uri"] = uri.into();
            expected["mimeType"] = "text/x-shelf".into();
            let result = agent.result("resources/read", json!({ "uri": uri }));
            assert_eq!(result["contents"], json!([expected]));
        }
        let burnt = agent.ask("resources/read", json!({ "uri": "shelf://books/burnt" }));
        let message = burnt["error"]["message"].as_str().unwrap();
        assert!(message.contains("there is nothing left of it"), "{message}");
        let none = agent.ask("resources/read", json!({ "uri": "shelf://books/none" }));
        assert_eq!(none["error"]["data"]["uri"], "shelf://books/none", "{none}");
    });
}

#[test]
fn arguments_and_variables_are_completed() {
    in_both_eras(|mut agent| {
        for (of, argument, value, expected) in [
            (
                json!({ "type": "ref/prompt", "name": "shelf__recommend" }),
                "mood",
                "me",
                json!(["merry", "melancholic"]),
            ),
            (
                json!({ "type": "ref/resource", "uri": "shelf://books/{title}" }),
                "title",
                "b",
                json!(["burnt"]),
            ),
        ] {
            let argument = json!({ "name": argument, "value": value });
            let params = json!({ "ref": of, "argument": argument });
            let result = agent.result("completion/complete", params);
            let completion = &result["completion"];
            assert_eq!(completion["values"], expected);
            assert_eq!(completion["hasMore"], false);
            assert_eq!(completion["total"], expected.as_array().unwrap().len());
        }
    });
}

#[test]
fn changes_are_told_to_those_who_have_subscribed() {
    let updated = "notifications/resources/updated";
    in_both_eras(|mut agent| {
        let open = json!({ "uri": "shelf://open" });
        if agent.modern {
            let wanted = json!({ "notifications": { "resourceSubscriptions": ["shelf://open"] } });
            agent.send("subscriptions/listen", wanted);
            let acknowledged = "notifications/subscriptions/acknowledged";
            agent
                .client
                .notification(acknowledged, client::PATIENCE)
                .unwrap();
        } else {
            let resources = &agent.client.hello["capabilities"]["resources"];
            assert_eq!(resources["subscribe"], true, "{resources}");
            agent.result("resources/subscribe", open.clone());
        }
        agent.result(
            "tools/call",
            json!({ "name": "shelf__turn", "arguments": {} }),
        );
        let told = agent
            .client
            .notification(updated, client::PATIENCE)
            .unwrap();
        assert_eq!(told["params"]["uri"], open["uri"], "{told}");
    });
}
