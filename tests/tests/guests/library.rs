//! Has prompts and resources, and says when they change.

use super::*;

fn library() -> (Home, Client) {
    let home = Home::new().unwrap();
    home.guests(&["library"]).unwrap();
    let client = home.serve().unwrap();
    (home, client)
}

#[test]
fn lists_wake_nobody() {
    let (home, mut client) = library();
    let capabilities = &client.hello["capabilities"];
    assert_eq!(capabilities["prompts"], json!({ "listChanged": true }));
    assert_eq!(
        capabilities["resources"],
        json!({ "subscribe": true, "listChanged": true })
    );
    assert_eq!(capabilities["completions"], json!({}));
    let prompts = client.request("prompts/list", json!({})).unwrap();
    let names: Vec<_> = prompts["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(
        names,
        [
            "library__greet",
            "library__talk",
            "library__write_about",
            // Dormouse's own.
            "servers",
            "status",
            "enable",
            "disable",
            "approve"
        ]
    );
    assert_eq!(prompts["prompts"][0]["title"], "A greeting");
    assert_eq!(
        prompts["prompts"][0]["arguments"],
        json!([
            { "name": "name", "description": "Whom to greet.", "required": true },
            {
                "name": "mood", "description": "One of `cheerful`, `calm`, `cross`.",
                "required": false
            },
            { "name": "times", "description": "How often.", "required": false },
        ])
    );
    let resources = client.request("resources/list", json!({})).unwrap();
    assert_eq!(
        resources["resources"][0],
        json!({
            "uri": "library://today", "name": "today",
            "description": "What is on today.", "mimeType": "text/plain",
        })
    );
    assert_eq!(resources["resources"][1]["uri"], "dormouse://status");
    assert_eq!(resources["resources"].as_array().unwrap().len(), 2);
    let templates = client
        .request("resources/templates/list", json!({}))
        .unwrap();
    let uris: Vec<_> = templates["resourceTemplates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["uriTemplate"])
        .collect();
    assert_eq!(uris, ["library://zeros/{n}", "library://books/{title}"]);
    let moods = json!({
        "ref": { "type": "ref/prompt", "name": "library__greet" },
        "argument": { "name": "mood", "value": "c" }
    });
    let moods = client.request("completion/complete", moods).unwrap();
    assert_eq!(
        moods["completion"]["values"],
        json!(["cheerful", "calm", "cross"])
    );
    let tools = client.tools().unwrap();
    assert_eq!(tools.len(), 3, "prompts and resources are no tools");
    let status = home.status().unwrap();
    assert_eq!(status["engines"], 0, "{status}");
}

#[test]
fn prompts_are_got() {
    let (_home, mut client) = library();
    let mut get = |name: &str, arguments: Value| {
        let params = json!({ "name": format!("library__{name}"), "arguments": arguments });
        let id = client.send("prompts/get", params).unwrap();
        client.answer(id).unwrap()
    };
    let greet = get(
        "greet",
        json!({ "name": "Ada", "mood": "cheerful", "times": "3" }),
    );
    assert_eq!(
        greet["result"],
        json!({
            "description": "Greets somebody.",
            "messages": [{
                "role": "user",
                "content": { "type": "text", "text": "Greet Ada cheerfully, 3 times." }
            }]
        })
    );
    let talk = get("talk", json!({ "topic": "dormice" }));
    let roles: Vec<_> = talk["result"]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["role"])
        .collect();
    assert_eq!(roles, ["user", "assistant"]);
    for (name, arguments, code, part) in [
        ("greet", json!({}), -32602, ": `name` is missing"),
        (
            "greet",
            json!({ "name": "A", "mood": "sad" }),
            -32602,
            "`/mood`",
        ),
        (
            "greet",
            json!({ "name": "A", "times": "many" }),
            -32602,
            "`/times`",
        ),
        ("greet", json!({ "name": 5 }), -32602, "`/name`"),
        (
            "greet",
            json!({ "name": "A", "age": "5" }),
            -32602,
            "`/age`",
        ),
        ("great", json!({}), -32602, "did you mean `library__greet`?"),
        (
            "talk",
            json!({ "topic": "" }),
            -32603,
            "about nothing there is nothing to say",
        ),
    ] {
        let refused = get(name, arguments);
        assert_eq!(refused["error"]["code"], code, "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn resources_are_read() {
    let (_home, mut client) = library();
    let mut read = |uri: &str| {
        let id = client
            .send("resources/read", json!({ "uri": uri }))
            .unwrap();
        client.answer(id).unwrap()
    };
    for (uri, contents) in [
        (
            "library://today",
            json!([{ "uri": "library://today", "mimeType": "text/plain", "text": "Reading" }]),
        ),
        (
            "library://zeros/3",
            json!([{
                "uri": "library://zeros/3", "mimeType": "application/octet-stream", "blob": "AAAA"
            }]),
        ),
        (
            "library://books/Dormouse",
            json!([
                { "uri": "library://books/Dormouse#text", "mimeType": "text/plain", "text": "It sleeps." },
                { "uri": "library://books/Dormouse#cover", "blob": "AQID" },
            ]),
        ),
    ] {
        assert_eq!(read(uri)["result"]["contents"], contents, "{uri}");
    }
    for (uri, code) in [
        ("library://tomorrow", -32002),
        ("library://books/unwritten", -32002),
        ("library://books/burnt", -32603),
        ("library://zeros/many", -32602),
        ("library://zeros/1/2", -32002),
    ] {
        let error = &read(uri)["error"];
        assert_eq!(error["code"], code, "{uri}");
        let told = if code == -32002 {
            json!(uri)
        } else {
            Value::Null
        };
        assert_eq!(error["data"]["uri"], told, "{uri}");
    }
}

#[test]
fn arguments_are_completed() {
    let (_home, mut client) = library();
    let mut complete = |of: Value, name: &str, value: &str| {
        let params = json!({
            "ref": of,
            "argument": { "name": name, "value": value },
            "context": { "arguments": { "other": "known" } }
        });
        let id = client.send("completion/complete", params).unwrap();
        client.answer(id).unwrap()
    };
    let prompt = |name: &str| json!({ "type": "ref/prompt", "name": name });
    let talk = complete(prompt("library__talk"), "topic", "d");
    assert_eq!(
        talk["result"]["completion"],
        json!({ "values": ["dormice", "dreams"], "hasMore": false, "total": 2 })
    );
    let book = json!({ "type": "ref/resource", "uri": "library://books/{title}" });
    let book = complete(book, "title", "D");
    assert_eq!(book["result"]["completion"]["values"], json!(["Dormouse"]));
    // The plugin is not asked for what it does not have.
    for (of, key) in [
        (prompt("library__talk"), "library__talk"),
        (
            json!({ "type": "ref/resource", "uri": "library://books/{title}" }),
            "library://books/{title}",
        ),
    ] {
        let error = &complete(of, "nothing", "d")["error"];
        assert_eq!(error["code"], -32602);
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("`nothing`") && message.contains(key),
            "{message}"
        );
    }
    let name = complete(prompt("library__greet"), "name", "k");
    assert_eq!(name["result"]["completion"]["values"], json!(["known"]));
    let unknown = complete(prompt("library__nothing"), "x", "");
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let refused = complete(prompt("library__greet"), "times", "");
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
}

#[test]
fn changes_are_told_to_those_who_want_to_know() {
    let (_home, mut client) = library();
    let updated = "notifications/resources/updated";
    client.call("library__touch", json!({})).unwrap();
    let none = client.notification(updated, Duration::from_millis(300));
    assert!(none.is_err(), "nobody has subscribed: {none:?}");

    let today = json!({ "uri": "library://today" });
    client
        .request("resources/subscribe", today.clone())
        .unwrap();
    client.call("library__touch", json!({})).unwrap();
    let told = client.notification(updated, client::PATIENCE).unwrap();
    assert_eq!(told["params"], today);
    client.request("resources/unsubscribe", today).unwrap();
    client.call("library__touch", json!({})).unwrap();
    assert!(
        client
            .notification(updated, Duration::from_millis(300))
            .is_err()
    );
    let unknown = json!({ "uri": "library://nothing" });
    let id = client.send("resources/subscribe", unknown).unwrap();
    assert_eq!(client.answer(id).unwrap()["error"]["code"], -32002);

    // However often it is said, agents hear it at a pace that they can bear.
    client
        .call("library__announce", json!({ "times": 1000 }))
        .unwrap();
    for what in ["tools", "prompts", "resources"] {
        let method = format!("notifications/{what}/list_changed");
        client.notification(&method, client::PATIENCE).unwrap();
        assert!(
            client
                .notification(&method, Duration::from_millis(100))
                .is_err(),
            "{method}"
        );
    }
}

#[test]
fn nobody_speaks_for_the_resources_of_others() {
    let home = Home::new().unwrap();
    let guest = dormouse_tests::artifacts::guest("library").unwrap();
    home.server("library", &guest).unwrap();
    home.guests(&["asker"]).unwrap();
    let mut client = home.serve().unwrap();
    let today = json!({ "uri": "library://today" });
    client.request("resources/subscribe", today).unwrap();
    let other = json!({ "uri": "library://books/Dormouse" });
    client
        .call("library__meddle", json!({ "uri": "elsewhere://x" }))
        .unwrap();
    client.call("library__meddle", other).unwrap();
    let none = client.notification(
        "notifications/resources/updated",
        Duration::from_millis(300),
    );
    assert!(none.is_err(), "{none:?}");
}

#[test]
fn two_of_one_uri_are_told_apart_by_their_servers() {
    let home = Home::new().unwrap();
    let guest = dormouse_tests::artifacts::guest("library").unwrap();
    home.server("one", &guest).unwrap();
    home.server("two", &guest).unwrap();
    let mut client = home.serve().unwrap();
    let uris: Vec<_> = client
        .list("resources/list", "resources")
        .unwrap()
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap().to_owned())
        .filter(|uri| uri.starts_with("library://today"))
        .collect();
    let expected = ["one", "two"].map(|name| format!("library://today#dormouse-server={name}"));
    assert_eq!(uris, expected);
    for uri in &uris {
        let read = client.request("resources/read", json!({ "uri": uri }));
        assert_eq!(read.unwrap()["contents"][0]["uri"], *uri);
    }
    let prompts = client.request("prompts/list", json!({})).unwrap();
    let own = 5;
    assert_eq!(prompts["prompts"].as_array().unwrap().len(), 6 + own);
    let status = home.server_status("one").unwrap();
    assert!(status["error"].is_null(), "{status}");
}
