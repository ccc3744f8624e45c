//! Asking the agent's user, its model and its client, in the middle of a call.
//!
//! A question suspends the call until the answer is there; that time does not
//! count against the call's deadline. In each function, `id` names the question
//! among those of the same call.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use crate::bindings::dormouse::plugin::client::{
    Action, Answer, AskError, Capabilities, Elicited, Form, ModelPreferences, Page, Question,
    Request, Root, Sampled, Sampling, SamplingMessage, ask, supported,
};
use crate::types::{Content, Role};

/// What the user did with a form.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply<T> {
    /// Filled it in.
    Accept(T),
    /// Said no.
    Decline,
    /// Closed it without an answer.
    Cancel,
}

/// Asks the user to fill in a form. The `schema` is a JSON Schema of one flat
/// object (MCP elicitation), and `T` what such an object becomes.
///
/// # Errors
/// The client cannot show forms, or answers with something else than the schema
/// says.
pub fn elicit<T: DeserializeOwned>(
    id: &str,
    message: &str,
    schema: &Value,
) -> Result<Reply<T>, AskError> {
    match one(form(id, message, schema))? {
        Answer::Elicited(Elicited { action, content }) => reply(action, content.as_deref()),
        _ => Err(other_answer()),
    }
}

/// Asks the user to open a page, for what neither the agent nor its model may
/// see, and tells what they did with that.
///
/// # Errors
/// The client cannot show pages.
pub fn open(id: &str, message: &str, url: &str) -> Result<Action, AskError> {
    match one(page(id, message, url))? {
        Answer::Elicited(elicited) => Ok(elicited.action),
        _ => Err(other_answer()),
    }
}

/// Has the agent's model answer a prompt, with at most `max_tokens` tokens.
///
/// # Errors
/// The client has no model to ask, or its user does not want that.
pub fn sample(id: &str, prompt: &str, max_tokens: u32) -> Result<Sampled, AskError> {
    match one(prompted(id, prompt, max_tokens))? {
        Answer::Sampled(sampled) => Ok(sampled),
        _ => Err(other_answer()),
    }
}

/// The folders that the agent works in.
///
/// # Errors
/// The client does not tell.
pub fn roots() -> Result<Vec<Root>, AskError> {
    match one(list_roots("roots"))? {
        Answer::Roots(roots) => Ok(roots),
        _ => Err(other_answer()),
    }
}

/// The question of [`elicit`], to be asked together with others by [`ask`].
#[must_use]
pub fn form(id: &str, message: &str, schema: &Value) -> Request {
    request(
        id,
        Question::Form(Form {
            message: message.to_owned(),
            schema: schema.to_string(),
        }),
    )
}

/// The question of [`open`], to be asked together with others by [`ask`].
#[must_use]
pub fn page(id: &str, message: &str, url: &str) -> Request {
    request(
        id,
        Question::Page(Page {
            message: message.to_owned(),
            url: url.to_owned(),
            elicitation_id: id.to_owned(),
        }),
    )
}

/// The question of [`sample`], to be asked together with others by [`ask`].
#[must_use]
pub fn prompted(id: &str, prompt: &str, max_tokens: u32) -> Request {
    request(
        id,
        Question::Sample(Sampling {
            messages: vec![SamplingMessage {
                role: Role::User,
                content: vec![Content::text(prompt)],
            }],
            system_prompt: None,
            max_tokens,
            temperature: None,
            stop_sequences: Vec::new(),
            model_preferences: None,
        }),
    )
}

/// The question of [`roots`], to be asked together with others by [`ask`].
#[must_use]
pub fn list_roots(id: &str) -> Request {
    request(id, Question::Roots)
}

impl Sampled {
    /// All text of the answer.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

fn request(id: &str, question: Question) -> Request {
    Request {
        id: id.to_owned(),
        question,
    }
}

fn one(request: Request) -> Result<Answer, AskError> {
    ask(&[request])?.pop().ok_or_else(other_answer)
}

fn other_answer() -> AskError {
    AskError::Failed("the answer is not one to this question".into())
}

fn reply<T: DeserializeOwned>(action: Action, content: Option<&str>) -> Result<Reply<T>, AskError> {
    Ok(match action {
        Action::Accept => {
            let content = content.unwrap_or("{}");
            let parsed = serde_json::from_str(content);
            Reply::Accept(parsed.map_err(|error| {
                AskError::Failed(format!("the user's answer is `{content}`: {error}"))
            })?)
        }
        Action::Decline => Reply::Decline,
        Action::Cancel => Reply::Cancel,
    })
}

/// So that `?` does in a tool whose error is a `String`.
impl From<AskError> for String {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Unsupported(why) | AskError::Invalid(why) | AskError::Failed(why) => why,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_what_its_user_did() {
        #[derive(Debug, PartialEq, serde::Deserialize)]
        struct Name {
            name: String,
        }
        let ada = reply::<Name>(Action::Accept, Some(r#"{"name":"Ada"}"#)).unwrap();
        assert_eq!(ada, Reply::Accept(Name { name: "Ada".into() }));
        let declined = reply::<Name>(Action::Decline, None).unwrap();
        assert_eq!(declined, Reply::Decline);
        let AskError::Failed(why) = reply::<Name>(Action::Accept, Some("{}")).unwrap_err() else {
            panic!("no failure");
        };
        assert!(
            why.starts_with("the user's answer is `{}`: missing field"),
            "{why}"
        );
    }
}
