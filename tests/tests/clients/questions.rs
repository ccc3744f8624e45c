//! Questions of a plugin to its agent in the middle of a call: in one era by requests of the
//! server's own, in the other by results that want more, which the clients answer and try again by
//! themselves.

use serde_json::{Value, json};

use crate::{Sdk, call, home, is_error, text};

fn accepted(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// Makes a call of the guest `asker`, with answers to its questions.
fn asker(tool: &str, arguments: Value, answers: Value) -> Value {
    let mut step = call(&format!("asker__{tool}"), arguments);
    step["answers"] = answers;
    step
}

/// Returns the methods of the questions.
fn asked(result: &Value) -> Vec<&str> {
    let asked = result["asked"].as_array();
    let asked = asked.unwrap_or_else(|| panic!("nothing asked in {result}"));
    let methods = asked
        .iter()
        .map(|question| question["method"].as_str().unwrap());
    methods.collect()
}

pub(crate) fn are_answered(sdk: Sdk) {
    let home = home(&["asker"]);
    let name = accepted(json!({ "name": "Ada" }));
    let number = |number: i64| accepted(json!({ "number": number }));
    let roots = json!(["file:///a", "file:///b"]);
    let greet = |answer: Value| asker("greet", json!({}), json!({ "elicit": [answer] }));
    let steps = [
        asker("able", json!({}), json!({})),
        greet(name.clone()),
        greet(json!({ "action": "decline" })),
        greet(json!({ "action": "cancel" })),
        // The state that goes to and fro is another one each time.
        asker(
            "add",
            json!({ "count": 3 }),
            json!({ "elicit": [number(1), number(20), number(300)] }),
        ),
        asker(
            "show_page",
            json!({ "url": "https://example.com/x" }),
            json!({ "elicit": [{ "action": "accept" }] }),
        ),
        asker(
            "sample",
            json!({ "prompt": "Think." }),
            json!({ "sample": "I do." }),
        ),
        asker("folders", json!({}), json!({ "roots": roots })),
        asker(
            "everything",
            json!({}),
            json!({ "elicit": [name], "sample": "Nice.", "roots": roots }),
        ),
        asker("nonsense", json!({}), json!({})),
    ];
    let [able, answered @ .., nonsense] = sdk.run(&home, &steps).unwrap();
    assert_eq!(
        able["structuredContent"]["result"],
        json!(["form", "url", "sampling", "roots"])
    );

    let [
        greeted,
        declined,
        cancelled,
        sum,
        page,
        sampled,
        folders,
        all,
    ] = answered;
    for (result, expected) in [
        (&greeted, "Hello, Ada!"),
        (&declined, "declined"),
        (&cancelled, "cancelled"),
        (&sum, "321"),
        (&page, "accept"),
        (&sampled, "nobody said: I do."),
        (&all, r#"{"name":"Ada"}; Nice.; 2"#),
    ] {
        assert_eq!(text(result), expected);
    }
    assert_eq!(folders["structuredContent"]["result"], roots);

    assert_eq!(asked(&greeted), ["elicitation/create"]);
    let params = &greeted["asked"][0]["params"];
    assert_eq!(params["message"], "[server `asker`] What is your name?");
    assert_eq!(params["requestedSchema"]["required"], json!(["name"]));
    assert_eq!(asked(&sum), ["elicitation/create"; 3]);
    let params = &page["asked"][0]["params"];
    assert_eq!(params["mode"], "url");
    assert_eq!(params["url"], "https://example.com/x");
    assert_eq!(sampled["asked"][0]["params"]["maxTokens"], 100);
    // Nobody waits for one answer before the next question.
    let mut together = asked(&all);
    together.sort_unstable();
    assert_eq!(
        together,
        ["elicitation/create", "roots/list", "sampling/createMessage"]
    );

    // What a plugin may not ask is told to it, and asked of nobody.
    assert!(is_error(&nonsense), "{nonsense}");
    assert!(text(&nonsense).contains("has a schema that is no form"));
    assert_eq!(nonsense.get("asked"), None);
}

/// A call that its user is to confirm is asked about by every client, in its era; a no is one for good.
pub(crate) fn confirm_calls(sdk: Sdk) {
    let home = crate::exposure::home_with("confirm = ['write']");
    let add = |answer: Value| {
        let mut step = call("echo__add", json!({ "a": 2, "b": 3 }));
        step["answers"] = json!({ "elicit": [answer] });
        step
    };
    let steps = [
        add(accepted(json!({ "answer": "once" }))),
        add(json!({ "action": "decline" })),
        add(accepted(json!({ "answer": "once" }))),
        call("echo__echo", json!({ "text": "read" })),
    ];
    let [made, declined, again, read] = sdk.run(&home, &steps).unwrap();
    assert_eq!(made["structuredContent"]["result"], 5, "{made}");
    assert_eq!(asked(&made), ["elicitation/create"]);
    let message = made["asked"][0]["params"]["message"].as_str().unwrap();
    assert!(
        message.contains("Tool: add\nArguments:\n  a: 2\n"),
        "{message}"
    );
    assert_eq!(asked(&declined), ["elicitation/create"]);
    for (refused, why) in [(&declined, "does not want it"), (&again, "not asked again")] {
        assert!(
            is_error(refused) && text(refused).contains(why),
            "{refused}"
        );
    }
    assert_eq!(again.get("asked"), None, "{again}");
    assert_eq!(text(&read), "read");
}
