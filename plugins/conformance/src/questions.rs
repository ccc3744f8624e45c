//! The tools that ask the client's side before they answer. Each is written as if
//! the answers were there at once; how they come is the host's business.

use dormouse_sdk::client::{self, Answer, Capabilities, Field, Reply, Sampling};
use serde_json::{Value, json};

use crate::Fixtures;
use crate::exports::dormouse_plugins::conformance::questions::Guest;

impl Guest for Fixtures {
    fn test_sampling(prompt: String) -> Result<String, String> {
        let said = client::sample("prompt", Sampling::new(prompt, 100))?;
        Ok(format!("LLM response: {}", said.text()))
    }

    fn test_elicitation(message: String) -> Result<String, String> {
        let schema = json!({
            "type": "object",
            "properties": {
                "username": { "type": "string", "description": "User's response" },
                "email": { "type": "string", "description": "User's email address" },
            },
            "required": ["username", "email"],
        });
        let reply = client::elicit("user", &message, schema)?;
        Ok(format!("User response: {}", told(&reply)))
    }

    fn test_elicitation_sep1034_defaults() -> Result<String, String> {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "default": "John Doe" },
                "age": { "type": "integer", "default": 30 },
                "score": { "type": "number", "default": 95.5 },
                "status": {
                    "type": "string",
                    "enum": ["active", "inactive", "pending"],
                    "default": "active",
                },
                "verified": { "type": "boolean", "default": true },
            },
        });
        let reply = client::elicit("defaults", "Is this right?", schema)?;
        Ok(format!("Elicitation completed: {}", told(&reply)))
    }

    fn test_elicitation_sep1330_enums() -> Result<String, String> {
        let plain = json!(["option1", "option2", "option3"]);
        let titled = |what: &str| {
            json!([
                { "const": "value1", "title": format!("First {what}") },
                { "const": "value2", "title": format!("Second {what}") },
                { "const": "value3", "title": format!("Third {what}") },
            ])
        };
        let schema = json!({
            "type": "object",
            "properties": {
                "untitledSingle": { "type": "string", "enum": plain },
                "titledSingle": { "type": "string", "oneOf": titled("Option") },
                "legacyEnum": {
                    "type": "string",
                    "enum": ["opt1", "opt2", "opt3"],
                    "enumNames": ["Option One", "Option Two", "Option Three"],
                },
                "untitledMulti": {
                    "type": "array",
                    "items": { "type": "string", "enum": plain },
                },
                "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
            },
        });
        let reply = client::elicit("choices", "Which of these?", schema)?;
        Ok(format!("Elicitation completed: {}", told(&reply)))
    }

    fn test_streaming_elicitation() -> Result<String, String> {
        dormouse_sdk::progress(1.0, Some(2.0), "about to ask");
        confirmed().map(|_| "The user was asked.".into())
    }

    fn test_missing_capability() -> Result<String, String> {
        // Where the client has no model, this is the call's end.
        Ok(client::sample("needed", Sampling::new("Are you there?", 100))?.text())
    }

    fn test_input_required_result_elicitation() -> Result<String, String> {
        let name = text_of("user_name", "What is your name?", "name")?;
        Ok(format!("Hello, {name}!"))
    }

    fn test_input_required_result_sampling() -> Result<String, String> {
        let question = "What is the capital of France?";
        Ok(client::sample("capital_question", Sampling::new(question, 100))?.text())
    }

    fn test_input_required_result_list_roots() -> Result<String, String> {
        match client::ask(&[client::list_roots("client_roots")])?.as_slice() {
            [Answer::Roots(roots)] => {
                let uris: Vec<_> = roots.iter().map(|root| root.uri.as_str()).collect();
                Ok(format!("The client works in: {}", uris.join(", ")))
            }
            _ => Err("the client told no roots".into()),
        }
    }

    fn test_input_required_result_request_state() -> Result<String, String> {
        // That the call goes on here at all says that its state was the right one.
        confirmed().map(|reply| format!("state-ok: {reply}"))
    }

    fn test_input_required_result_multiple_inputs() -> Result<String, String> {
        let answers = client::ask(&[
            client::form("user_name", "What is your name?", &Field::text("name")),
            client::prompted("greeting", Sampling::new("Generate a greeting", 50)),
            client::list_roots("client_roots"),
        ])?;
        match answers.as_slice() {
            [
                Answer::Elicited(user),
                Answer::Sampled(said),
                Answer::Roots(roots),
            ] => {
                let content = user.content.as_deref().unwrap_or("nothing");
                let (greeting, roots) = (said.text(), roots.len());
                Ok(format!(
                    "{greeting} (user: {content}, number of roots: {roots})"
                ))
            }
            _ => Err("the answers are not those to the questions".into()),
        }
    }

    fn test_input_required_result_multi_round() -> Result<String, String> {
        let name = text_of("step1", "Step 1: What is your name?", "name")?;
        let color = text_of("step2", "Step 2: What is your favorite color?", "color")?;
        Ok(format!("{name} likes {color}."))
    }

    fn test_input_required_result_tampered_state() -> Result<String, String> {
        confirmed()
    }

    fn test_input_required_result_capabilities() -> Result<String, String> {
        let supported = client::supported();
        let mut requests = Vec::new();
        if supported.contains(Capabilities::ELICITATION_FORM) {
            let name = Field::text("name");
            requests.push(client::form("user_name", "What is your name?", &name));
        }
        if supported.contains(Capabilities::SAMPLING) {
            requests.push(client::prompted(
                "greeting",
                Sampling::new("Generate a greeting", 50),
            ));
        }
        let answers = client::ask(&requests)?;
        Ok(format!("Questions answered: {}", answers.len()))
    }
}

/// Asks the user for one text.
fn text_of(id: &str, message: &str, field: &str) -> Result<String, String> {
    match client::elicit(id, message, Field::text(field))? {
        Reply::Accept(text) => Ok(text),
        Reply::Decline | Reply::Cancel => Err(format!("the user does not tell the {field}")),
    }
}

/// Asks the user to confirm.
fn confirmed() -> Result<String, String> {
    let schema = json!({
        "type": "object",
        "properties": { "ok": { "type": "boolean" } },
        "required": ["ok"],
    });
    let reply = client::elicit("confirm", "Please confirm", schema)?;
    Ok(told(&reply))
}

/// Returns the user's reaction as a text.
fn told(reply: &Reply<Value>) -> String {
    match reply {
        Reply::Accept(content) => format!("action=accept, content={content}"),
        Reply::Decline => "action=decline".into(),
        Reply::Cancel => "action=cancel".into(),
    }
}
