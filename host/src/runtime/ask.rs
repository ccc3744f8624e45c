//! What a plugin asks the agent's side, between the contract and MCP.

use std::fmt;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::answer::Answer as Given;
use super::bindings::dormouse::plugin::client::{
    Action, Answer, Elicited, Question as Asked, Request, Root, Sampled, Sampling,
};
use super::content::{block, content, role, role_name, text};

/// What a client can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// Forms for the user.
    ElicitationForm,
    /// Pages for the user.
    ElicitationUrl,
    /// Texts from the model.
    Sampling,
    /// The folders that it works in.
    Roots,
}

/// One question, as MCP asks it.
#[derive(Debug, Clone)]
pub struct Question {
    /// Its name among the questions of a call.
    pub id: String,
    /// What a client has to be able to do.
    pub capability: Capability,
    /// The MCP request: its parameters.
    pub params: Map<String, Value>,
    /// The parameters as they were written, if that was elsewhere: they go out like
    /// that.
    pub text: Option<Box<RawValue>>,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskError {
    /// The client cannot be asked that.
    Unsupported(String),
    /// The question makes no sense.
    Invalid(String),
    /// The client answered with an error, or with something else.
    Failed(String),
    /// The call that it was asked in was over before there was an answer.
    Over,
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unsupported(why) | Self::Invalid(why) | Self::Failed(why) => why,
            Self::Over => "the call is over",
        })
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ElicitationForm => "elicitation",
            Self::ElicitationUrl => "elicitation.url",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        })
    }
}

impl Capability {
    /// As it is written among a client's capabilities.
    #[must_use]
    pub fn declared(self) -> Value {
        match self {
            Self::ElicitationForm => json!({ "elicitation": {} }),
            Self::ElicitationUrl => json!({ "elicitation": { "url": {} } }),
            Self::Sampling => json!({ "sampling": {} }),
            Self::Roots => json!({ "roots": {} }),
        }
    }
}

impl Question {
    /// The MCP method that asks it.
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self.capability {
            Capability::ElicitationForm | Capability::ElicitationUrl => "elicitation/create",
            Capability::Sampling => "sampling/createMessage",
            Capability::Roots => "roots/list",
        }
    }

    /// The question of a plugin.
    pub(super) fn new(request: Request) -> Result<Self, AskError> {
        let invalid =
            |why: String| AskError::Invalid(format!("the question `{}` {why}", request.id));
        let (capability, params) = match request.question {
            Asked::Form(form) => {
                let schema: Value = serde_json::from_str(&form.schema)
                    .map_err(|error| invalid(format!("has a schema that is no JSON: {error}")))?;
                if !schema.is_object() {
                    return Err(invalid("has a schema that is no object".into()));
                }
                validator(&schema)
                    .map_err(|error| invalid(format!("has a schema that is none: {error}")))?;
                let params = json!({ "message": form.message, "requestedSchema": schema });
                (Capability::ElicitationForm, params)
            }
            Asked::Page(page) => {
                // Clients open it in a browser; a file or a script is no page.
                if !page.url.starts_with("https://") && !page.url.starts_with("http://") {
                    return Err(invalid(format!(
                        "wants `{}` opened, which is no page",
                        page.url
                    )));
                }
                let params = json!({
                    "mode": "url",
                    "message": page.message,
                    "url": page.url,
                    "elicitationId": page.elicitation_id,
                });
                (Capability::ElicitationUrl, params)
            }
            Asked::Sample(sampling) => (Capability::Sampling, sampled_from(sampling)),
            Asked::Roots => (Capability::Roots, json!({})),
        };
        let Value::Object(params) = params else {
            return Err(invalid("has no parameters".into()));
        };
        Ok(Self {
            id: request.id,
            capability,
            params,
            text: None,
        })
    }

    /// The text of its parameters.
    #[must_use]
    pub fn to_text(&self) -> String {
        match &self.text {
            Some(text) => text.get().to_owned(),
            None => Value::Object(self.params.clone()).to_string(),
        }
    }

    /// Whether this is an answer to the question.
    ///
    /// # Errors
    /// Why it is none.
    pub fn check(&self, answer: &Given) -> Result<(), String> {
        self.answer(answer).map(drop)
    }

    /// A client's answer, for the plugin.
    pub(super) fn answer(&self, answer: &Given) -> Result<Answer, String> {
        let wrong = |why: &str| format!("the answer to `{}` {why}", self.id);
        let answer = answer.to_value();
        let answer = &*answer.map_err(|error| wrong(&format!("cannot be read: {error}")))?;
        match self.capability {
            Capability::ElicitationForm | Capability::ElicitationUrl => {
                let action = match answer.get("action").and_then(Value::as_str) {
                    Some("accept") => Action::Accept,
                    Some("decline") => Action::Decline,
                    Some("cancel") => Action::Cancel,
                    _ => return Err(wrong("has no `action` of `accept`, `decline` or `cancel`")),
                };
                let accepted = matches!(action, Action::Accept);
                let form = self.capability == Capability::ElicitationForm && accepted;
                let content = if form {
                    let empty = Value::Object(Map::new());
                    let content = answer.get("content").unwrap_or(&empty);
                    self.check_form(content).map_err(|why| wrong(&why))?;
                    Some(content.to_string())
                } else {
                    None
                };
                Ok(Answer::Elicited(Elicited { action, content }))
            }
            Capability::Sampling => {
                let role = role(answer.get("role")).ok_or_else(|| wrong("has no `role`"))?;
                let content = match answer.get("content") {
                    Some(Value::Array(blocks)) => blocks.iter().map(content).collect(),
                    Some(block) => content(block).map(|block| vec![block]),
                    None => None,
                };
                Ok(Answer::Sampled(Sampled {
                    role,
                    content: content.ok_or_else(|| wrong("has no `content` of MCP"))?,
                    model: text(answer, "model").unwrap_or_default(),
                    stop_reason: text(answer, "stopReason"),
                }))
            }
            Capability::Roots => {
                let roots = answer.get("roots").and_then(Value::as_array);
                let roots = roots.ok_or_else(|| wrong("has no `roots`"))?;
                let root = |root: &Value| {
                    Some(Root {
                        uri: text(root, "uri")?,
                        name: text(root, "name"),
                    })
                };
                let roots: Option<_> = roots.iter().map(root).collect();
                Ok(Answer::Roots(
                    roots.ok_or_else(|| wrong("has a root without a `uri`"))?,
                ))
            }
        }
    }

    fn check_form(&self, content: &Value) -> Result<(), String> {
        if !content.is_object() {
            return Err("has a `content` that is no object".into());
        }
        let schema = self.params.get("requestedSchema").unwrap_or(&Value::Null);
        let validator = validator(schema).map_err(|error| format!("cannot be checked: {error}"))?;
        validator.validate(content).map_err(|error| {
            let message: String = error.to_string().chars().take(300).collect();
            let message = message.replace(['"', '\''], "`");
            format!("does not fit at `{}`: {message}", error.instance_path())
        })
    }
}

fn validator(
    schema: &Value,
) -> Result<jsonschema::Validator, jsonschema::ValidationError<'static>> {
    jsonschema::options()
        // Linear in the length of its input: a pattern cannot hang an answer.
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(schema)
}

fn sampled_from(sampling: Sampling) -> Value {
    let messages = sampling.messages.into_iter().map(|message| {
        let mut blocks: Vec<_> = message.content.into_iter().map(block).collect();
        // A single block is not in a list: clients of before 2025-11-25 know no
        // lists there.
        let content = match blocks.len() {
            1 => blocks.remove(0),
            _ => Value::Array(blocks),
        };
        json!({ "role": role_name(message.role), "content": content })
    });
    let mut params = json!({
        "messages": messages.collect::<Vec<_>>(),
        "maxTokens": sampling.max_tokens,
    });
    let mut set = |name: &str, value: Option<Value>| {
        if let (Some(params), Some(value)) = (params.as_object_mut(), value) {
            params.insert(name.into(), value);
        }
    };
    set("systemPrompt", sampling.system_prompt.map(Value::from));
    set("temperature", sampling.temperature.map(Value::from));
    let stops = sampling.stop_sequences;
    set("stopSequences", (!stops.is_empty()).then(|| json!(stops)));
    set(
        "modelPreferences",
        sampling.model_preferences.map(|preferences| {
            let mut value = Map::new();
            let hints = preferences.hints.iter();
            let hints: Vec<_> = hints.map(|name| json!({ "name": name })).collect();
            if !hints.is_empty() {
                value.insert("hints".into(), Value::Array(hints));
            }
            for (name, priority) in [
                ("costPriority", preferences.cost_priority),
                ("speedPriority", preferences.speed_priority),
                ("intelligencePriority", preferences.intelligence_priority),
            ] {
                value.extend(priority.map(|priority| (name.to_owned(), json!(priority))));
            }
            Value::Object(value)
        }),
    );
    params
}
