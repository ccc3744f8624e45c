//! Questions in the era without sessions, which are answers.

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
