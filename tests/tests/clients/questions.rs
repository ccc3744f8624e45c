//! What a plugin asks its agent in the middle of a call: in one era by requests of
//! the server's own, in the other by results that want more, which the clients
//! answer and try again by themselves.

use serde_json::{Value, json};

use crate::{Sdk, call, home, is_error, text};

fn accepted(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// A call of the guest `asker`, with answers to what it asks.
fn asker(tool: &str, arguments: Value, answers: Value) -> Value {
    let mut step = call(&format!("asker__{tool}"), arguments);
    step["answers"] = answers;
    step
}

fn methods(result: &Value) -> Vec<&str> {
    let asked = result["asked"].as_array();
    let asked = asked.unwrap_or_else(|| panic!("nothing asked in {result}"));
    asked
        .iter()
        .map(|question| question["method"].as_str().unwrap())
        .collect()
}

pub(crate) fn are_answered(sdk: Sdk) {
    let home = home(&["asker"]);
    let elicit = |answers: Value| json!({ "elicit": answers });
    let number = |number: i64| accepted(json!({ "number": number }));
    let [
        able,
        greeted,
        declined,
        cancelled,
        sum,
        page,
        sampled,
        folders,
    ] = sdk.run(
        &home,
        &[
            asker("able", json!({}), json!({})),
            asker(
                "greet",
                json!({}),
                elicit(json!([accepted(json!({ "name": "Ada" }))])),
            ),
            asker("greet", json!({}), elicit(json!([{ "action": "decline" }]))),
            asker("greet", json!({}), elicit(json!([{ "action": "cancel" }]))),
            // The state that goes to and fro is another one each time.
            asker(
                "add",
                json!({ "count": 3 }),
                elicit(json!([number(1), number(20), number(300)])),
            ),
            asker(
                "show_page",
                json!({ "url": "https://example.com/x" }),
                elicit(json!([{ "action": "accept" }])),
            ),
            asker(
                "sample",
                json!({ "prompt": "Think." }),
                json!({ "sample": "I do." }),
            ),
            asker(
                "folders",
                json!({}),
                json!({ "roots": ["file:///a", "file:///b"] }),
            ),
        ],
    );
    assert_eq!(
        able["structuredContent"]["result"],
        json!(["form", "url", "sampling", "roots"])
    );

    assert_eq!(text(&greeted), "Hello, Ada!");
    assert_eq!(methods(&greeted), ["elicitation/create"]);
    let params = &greeted["asked"][0]["params"];
    assert_eq!(params["message"], "What is your name?");
    assert_eq!(params["requestedSchema"]["required"], json!(["name"]));
    assert_eq!(text(&declined), "declined");
    assert_eq!(text(&cancelled), "cancelled");

    assert_eq!(text(&sum), "321", "{sum}");
    assert_eq!(methods(&sum), ["elicitation/create"; 3]);

    let params = &page["asked"][0]["params"];
    assert_eq!(params["mode"], "url");
    assert_eq!(params["url"], "https://example.com/x");
    assert_eq!(text(&page), "accept");

    let params = &sampled["asked"][0]["params"];
    assert_eq!(params["maxTokens"], 100);
    assert_eq!(text(&sampled), "nobody said: I do.");
    assert_eq!(
        folders["structuredContent"]["result"],
        json!(["file:///a", "file:///b"])
    );
}

pub(crate) fn are_answered_all_at_once(sdk: Sdk) {
    let home = home(&["asker"]);
    let answers = json!({
        "elicit": [accepted(json!({ "name": "Ada" }))],
        "sample": "Nice.",
        "roots": ["file:///a", "file:///b"],
    });
    let [together, refused] = sdk.run(
        &home,
        &[
            asker("everything", json!({}), answers),
            // What the plugin may not ask is told to it, and asked of nobody.
            asker("nonsense", json!({}), json!({})),
        ],
    );
    let mut asked = methods(&together);
    asked.sort_unstable();
    assert_eq!(
        asked,
        ["elicitation/create", "roots/list", "sampling/createMessage"]
    );
    assert_eq!(text(&together), "{\"name\":\"Ada\"}; Nice.; 2");
    assert!(is_error(&refused), "{refused}");
    assert!(text(&refused).contains("has a schema that is none"));
    assert_eq!(refused.get("asked"), None);
}
