//! Questions of plugins to clients, between the contract and MCP.

mod content;
mod question_size;
mod sampling;

use dormouse_protocol::form::{Form, fits, shown};
use dormouse_protocol::{Answer as Given, AskError, Capability, Question, QuestionOrigin};
use dormouse_text::visible::is_hidden;
use dormouse_text::visible::short_name;
use dormouse_wit::pattern_size;
use dormouse_wit::pattern_states::pattern_states;
use serde_json::{Map, Value, json};

pub(crate) use question_size::QuestionSize;

use self::content::{content, role, text};
use crate::bindings::dormouse::plugin::client::{
    Action, Answer, Elicited, Question as Asked, Request, Root, Sampled,
};

/// Returns the capability that a client needs for a plugin's question.
pub(super) fn capability_for(asked: &Asked) -> Capability {
    match asked {
        Asked::Form(_) => Capability::ElicitationForm,
        Asked::Page(_) => Capability::ElicitationUrl,
        Asked::Sample(_) => Capability::Sampling,
        Asked::Roots => Capability::Roots,
    }
}

/// Longest id of a question, in bytes.
const MAX_ID_BYTES: usize = 256;

/// Returns the question of a plugin.
pub(super) fn question(request: Request) -> Result<Question, AskError> {
    // Clients may show it, as the key that an answer goes by.
    if request.id.len() > MAX_ID_BYTES || request.id.chars().any(is_hidden) {
        return Err(AskError::Invalid(format!(
            "the id of a question has more than {MAX_ID_BYTES} bytes, or characters that nobody sees"
        )));
    }
    let invalid = |why: String| AskError::Invalid(format!("the question `{}` {why}", request.id));
    let capability = capability_for(&request.question);
    let params = match request.question {
        Asked::Form(form) => {
            let schema: Value = serde_json::from_str(&form.schema)
                .map_err(|error| invalid(format!("has a schema that is no JSON: {error}")))?;
            check_patterns(&schema)
                .map_err(|why| invalid(format!("has a schema that is no form: {why}")))?;
            check_matching(&schema, |_, field| field.get("default"))
                .map_err(|why| invalid(format!("has a schema that is no form: {why}")))?;
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
    Ok(Question {
        id: request.id,
        origin: QuestionOrigin::Server,
        capability,
        params,
        text: None,
    })
}

/// Checks that the patterns of a form's fields take little memory to be read: its defaults and all
/// answers are matched with them.
fn check_patterns(schema: &Value) -> Result<(), String> {
    let fields = schema.get("properties").and_then(Value::as_object);
    let mut left = pattern_size::MAX_READ_BYTES;
    let large = fields.into_iter().flatten().find(|(_, field)| {
        let pattern = field.get("pattern").and_then(Value::as_str);
        let bytes = pattern.map_or(0, pattern_size::read_bytes);
        let is_large = bytes > left;
        left = left.saturating_sub(bytes);
        is_large
    });
    match large {
        None => Ok(()),
        Some((name, _)) => Err(format!(
            "its field `{}` has a `pattern` that takes too much memory, with those of the fields \
             before it: it is longer than {} bytes, or has too many classes such as `\\p{{L}}`",
            short_name(name),
            pattern_size::MAX_PATTERN_LENGTH
        )),
    }
}

/// Most steps of matching the texts of one form with the patterns of its fields: some hundredths of
/// a second.
const MAX_MATCHING_STEPS: u64 = 1 << 20;

/// Checks that matching a form's texts with its patterns takes little time: each byte of a text may
/// meet all states of its pattern. `text` returns what a field is filled in with, by its name and
/// its schema.
fn check_matching<'v>(
    schema: &'v Value,
    text: impl Fn(&str, &'v Value) -> Option<&'v Value>,
) -> Result<(), String> {
    let fields = schema.get("properties").and_then(Value::as_object);
    let mut left = MAX_MATCHING_STEPS;
    for (name, field) in fields.into_iter().flatten() {
        let pattern = field.get("pattern").and_then(Value::as_str);
        let text = text(name, field).and_then(Value::as_str);
        let (Some(pattern), Some(text)) = (pattern, text) else {
            continue;
        };
        let steps = pattern_states(pattern).saturating_mul(text.len() as u64 + 1);
        left = left.checked_sub(steps).ok_or_else(|| {
            format!(
                "the text of its field `{}` is too long for its `pattern`, which is matched in \
                 more than {MAX_MATCHING_STEPS} steps, with those of the fields before it",
                short_name(name)
            )
        })?;
    }
    Ok(())
}

/// Checks that an answer of a client is one to a question.
///
/// # Errors
/// The reason for which it is none.
pub fn check_answer(question: &Question, answer: &Given) -> Result<(), String> {
    answered(question, answer).map(drop)
}

/// Returns a client's answer in the contract's types.
pub(super) fn answered(question: &Question, answer: &Given) -> Result<Answer, String> {
    let wrong = |why: &str| format!("the answer to `{}` {why}", question.id);
    let answer = answer.to_value();
    let answer = &*answer.map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    match question.capability {
        Capability::ElicitationForm | Capability::ElicitationUrl => {
            let action = match answer.get("action").and_then(Value::as_str) {
                Some("accept") => Action::Accept,
                Some("decline") => Action::Decline,
                Some("cancel") => Action::Cancel,
                _ => return Err(wrong("has no `action` of `accept`, `decline` or `cancel`")),
            };
            let accepted = matches!(action, Action::Accept);
            let form = question.capability == Capability::ElicitationForm && accepted;
            let content = if form {
                let empty = Value::Object(Map::new());
                let content = answer.get("content").unwrap_or(&empty);
                check_form(question, content).map_err(|why| wrong(&why))?;
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

fn check_form(question: &Question, content: &Value) -> Result<(), String> {
    // What an upstream asks is as it wants it, in whatever words, and so is the
    // answer: the upstream knows best whether that fits.
    if question.text.is_some() {
        return Ok(());
    }
    if !content.is_object() {
        let content = shown(content);
        return Err(format!("has {content} as its `content`, and no object"));
    }
    let schema = question
        .params
        .get("requestedSchema")
        .unwrap_or(&Value::Null);
    check_matching(schema, |name, _| content.get(name))
        .map_err(|why| format!("does not fit: {why}"))?;
    fits(schema, content)
}

#[cfg(test)]
mod tests;
