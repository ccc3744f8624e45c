use serde_json::value::RawValue;

use super::*;
use crate::bindings::dormouse::plugin::client::{
    Form as Asking, ModelPreferences, Page, Sampling, SamplingMessage,
};
use crate::bindings::dormouse::plugin::types::{Annotations, Content, Role, TextContent};

fn request(question: Asked) -> Result<Question, AskError> {
    let id = "who".to_owned();
    super::question(Request { id, question })
}

fn form(schema: &Value) -> Result<Question, AskError> {
    request(Asked::Form(Asking {
        message: "?".into(),
        schema: schema.to_string(),
    }))
}

/// Returns the reason for which a plugin may not ask a question.
fn invalid(question: Result<Question, AskError>) -> String {
    match question {
        Err(AskError::Invalid(why)) => why,
        other => panic!("{other:?}"),
    }
}

/// An upstream's question.
fn upstream(capability: Capability, text: &str) -> Question {
    Question {
        id: "who".into(),
        origin: QuestionOrigin::Server,
        capability,
        params: serde_json::from_str(text).unwrap(),
        text: RawValue::from_string(text.to_owned()).ok(),
    }
}

fn sampling() -> Sampling {
    let text = TextContent {
        text: "hi".into(),
        annotations: None,
    };
    Sampling {
        messages: vec![SamplingMessage {
            role: Role::User,
            content: vec![Content::Text(text)],
        }],
        system_prompt: None,
        max_tokens: 5,
        temperature: None,
        stop_sequences: Vec::new(),
        model_preferences: None,
    }
}

/// A few kilobytes that are matched with a pattern of many states would take seconds.
#[test]
fn a_form_has_no_text_that_takes_long_to_match() {
    let with = |pattern: &str, default: &str| {
        let field = json!({ "type": "string", "pattern": pattern, "default": default });
        form(&json!({ "type": "object", "properties": { "a": field } }))
    };
    let uuid = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
    let good = "550e8400-e29b-41d4-a716-446655440000";
    let question = with(uuid, good).unwrap();
    let slow = "(\\b\u{e4}?|\\B){300}$";
    let long = "\u{e4}".repeat(4000);
    let why = invalid(with(slow, &long));
    assert!(why.contains("`a` is too long for its `pattern`"), "{why}");
    // So it is with what a person fills in.
    let answer = |text: &str| {
        let given = json!({ "action": "accept", "content": { "a": text } });
        check_answer(&question, &Given::Made(given))
    };
    assert_eq!(answer(good), Ok(()));
    let why = answer(&"0".repeat(8000)).unwrap_err();
    assert!(why.contains("too long for its `pattern`"), "{why}");
}

/// Reading that pattern alone would take gigabytes.
#[test]
fn a_form_has_no_pattern_that_takes_much_memory_to_read() {
    let with = |pattern: String| {
        let field = json!({ "type": "string", "pattern": pattern, "default": "a" });
        form(&json!({ "type": "object", "properties": { "a": field } }))
    };
    assert!(with("^[a-z]+$".to_owned()).is_ok());
    let why = invalid(with(format!("(?i:{})", r"\p{L}".repeat(40_000))));
    assert!(
        why.contains("its field `a` has a `pattern` that takes too much memory"),
        "{why}"
    );
    // Nor do all of them together.
    let field = json!({ "type": "string", "pattern": r"\d\w".repeat(90) });
    let fields = ["a", "b", "c", "d", "e"].map(|name| (name.to_owned(), field.clone()));
    let of = |count: usize| {
        let fields: serde_json::Map<_, _> = fields.iter().take(count).cloned().collect();
        form(&json!({ "type": "object", "properties": fields }))
    };
    for count in [1, 2] {
        assert!(of(count).is_ok(), "{:?}", of(count).err());
    }
    let why = invalid(of(5));
    assert!(why.contains("its field `c` has a `pattern`"), "{why}");
}

#[test]
fn what_a_plugin_cannot_ask_says_why() {
    for (schema, said) in [
        (json!([1]), "it is `[1]`, and a form is an object"),
        (
            json!({ "type": "object", "properties": { "o": { "type": "object" } } }),
            "its field `o` has the type `object`",
        ),
    ] {
        let why = invalid(form(&schema));
        let begins = "the question `who` has a schema that is no form: ";
        assert!(why.starts_with(begins) && why.contains(said), "{why}");
    }
    for url in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://exa mple/<>",
        "http://",
        "example.com",
        "",
    ] {
        let page = Page {
            message: String::new(),
            url: url.into(),
            elicitation_id: String::new(),
        };
        let why = invalid(request(Asked::Page(page)));
        let said = format!("wants `{url}` opened, which is no page");
        assert!(why.contains(&said), "{why}");
    }
}

#[test]
fn numbers_that_mcp_has_no_word_for_are_not_asked() {
    let preferring = |cost: f64| Sampling {
        model_preferences: Some(ModelPreferences {
            hints: Vec::new(),
            cost_priority: Some(cost),
            speed_priority: None,
            intelligence_priority: None,
        }),
        ..sampling()
    };
    let hot = |temperature: f64| Sampling {
        temperature: Some(temperature),
        ..sampling()
    };
    let mut hinted = sampling();
    hinted.messages[0].content = vec![Content::Text(TextContent {
        text: "hi".into(),
        annotations: Some(Annotations {
            audience: Vec::new(),
            priority: Some(7.0),
            last_modified: None,
        }),
    })];
    for (asked, said) in [
        (hot(f64::NAN), "has a temperature of `NaN`"),
        (hot(f64::INFINITY), "has a temperature of `inf`"),
        (preferring(7.0), "has a `cost-priority` of `7`"),
        (preferring(f64::NAN), "has a `cost-priority` of `NaN`"),
        (hinted, "has a `priority` of `7`"),
    ] {
        let why = invalid(request(Asked::Sample(asked)));
        assert!(
            why.starts_with("the question `who` ") && why.contains(said),
            "{why}"
        );
    }
    let good = request(Asked::Sample(preferring(0.5))).unwrap();
    assert_eq!(good.params["modelPreferences"]["costPriority"], 0.5);
    let good = request(Asked::Sample(hot(1.5))).unwrap();
    assert_eq!(good.params["temperature"], 1.5);
}

#[test]
fn an_answer_has_to_fit_its_form() {
    let question = form(&json!({
        "type": "object", "required": ["name"],
        "properties": { "name": { "type": "string" }, "mail": { "type": "string", "format": "email" } }
    }))
    .unwrap();
    let why = |content: Value| {
        let answer = json!({ "action": "accept", "content": content });
        check_answer(&question, &Given::Made(answer)).err()
    };
    assert_eq!(why(json!({ "name": "Ada", "mail": "a@b.c" })), None);
    assert_eq!(
        why(json!({})).unwrap(),
        "the answer to `who` does not fit: `name` is a required property"
    );
    assert_eq!(
        why(json!({ "name": "Ada", "mail": "nope" })).unwrap(),
        "the answer to `who` does not fit at `/mail`: `nope` is not a `email`"
    );
    assert_eq!(
        why(json!([])).unwrap(),
        "the answer to `who` has `[]` as its `content`, and no object"
    );
    // An upstream sees for itself.
    let text = r#"{"message":"?","requestedSchema":{"type":"object","required":["name"]}}"#;
    let asked = upstream(Capability::ElicitationForm, text);
    let answer = json!({ "action": "accept", "content": {} });
    assert_eq!(check_answer(&asked, &Given::Made(answer)), Ok(()));
}

#[test]
fn what_no_plugin_can_be_given_is_named() {
    let question = request(Asked::Sample(sampling())).unwrap();
    let why = |content: Value| {
        let answer = json!({ "role": "assistant", "model": "m", "content": content });
        check_answer(&question, &Given::Made(answer)).err()
    };
    let text = json!({ "type": "text", "text": "hi" });
    let used = json!({ "type": "tool_use", "id": "1", "name": "t", "input": {} });
    assert_eq!(why(text.clone()), None);
    assert_eq!(why(json!([text, text])), None);
    assert_eq!(
        why(json!([text, used])).unwrap(),
        "the answer to `who` has a `tool_use` in its `content`, and the model was offered no tools"
    );
    let other = why(json!({ "type": "bogus" })).unwrap();
    assert!(other.contains("`{\"type\":\"bogus\"}`"), "{other}");
}
