//! Asks its agent: in the era with sessions by requests of its own, in the other by
//! answering that it needs more.

use super::*;
use dormouse_tests::wire::{self, stateless};

fn all() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} })
}

fn said(text: &str) -> Value {
    json!({
        "role": "assistant", "model": "m", "content": { "type": "text", "text": text }
    })
}

fn accepted(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

mod with_sessions {
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
        let roots =
            json!({ "roots": [{ "uri": "file:///a" }, { "uri": "file:///b", "name": "b" }] });
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
        let (_home, mut client) = host("limits = { memory = '64MiB' }", all());
        for (messages, kilobytes, why) in [
            (20, 60, "1048576 are allowed"),
            (8, 2048, "there is no memory for questions of 16"),
        ] {
            let arguments = json!({ "messages": messages, "kilobytes": kilobytes });
            let id = call(&mut client, "sample_long", arguments);
            let answer = result(&mut client, id);
            let said = client::text(&answer).unwrap();
            assert!(said.contains(why), "{said}");
        }
        let arguments = json!({ "messages": 2, "kilobytes": 512 });
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
}

mod stateless_era {
    use super::*;

    struct Asked {
        home: Home,
        client: Client,
        capabilities: Value,
    }

    impl Asked {
        fn new(capabilities: Value) -> Self {
            let home = Home::new().unwrap();
            // More of its questions may wait than the host keeps calls.
            let guest = dormouse_tests::artifacts::guest("asker").unwrap();
            home.server_with("asker", &guest, "limits = { questions = 200 }")
                .unwrap();
            let client = Client::spawn(&mut home.command(&["serve"])).unwrap();
            Self {
                home,
                client,
                capabilities,
            }
        }

        fn call(&mut self, tool: &str, arguments: Value, more: Value) -> Value {
            let mut params = json!({ "name": format!("asker__{tool}"), "arguments": arguments });
            for (name, value) in more.as_object().unwrap() {
                params[name] = value.clone();
            }
            let params = stateless(params, self.capabilities.clone());
            let id = self.client.send("tools/call", params).unwrap();
            self.client.answer(id).unwrap()
        }

        fn instances(&self) -> Value {
            self.home.server_status("asker").unwrap()["instances"].clone()
        }
    }

    #[test]
    fn a_question_is_an_answer_and_the_call_goes_on_with_the_next_request() {
        let mut asked = Asked::new(all());
        let first = asked.call("add", json!({ "count": 2 }), json!({}));
        assert_eq!(first["result"]["resultType"], "input_required");
        let question = &first["result"]["inputRequests"]["number_1"];
        assert_eq!(question["method"], "elicitation/create");
        assert_eq!(asked.instances(), 1, "the call stays where it is");
        let state = &first["result"]["requestState"];
        let more = json!({
            "requestState": state,
            "inputResponses": { "number_1": accepted(json!({ "number": 1 })) }
        });
        let second = asked.call("add", json!({ "count": 2 }), more.clone());
        assert_eq!(second["result"]["resultType"], "input_required");
        let next = &second["result"]["requestState"];
        assert_ne!(state, next);
        // A state is good once.
        let again = asked.call("add", json!({ "count": 2 }), more);
        assert_eq!(again["error"]["code"], -32602, "{again}");
        let more = json!({
            "requestState": next,
            "inputResponses": { "number_2": accepted(json!({ "number": 2 })) }
        });
        let last = asked.call("add", json!({ "count": 2 }), more);
        assert_eq!(last["result"]["resultType"], "complete");
        assert_eq!(client::text(&last["result"]), Some("3"));
        assert_eq!(asked.instances(), 0);
    }

    #[test]
    fn what_is_missing_or_wrong_is_asked_again_and_what_nobody_asked_is_ignored() {
        let mut asked = Asked::new(all());
        let first = asked.call("everything", json!({}), json!({}));
        let requests = first["result"]["inputRequests"].as_object().unwrap();
        assert_eq!(requests.len(), 3);
        let more = json!({
            "requestState": first["result"]["requestState"],
            "inputResponses": {
                "user_name": accepted(json!({ "name": "Ada" })),
                "thought": 5,
                "nobody": {}
            }
        });
        let second = asked.call("everything", json!({}), more);
        let open: Vec<_> = second["result"]["inputRequests"]
            .as_object()
            .unwrap()
            .keys()
            .collect();
        assert_eq!(open, ["thought", "folders"]);
        let more = json!({
            "requestState": second["result"]["requestState"],
            "inputResponses": { "thought": said("Nice."), "folders": { "roots": [] } }
        });
        let last = asked.call("everything", json!({}), more);
        assert_eq!(
            client::text(&last["result"]),
            Some("{\"name\":\"Ada\"}; Nice.; 0")
        );

        // What comes along with the call need not be asked.
        let more = json!({ "inputResponses": { "user_name": accepted(json!({ "name": "Eve" })) } });
        let at_once = asked.call("greet", json!({}), more);
        assert_eq!(client::text(&at_once["result"]), Some("Hello, Eve!"));
    }

    /// The client learns what was wrong with its answer, and in the end the tool does.
    #[test]
    fn what_does_not_fit_is_asked_again_with_the_reason_but_not_for_ever() {
        let mut asked = Asked::new(all());
        for right in [true, false] {
            let mut answer = asked.call("greet", json!({}), json!({}));
            let mut messages = Vec::new();
            while answer["result"]["resultType"] == "input_required" {
                let params = &answer["result"]["inputRequests"]["user_name"]["params"];
                messages.push(params["message"].as_str().unwrap().to_owned());
                assert!(messages.len() < 10, "{messages:?}");
                let name = match right && messages.len() == 3 {
                    true => json!("Ada"),
                    false => json!(5),
                };
                let more = json!({
                    "requestState": answer["result"]["requestState"],
                    "inputResponses": { "user_name": accepted(json!({ "name": name })) }
                });
                answer = asked.call("greet", json!({}), more);
            }
            assert_eq!(messages.len(), 3, "{messages:?}");
            assert_eq!(messages[0], "[server `asker`] What is your name?");
            assert!(messages[2].starts_with(&messages[0]), "{messages:?}");
            assert!(
                messages[2].contains("does not fit at `/name`"),
                "{messages:?}"
            );
            let text = client::text(&answer["result"]).unwrap();
            let expected = match right {
                true => "Hello, Ada!",
                false => "does not fit at `/name`",
            };
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn an_answer_is_good_for_one_question() {
        let mut asked = Asked::new(all());
        let mut more = json!({});
        for name in ["Ada", "Eve"] {
            let open = asked.call("confirm_twice", json!({}), more);
            assert_eq!(open["result"]["resultType"], "input_required", "{open}");
            more = json!({
                "requestState": open["result"]["requestState"],
                "inputResponses": { "confirm": accepted(json!({ "name": name })) }
            });
        }
        let last = asked.call("confirm_twice", json!({}), more);
        assert_eq!(
            client::text(&last["result"]),
            Some("Hello, Ada! Hello, Eve!")
        );
    }

    #[test]
    fn a_state_is_bound_to_its_request() {
        let mut asked = Asked::new(all());
        let first = asked.call("add", json!({ "count": 1 }), json!({}));
        let state = first["result"]["requestState"].as_str().unwrap();
        let answers = json!({ "number_1": accepted(json!({ "number": 1 })) });
        let flipped = format!("{state}x");
        for (tool, count, state) in [("add", 2, state), ("greet", 1, state), ("add", 1, &flipped)] {
            let more = json!({ "requestState": state, "inputResponses": answers });
            let arguments = if tool == "add" {
                json!({ "count": count })
            } else {
                json!({})
            };
            let refused = asked.call(tool, arguments, more);
            assert_eq!(refused["error"]["code"], -32602, "{refused}");
        }
        let more = json!({ "requestState": state, "inputResponses": answers });
        let last = asked.call("add", json!({ "count": 1 }), more);
        assert_eq!(client::text(&last["result"]), Some("1"));
    }

    /// A state that was changed, or that is from elsewhere, is none.
    #[test]
    fn a_state_is_good_once_as_it_is_and_in_its_own_process() {
        let mut asked = Asked::new(all());
        let mut other = Asked::new(all());
        let state = |asked: &mut Asked| {
            let first = asked.call("add", json!({ "count": 1 }), json!({}));
            let state = first["result"]["requestState"].as_str();
            state.unwrap_or_else(|| panic!("{first}")).to_owned()
        };
        let answers = json!({ "number_1": accepted(json!({ "number": 1 })) });
        let answer = |asked: &mut Asked, state: &str| {
            let more = json!({ "requestState": state, "inputResponses": answers });
            asked.call("add", json!({ "count": 1 }), more)
        };
        let (mine, second, foreign) = (state(&mut asked), state(&mut asked), state(&mut other));
        let mut wrong = vec![
            String::new(),
            foreign.clone(),
            mine.to_uppercase(),
            format!(" {mine}"),
            format!("{mine} "),
            format!("{mine}="),
            format!("{mine}{second}"),
            // One state's beginning with another one's end.
            format!("{}{}", &mine[..mine.len() / 2], &second[mine.len() / 2..]),
            mine.chars().rev().collect(),
        ];
        wrong.extend((0..mine.len()).map(|end| mine[..end].to_owned()));
        for at in 0..mine.len() {
            for replaced in ["A", "b", "7", "-", "/"] {
                wrong.push(format!("{}{replaced}{}", &mine[..at], &mine[at + 1..]));
            }
        }
        wrong.retain(|wrong| *wrong != mine && *wrong != second);
        assert!(wrong.len() > 200, "{}", wrong.len());
        for wrong in &wrong {
            let refused = answer(&mut asked, wrong);
            // Without a state a call is a new one, which asks.
            let asks = wrong.is_empty() && refused["result"]["resultType"] == "input_required";
            assert!(
                asks || refused["error"]["code"] == -32602,
                "{wrong}: {refused}"
            );
        }
        let refused = answer(&mut other, &mine);
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        for (state, asked) in [(&mine, &mut asked), (&foreign, &mut other)] {
            let last = answer(asked, state);
            assert_eq!(client::text(&last["result"]), Some("1"), "{last}");
            // Played again, it is nobody's.
            for _ in 0..2 {
                let again = answer(asked, state);
                assert_eq!(again["error"]["code"], -32602, "{again}");
            }
        }
        let last = answer(&mut asked, &second);
        assert_eq!(client::text(&last["result"]), Some("1"), "{last}");
    }

    #[test]
    fn a_call_that_fails_for_what_the_client_lacks_says_so_in_its_error() {
        let mut asked = Asked::new(json!({ "roots": {} }));
        let refused = asked.call("greet", json!({}), json!({}));
        assert_eq!(refused["error"]["code"], -32021, "{refused}");
        let needed = &refused["error"]["data"]["requiredCapabilities"];
        assert_eq!(needed, &json!({ "elicitation": { "form": {} } }));
        let fine = asked.call("able", json!({}), json!({}));
        assert_eq!(
            fine["result"]["structuredContent"]["result"],
            json!(["roots"])
        );
    }

    /// More questions wait than may: the oldest are ended, and the newest can go on.
    #[test]
    fn heavy_a_crowd_of_unanswered_questions_is_bounded() {
        let mut asked = Asked::new(all());
        let mut states = Vec::new();
        for _ in 0..100 {
            let first = asked.call("greet", json!({}), json!({}));
            states.push(first["result"]["requestState"].clone());
        }
        assert!(states.last().unwrap().is_string(), "{states:?}");
        assert!(asked.instances().as_u64().unwrap() <= 64);
        let answers = json!({ "user_name": accepted(json!({ "name": "Ada" })) });
        for (state, good) in [(states.first(), false), (states.last(), true)] {
            let more = json!({ "requestState": state, "inputResponses": answers });
            let answer = asked.call("greet", json!({}), more);
            assert_eq!(answer["error"].is_null(), good, "{answer}");
        }
    }

    #[test]
    fn calls_that_wait_end_with_their_connection() {
        let mut asked = Asked::new(all());
        for _ in 0..5 {
            let first = asked.call("greet", json!({}), json!({}));
            assert_eq!(first["result"]["resultType"], "input_required");
        }
        assert_eq!(asked.instances(), 5);
        let Asked { client, .. } = asked;
        assert!(client.close(Duration::from_secs(6)).unwrap().success());
    }
}
