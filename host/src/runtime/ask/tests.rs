use std::sync::Mutex;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::super::bindings::dormouse::plugin::client::{
    Form as Asking, ModelPreferences, Page, Sampling, SamplingMessage,
};
use super::super::bindings::dormouse::plugin::types::{Annotations, Content, Role, TextContent};
use super::*;
use crate::runtime::Listener;

fn request(question: Asked) -> Result<Question, AskError> {
    let id = "who".to_owned();
    Question::new(Request { id, question })
}

fn form(schema: &Value) -> Result<Question, AskError> {
    request(Asked::Form(Asking {
        message: "?".into(),
        schema: schema.to_string(),
    }))
}

/// Why a plugin may not ask that.
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
        question.check(&Given::Made(answer)).err()
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
    assert_eq!(asked.check(&Given::Made(answer)), Ok(()));
}

#[test]
fn what_no_plugin_can_be_given_is_named() {
    let question = request(Asked::Sample(sampling())).unwrap();
    let why = |content: Value| {
        let answer = json!({ "role": "assistant", "model": "m", "content": content });
        question.check(&Given::Made(answer)).err()
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

/// A client that can be asked some things, and notes what it is asked in spite of that.
struct Some {
    able: Vec<Capability>,
    asked: Mutex<Vec<String>>,
}

impl Listener for Some {
    fn progress(&self, _: f64, _: Option<f64>, _: Option<String>) {}

    fn log(&self, _: &'static str, _: Option<String>, _: Value) {}

    fn supports(&self, capability: Capability) -> bool {
        self.able.contains(&capability)
    }

    fn ask(&self, questions: Vec<Question>) -> BoxFuture<'static, Result<Vec<Given>, AskError>> {
        let texts = questions.iter().map(Question::to_text);
        self.asked.lock().unwrap().extend(texts);
        std::future::ready(Ok(Vec::new())).boxed()
    }
}

fn put(able: &[Capability], questions: Vec<Question>) -> (Option<AskError>, Vec<String>) {
    let client = Some {
        able: able.to_vec(),
        asked: Mutex::default(),
    };
    let listener: &dyn Listener = &client;
    let error = listener.put(questions).now_or_never().unwrap().err();
    (error, client.asked.into_inner().unwrap())
}

#[test]
fn nobody_is_asked_what_they_do_not_support() {
    use Capability::{ElicitationForm, Roots, Sampling, SamplingTools};
    let roots = || upstream(Roots, "{}");
    let form = || upstream(ElicitationForm, "{}");
    let tools = || upstream(Sampling, r#"{"tools":[]}"#);
    let choice = || upstream(Sampling, r#"{"toolChoice":{"mode":"none"}}"#);
    for (able, questions, lacked) in [
        (vec![], vec![roots()], "roots"),
        (vec![Roots], vec![roots(), form()], "elicitation"),
        (vec![Sampling], vec![tools()], "sampling.tools"),
        (vec![Sampling], vec![choice()], "sampling.tools"),
        (vec![SamplingTools], vec![tools()], "sampling"),
    ] {
        let (error, asked) = put(&able, questions);
        let Some(AskError::Unsupported(why)) = error else {
            panic!("{able:?}: {error:?}");
        };
        assert!(why.contains(&format!("`{lacked}`")), "{why}");
        assert_eq!(asked, [""; 0], "{able:?}");
    }
    let (error, asked) = put(&[Sampling, SamplingTools], vec![tools()]);
    assert_eq!((error, asked), (None, vec![r#"{"tools":[]}"#.to_owned()]));
}

#[test]
fn context_is_asked_of_those_who_add_it() {
    use Capability::{Sampling, SamplingContext};
    let text = r#"{"maxTokens": 1.0, "includeContext":"thisServer","x":[1.10]}"#;
    let asked = |able: &[Capability]| put(able, vec![upstream(Sampling, text)]).1;
    assert_eq!(asked(&[Sampling, SamplingContext]), [text]);
    assert_eq!(asked(&[Sampling]), [r#"{"maxTokens": 1.0,"x":[1.10]}"#]);
}
