//! What a plugin asks the agent's side, between the contract and MCP.

use std::fmt;

use dormouse_jsonrpc::{Object, member};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::answer::Answer as Given;
use super::bindings::dormouse::plugin::client::{
    Action, Answer, Elicited, Question as Asked, Request, Root, Sampled,
};
use super::capability::Capability;
use super::content::{content, role, text};
use super::form::{Form, fits, shown};
use super::sampling;

/// One question, as MCP asks it.
#[derive(Debug, Clone)]
pub struct Question {
    /// Its name among the questions of a call.
    pub id: String,
    /// What a client has to be able to do.
    pub capability: Capability,
    /// The MCP request: its parameters. Of one that was written elsewhere, those that a
    /// person or a model is shown, or that lead somewhere.
    pub params: Map<String, Value>,
    /// All parameters as they were written, if that was elsewhere: they go out like that.
    pub text: Option<Box<RawValue>>,
}

/// The most text that a question may have, in bytes. Nobody reads as much, and as values it is
/// many times as large.
pub const MAX_QUESTION_BYTES: usize = 1 << 20;

/// Sees that a question is no longer than it may be.
///
/// # Errors
/// How long it is, and may be.
pub fn check_size(bytes: usize) -> Result<(), AskError> {
    match bytes > MAX_QUESTION_BYTES {
        true => Err(AskError::Invalid(format!(
            "a question has {bytes} bytes, and {MAX_QUESTION_BYTES} are allowed\n\
             hint: ask for less at once; images and other long texts of a sampling do not count"
        ))),
        false => Ok(()),
    }
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

impl Question {
    /// The MCP method that asks it.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.capability.method()
    }

    /// All that a client has to be able to do.
    pub fn needs(&self) -> impl Iterator<Item = Capability> + use<> {
        let sampling = self.capability == Capability::Sampling;
        let has = |name: &&str| match &self.text {
            Some(text) => member(text.get(), name).is_some(),
            None => self.params.contains_key(*name),
        };
        let tools = sampling && ["tools", "toolChoice"].iter().any(has);
        let tools = tools.then_some(Capability::SamplingTools);
        [self.capability].into_iter().chain(tools)
    }

    /// The same for a client that adds no context to what it samples. It may ignore
    /// that it is to, so that leaving it out says the same.
    #[must_use]
    pub(super) fn without_context(mut self) -> Self {
        const WANTS: &str = "includeContext";
        if self.capability == Capability::Sampling && self.params.shift_remove(WANTS).is_some() {
            let text = self.text.take();
            let text = text.and_then(|text| {
                let mut object = Object::parse(text.get(), usize::MAX).ok()?;
                object.remove(WANTS);
                RawValue::from_string(object.into_text().into_owned()).ok()
            });
            self.text = text;
        }
        self
    }

    /// What a client has to be able to do that a plugin asks this.
    pub(super) fn capability_for(asked: &Asked) -> Capability {
        match asked {
            Asked::Form(_) => Capability::ElicitationForm,
            Asked::Page(_) => Capability::ElicitationUrl,
            Asked::Sample(_) => Capability::Sampling,
            Asked::Roots => Capability::Roots,
        }
    }

    /// The question of a plugin.
    pub(super) fn new(request: Request) -> Result<Self, AskError> {
        let invalid =
            |why: String| AskError::Invalid(format!("the question `{}` {why}", request.id));
        let capability = Self::capability_for(&request.question);
        let params = match request.question {
            Asked::Form(form) => {
                let schema: Value = serde_json::from_str(&form.schema)
                    .map_err(|error| invalid(format!("has a schema that is no JSON: {error}")))?;
                Form::read(&schema)
                    .map_err(|why| invalid(format!("has a schema that is no form: {why}")))?;
                json!({ "message": form.message, "requestedSchema": schema })
            }
            Asked::Page(page) => {
                let address = page.url.parse::<hyper::Uri>();
                let wrong = match &address {
                    // Clients open it in a browser; a file or a script is no page.
                    Ok(address) => !matches!(address.scheme_str(), Some("https" | "http")),
                    Err(_) => true,
                };
                if wrong {
                    let why = address.map_err(|error| format!(": {error}"));
                    return Err(invalid(format!(
                        "wants `{}` opened, which is no page{}",
                        page.url,
                        why.err().unwrap_or_default()
                    )));
                }
                json!({
                    "mode": "url",
                    "message": page.message,
                    "url": page.url,
                    "elicitationId": page.elicitation_id,
                })
            }
            Asked::Sample(asked) => sampling::params(asked).map_err(invalid)?,
            Asked::Roots => json!({}),
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
            Capability::Sampling | Capability::SamplingTools | Capability::SamplingContext => {
                let role = role(answer.get("role")).ok_or_else(|| wrong("has no `role`"))?;
                let blocks = match answer.get("content") {
                    Some(Value::Array(blocks)) => blocks.as_slice(),
                    Some(block) => std::slice::from_ref(block),
                    None => return Err(wrong("has no `content`")),
                };
                let content = blocks.iter().map(|block| {
                    content(block).ok_or_else(|| {
                        wrong(&match block.get("type").and_then(Value::as_str) {
                            Some("tool_use") => {
                                "has a `tool_use` in its `content`, and the model was offered no \
                                 tools"
                                    .to_owned()
                            }
                            _ => format!(
                                "has {} in its `content`, which is no content of MCP",
                                shown(block)
                            ),
                        })
                    })
                });
                Ok(Answer::Sampled(Sampled {
                    role,
                    content: content.collect::<Result<_, _>>()?,
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
        // What an upstream asks is as it wants it, in whatever words, and so is the
        // answer: the upstream knows best whether that fits.
        if self.text.is_some() {
            return Ok(());
        }
        if !content.is_object() {
            let content = shown(content);
            return Err(format!("has {content} as its `content`, and no object"));
        }
        let schema = self.params.get("requestedSchema").unwrap_or(&Value::Null);
        fits(schema, content)
    }
}

#[cfg(test)]
mod tests;
