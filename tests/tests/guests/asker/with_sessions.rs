//! Questions in the era with sessions, which are requests.

use super::*;

fn host(more: &str, capabilities: Value) -> (Home, Client) {
    let home = Home::new().unwrap();
    let guest = dormouse_tests::artifacts::guest("asker").unwrap();
    home.server_with("asker", &guest, more).unwrap();
    let client = Client::start_able(&mut home.command(&["serve"]), capabilities).unwrap();
    (home, client)
}

fn call(client: &mut Client, tool: &str, arguments: Value) -> u64 {
    let params = json!({ "name": format!("asker__{tool}"), "arguments": arguments });
    client.send("tools/call", params).unwrap()
}

fn result(client: &mut Client, id: u64) -> Value {
    let answer = client.answer(id).unwrap();
    answer["result"].clone()
}

#[test]
fn asks_the_client_in_the_middle_of_a_call() {
    let (_home, mut client) = host("", all());
    let id = call(&mut client, "greet", json!({}));
    let params = client
        .answers("elicitation/create", accepted(json!({ "name": "Ada" })))
        .unwrap();
    assert_eq!(params["message"], "[server `asker`] What is your name?");
    assert_eq!(params["requestedSchema"]["required"], json!(["name"]));
    let answer = result(&mut client, id);
    assert_eq!(client::text(&answer), Some("Hello, Ada!"));

    for action in ["decline", "cancel"] {
        let id = call(&mut client, "greet", json!({}));
        client
            .answers("elicitation/create", json!({ "action": action }))
            .unwrap();
        let answer = result(&mut client, id);
        assert!(
            client::text(&answer).unwrap().starts_with(action),
            "{answer}"
        );
    }

    let id = call(&mut client, "add", json!({ "count": 3 }));
    for number in [1, 20, 300] {
        let answer = accepted(json!({ "number": number }));
        client.answers("elicitation/create", answer).unwrap();
    }
    assert_eq!(client::text(&result(&mut client, id)), Some("321"));

    let id = call(
        &mut client,
        "show_page",
        json!({ "url": "https://example.com/x" }),
    );
    let params = client
        .answers("elicitation/create", json!({ "action": "accept" }))
        .unwrap();
    assert_eq!(
        (&params["mode"], &params["url"]),
        (&json!("url"), &json!("https://example.com/x"))
    );
    assert_eq!(client::text(&result(&mut client, id)), Some("accept"));

    let id = call(&mut client, "sample", json!({ "prompt": "Think." }));
    let params = client
        .answers("sampling/createMessage", said("I do."))
        .unwrap();
    assert_eq!(params["maxTokens"], 100);
    assert_eq!(params["messages"][0]["content"]["text"], "Think.");
    assert_eq!(
        client::text(&result(&mut client, id)),
        Some("m said: I do.")
    );

    let id = call(&mut client, "folders", json!({}));
    let roots = json!({ "roots": [{ "uri": "file:///a" }, { "uri": "file:///b", "name": "b" }] });
    client.answers("roots/list", roots.clone()).unwrap();
    let answer = result(&mut client, id);
    assert_eq!(
        answer["structuredContent"]["result"],
        json!(["file:///a", "file:///b"])
    );

    // All at once: no answer is waited for before all are asked.
    let id = call(&mut client, "everything", json!({}));
    client.answers("roots/list", roots).unwrap();
    client
        .answers("sampling/createMessage", said("Nice."))
        .unwrap();
    let ada = accepted(json!({ "name": "Ada" }));
    client.answers("elicitation/create", ada).unwrap();
    let answer = result(&mut client, id);
    assert_eq!(client::text(&answer), Some("{\"name\":\"Ada\"}; Nice.; 2"));
}

#[test]
fn forms_and_prompts_of_many_parts_are_asked_as_mcp_has_them() {
    let (_home, mut client) = host("", all());
    let id = call(&mut client, "survey", json!({}));
    let answer = json!({
        "city": "Berlin", "tone": "blunt", "times": ["am", "pm"], "metric": false
    });
    let params = client
        .answers("elicitation/create", accepted(answer))
        .unwrap();
    let schema = &params["requestedSchema"];
    assert_eq!(
        schema["properties"]["city"],
        json!({ "type": "string", "title": "City", "minLength": 1, "maxLength": 40 })
    );
    assert_eq!(
        schema["required"],
        json!(["city", "tone", "times", "metric"])
    );
    let answer = result(&mut client, id);
    assert_eq!(
        client::text(&answer),
        Some(r#"Berlin None blunt ["am", "pm"] false"#)
    );

    let id = call(&mut client, "think", json!({}));
    let params = client
        .answers("sampling/createMessage", said("A dormouse."))
        .unwrap();
    let roles: Vec<_> = params["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["role"])
        .collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert_eq!(params["messages"][2]["content"][1]["mimeType"], "image/png");
    for (member, expected) in [
        ("systemPrompt", json!("[server `asker`] Be brief.")),
        ("temperature", json!(0.5)),
        ("stopSequences", json!(["END"])),
        (
            "modelPreferences",
            json!({ "hints": [{ "name": "small" }], "speedPriority": 1.0 }),
        ),
    ] {
        assert_eq!(params[member], expected, "{member}");
    }
    assert_eq!(client::text(&result(&mut client, id)), Some("A dormouse."));
}

/// The revision before the last of this era has neither choices of several things
/// nor messages of several blocks.
#[test]
fn an_older_client_is_asked_in_words_that_it_knows() {
    let home = Home::new().unwrap();
    home.guests(&["asker"]).unwrap();
    let mut client = Client::spawn(&mut home.command(&["serve"])).unwrap();
    let mut hello = wire::initialize(all());
    hello["protocolVersion"] = json!("2025-06-18");
    client.request("initialize", hello).unwrap();
    client
        .notify("notifications/initialized", json!({}))
        .unwrap();

    let error = client.error("asker__survey", json!({})).unwrap();
    assert!(
        error.contains("2025-06-18") && error.contains("`times`"),
        "{error}"
    );
    let id = call(&mut client, "think", json!({}));
    let params = client
        .answers("sampling/createMessage", said("A dormouse."))
        .unwrap();
    let messages = params["messages"].as_array().unwrap();
    let kinds: Vec<_> = messages
        .iter()
        .map(|message| (&message["role"], &message["content"]["type"]))
        .collect();
    let [user, assistant, text, image] =
        ["user", "assistant", "text", "image"].map(|name| json!(name));
    assert_eq!(
        kinds,
        [
            (&user, &text),
            (&assistant, &text),
            (&user, &text),
            (&user, &image)
        ]
    );
    assert_eq!(client::text(&result(&mut client, id)), Some("A dormouse."));
}

#[test]
fn other_calls_go_on_meanwhile_and_a_cancelled_one_ends() {
    let (home, mut client) = host("", all());
    let waiting = call(&mut client, "greet", json!({}));
    client
        .notification("elicitation/create", client::PATIENCE)
        .unwrap();
    let able = client.call("asker__able", json!({})).unwrap();
    let expected = json!(["form", "url", "sampling", "roots"]);
    assert_eq!(able["structuredContent"]["result"], expected);
    let cancelled = json!({ "requestId": waiting });
    client.notify("notifications/cancelled", cancelled).unwrap();
    // And so does the question: nobody waits for its answer any more.
    client
        .notification("notifications/cancelled", client::PATIENCE)
        .unwrap();
    let start = Instant::now();
    loop {
        let status = home.server_status("asker").unwrap();
        if status["instances"] == 0 {
            break;
        }
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "it lives on: {status}"
        );
    }
}

/// A question that nobody answers takes no other call's turn.
#[test]
fn gives_its_turn_away_while_it_waits() {
    let (_home, mut client) = host("[servers.asker.limits]\ninstances = 1", all());
    let mut waiting = Vec::new();
    for _ in 0..3 {
        let id = call(&mut client, "greet", json!({}));
        let asked = client
            .notification("elicitation/create", client::PATIENCE)
            .unwrap();
        waiting.push((id, asked));
    }
    let able = client.call("asker__able", json!({})).unwrap();
    assert_eq!(able["isError"], false);
    for (id, asked) in waiting.into_iter().rev() {
        client
            .reply(&asked, accepted(json!({ "name": "Ada" })))
            .unwrap();
        assert_eq!(client::text(&result(&mut client, id)), Some("Hello, Ada!"));
    }
}

#[test]
fn says_what_the_client_lacks_and_what_makes_no_sense() {
    let able = json!({ "elicitation": { "form": {}, "url": {} } });
    let (_home, mut client) = host("", able);
    let able = client.call("asker__able", json!({})).unwrap();
    assert_eq!(able["structuredContent"]["result"], json!(["form", "url"]));
    let error = client
        .error("asker__sample", json!({ "prompt": "x" }))
        .unwrap();
    assert!(error.contains("this client has no `sampling`"), "{error}");
    let error = client.error("asker__nonsense", json!({})).unwrap();
    assert!(
        error.contains("`nonsense` has a schema that is no form"),
        "{error}"
    );
    let error = client.error("asker__twins", json!({})).unwrap();
    assert!(
        error.contains("two questions have the id `twin`"),
        "{error}"
    );
    let arguments = json!({ "url": "file:///etc/passwd" });
    let error = client.error("asker__show_page", arguments).unwrap();
    assert!(error.contains("`file:///etc/passwd`"), "{error}");

    // An answer that is none is told to the plugin.
    let id = call(&mut client, "greet", json!({}));
    let wrong = accepted(json!({ "name": 5 }));
    client.answers("elicitation/create", wrong).unwrap();
    let answer = result(&mut client, id);
    assert_eq!(answer["isError"], true);
    assert!(
        client::text(&answer)
            .unwrap()
            .contains("does not fit at `/name`"),
        "{answer}"
    );
}

/// The question's text may be anywhere, and the instance that asks may be small.
#[test]
fn a_long_question_takes_memory_of_its_server_or_is_not_asked() {
    let (_home, mut client) = host("limits = { memory = '8MiB' }", all());
    for (messages, kilobytes, why) in [
        (20, 60, "1048576 are allowed"),
        (1, 2048, "1048576 are allowed"),
        (1, 1000, "there is no memory for questions of 10"),
    ] {
        let arguments = json!({ "messages": messages, "kilobytes": kilobytes });
        let id = call(&mut client, "sample_long", arguments);
        let answer = result(&mut client, id);
        let said = client::text(&answer).unwrap();
        assert!(said.contains(why), "{said}");
    }
    let arguments = json!({ "messages": 2, "kilobytes": 50 });
    let id = call(&mut client, "sample_long", arguments);
    client
        .answers("sampling/createMessage", said("The first."))
        .unwrap();
    assert_eq!(client::text(&result(&mut client, id)), Some("The first."));
}

#[test]
fn the_time_of_a_question_does_not_count() {
    let (_home, mut client) = host("[servers.asker.limits]\ntimeout = \"1s\"", all());
    let id = call(&mut client, "greet_slowly", json!({ "milliseconds": 0 }));
    let asked = client
        .notification("elicitation/create", client::PATIENCE)
        .unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    client
        .reply(&asked, accepted(json!({ "name": "Ada" })))
        .unwrap();
    assert_eq!(client::text(&result(&mut client, id)), Some("Hello, Ada!"));

    // A guest that runs on without end does not, either.
    let id = call(&mut client, "hang", json!({}));
    let ada = accepted(json!({ "name": "Ada" }));
    client.answers("elicitation/create", ada).unwrap();
    let answer = result(&mut client, id);
    assert!(
        client::text(&answer).unwrap().contains("longer than 1 s"),
        "{answer}"
    );

    let id = call(&mut client, "greet_slowly", json!({ "milliseconds": 5000 }));
    let ada = accepted(json!({ "name": "Ada" }));
    client.answers("elicitation/create", ada).unwrap();
    let answer = result(&mut client, id);
    assert!(
        client::text(&answer).unwrap().contains("longer than 1 s"),
        "{answer}"
    );
}
