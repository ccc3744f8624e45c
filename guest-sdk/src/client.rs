//! Questions to the agent's user, its model and its client, in the middle of a call.
//!
//! A question suspends the call until the answer is there; that time does not
//! count against the call's deadline. In each function, `id` names the question
//! among those of the same call.

use std::fmt;

mod fields;
mod sampling;

pub use crate::bindings::dormouse::plugin::client::{
    Action, Answer, AskError, Capabilities, Elicited, Form, ModelPreferences, Page, Question,
    Request, Root, Sampled, Sampling, SamplingMessage, ask, supported,
};
pub use fields::{Field, Fields, Filled};

/// Reaction of the user to a form.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply<T> {
    /// The user has filled it in.
    Accept(T),
    /// The user has declined.
    Decline,
    /// The user has closed it without an answer.
    Cancel,
}

/// Asks the user to fill in a form: a [`Field`], which becomes the value that the user gives it, or
/// a tuple of fields, which becomes a tuple. A JSON Schema of one flat object (MCP elicitation), as
/// a `serde_json::Value`, does as well; the answer is then JSON.
///
/// # Errors
/// The client cannot show forms, or answers with something else than the form asks
/// for.
pub fn elicit<F: Fields>(id: &str, message: &str, fields: F) -> Result<Reply<F::Answer>, AskError> {
    match one(form(id, message, &fields))? {
        Answer::Elicited(elicited) => elicited.reply(&fields),
        _ => Err(other_answer()),
    }
}

/// Asks the user to open a page, for data that neither the agent nor its model may see, and returns
/// what they did with that.
///
/// # Errors
/// The client cannot show pages.
pub fn open(id: &str, message: &str, url: &str) -> Result<Action, AskError> {
    match one(page(id, message, url))? {
        Answer::Elicited(elicited) => Ok(elicited.action),
        _ => Err(other_answer()),
    }
}

/// Asks the agent's model to answer a prompt.
///
/// # Errors
/// The client has no model to ask, or its user does not want that.
pub fn sample(id: &str, sampling: Sampling) -> Result<Sampled, AskError> {
    match one(prompted(id, sampling))? {
        Answer::Sampled(sampled) => Ok(sampled),
        _ => Err(other_answer()),
    }
}

/// Returns the folders that the agent works in.
///
/// # Errors
/// The client does not tell.
pub fn roots() -> Result<Vec<Root>, AskError> {
    match one(list_roots("roots"))? {
        Answer::Roots(roots) => Ok(roots),
        _ => Err(other_answer()),
    }
}

/// Makes the question of [`elicit`], to be asked together with others by [`ask`].
/// [`Elicited::reply`] reads the answer.
#[must_use]
pub fn form(id: &str, message: &str, fields: &impl Fields) -> Request {
    request(
        id,
        Question::Form(Form {
            message: message.to_owned(),
            schema: fields.schema().to_string(),
        }),
    )
}

/// Makes the question of [`open`], to be asked together with others by [`ask`].
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

/// Makes the question of [`sample`], to be asked together with others by [`ask`].
#[must_use]
pub fn prompted(id: &str, sampling: Sampling) -> Request {
    request(id, Question::Sample(sampling))
}

/// Makes the question of [`roots`], to be asked together with others by [`ask`].
#[must_use]
pub fn list_roots(id: &str) -> Request {
    request(id, Question::Roots)
}

impl Elicited {
    /// Returns the user's reaction to the form of these fields.
    ///
    /// # Errors
    /// The user's values do not fit the fields.
    pub fn reply<F: Fields>(&self, fields: &F) -> Result<Reply<F::Answer>, AskError> {
        Ok(match self.action {
            Action::Accept => {
                let content = self.content.as_deref().unwrap_or("{}");
                let wrong = |why: String| {
                    AskError::Failed(format!("the user's answer is `{content}`: {why}"))
                };
                let answer = serde_json::from_str(content);
                let answer = answer.map_err(|error| wrong(error.to_string()))?;
                Reply::Accept(fields.read(&answer).map_err(wrong)?)
            }
            Action::Decline => Reply::Decline,
            Action::Cancel => Reply::Cancel,
        })
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

/// Lets `?` convert the error in a tool whose error is a `String`.
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
        let name = Field::text("name");
        let did = |action, content: Option<&str>| {
            let content = content.map(str::to_owned);
            Elicited { action, content }.reply(&name)
        };
        let ada = did(Action::Accept, Some(r#"{"name":"Ada"}"#));
        assert_eq!(ada, Ok(Reply::Accept("Ada".into())));
        assert_eq!(did(Action::Decline, None), Ok(Reply::Decline));
        assert_eq!(did(Action::Cancel, None), Ok(Reply::Cancel));
        let why = "the user's answer is `{}`: `name` is missing or not of its type";
        assert_eq!(
            did(Action::Accept, Some("{}")),
            Err(AskError::Failed(why.into()))
        );
    }
}
