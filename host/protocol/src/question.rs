//! Questions to a client, as MCP asks them.

use std::fmt;
use std::time::Duration;

use dormouse_jsonrpc::{Object, member};
use dormouse_text::visible::is_hidden;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Capability;

/// Whoever asks a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionOrigin {
    /// Dormouse, for a decision of its user: only what is said to the question as it was shown is an
    /// answer, and nothing that was said before.
    Host,
    /// A server or its plugin.
    Server,
}

/// Question, as MCP asks it.
#[derive(Debug, Clone)]
pub struct Question {
    /// Name among the questions of a call.
    pub id: String,
    /// Whoever asks it.
    pub origin: QuestionOrigin,
    /// Capability that the client needs.
    pub capability: Capability,
    /// Parameters of the MCP request. Of one that was written elsewhere, those that a person or a
    /// model is shown, or that lead somewhere.
    pub params: Map<String, Value>,
    /// Text of all parameters, if they were written elsewhere: it goes out like that.
    pub text: Option<Box<RawValue>>,
}

/// Time that a call waits for the answer to another call's question before it asks the same itself:
/// the client of the other call may have given the question up, and may not be there any more.
pub const MAX_WAIT_FOR_OTHER: Duration = Duration::from_secs(20);

/// Longest question, in bytes of text. Nobody reads as much, and as values it is many times as
/// large.
pub const MAX_QUESTION_BYTES: usize = 1 << 20;

/// Bytes that a value counts for, besides its text.
pub const VALUE_BYTES: usize = 63;

/// Returns the bytes that a text of a question takes beside its own: what nobody would see is shown as
/// an escape.
#[must_use]
pub fn escape_bytes(text: &str) -> usize {
    /// Bytes of an escape, as it is written in JSON.
    const ESCAPE_BYTES: usize = r"\\u{10ffff}".len();
    let is_escaped = |c: &char| !matches!(c, '\n' | '\t') && is_hidden(*c);
    let escaped = text.chars().filter(is_escaped).count();
    escaped.saturating_mul(ESCAPE_BYTES)
}

/// Checks that a question is no longer than it may be.
///
/// # Errors
/// The question is too long; the error says how long it is, and may be.
pub fn check_size(bytes: usize) -> Result<(), AskError> {
    match bytes > MAX_QUESTION_BYTES {
        true => Err(AskError::Invalid(format!(
            "a question has {bytes} bytes, and {MAX_QUESTION_BYTES} are allowed\n\
             hint: ask for less at once; images and sounds of a sampling do not count"
        ))),
        false => Ok(()),
    }
}

/// Reason why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskError {
    /// The client cannot be asked such a question.
    Unsupported(String),
    /// The question makes no sense.
    Invalid(String),
    /// The client answered with an error, or with something else.
    Failed(String),
    /// The call that the question was asked in was over before there was an answer.
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
    /// Returns the MCP method of the question.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.capability.method()
    }

    /// Returns all capabilities that the client needs.
    pub fn needs(&self) -> impl Iterator<Item = Capability> + use<> {
        with_tools(self.capability, |name| match &self.text {
            Some(text) => member(text.get(), name).is_some(),
            None => self.params.contains_key(name),
        })
    }

    /// Returns all capabilities that the client needs for a question of a kind that has not been
    /// read, from the text of its parameters.
    pub fn needs_of(
        capability: Capability,
        params: &str,
    ) -> impl Iterator<Item = Capability> + use<> {
        with_tools(capability, |name| member(params, name).is_some())
    }

    /// Removes the wish for context, for a client that adds none to what it samples. A client may
    /// ignore the wish, so that leaving it out says the same.
    #[must_use]
    pub fn without_context(mut self) -> Self {
        const WANTS: &str = "includeContext";
        if self.capability == Capability::Sampling && self.params.shift_remove(WANTS).is_some() {
            self.edit_text(|object| {
                object.remove(WANTS);
            });
        }
        self
    }

    /// Edits the text that the question was written as, if it was. A text that cannot be read goes.
    pub(crate) fn edit_text(&mut self, edit: impl FnOnce(&mut Object<'_>)) {
        self.text = self.text.take().and_then(|text| {
            let mut object = Object::parse(text.get(), usize::MAX).ok()?;
            edit(&mut object);
            RawValue::from_string(object.into_text().into_owned()).ok()
        });
    }

    /// Returns the parameters as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        match &self.text {
            Some(text) => text.get().to_owned(),
            // Members with such names can always be written.
            None => serde_json::to_string(&self.params).unwrap_or_default(),
        }
    }
}

/// Returns a capability, and that to give a model tools where a question of its kind has some.
fn with_tools(
    capability: Capability,
    has: impl Fn(&str) -> bool,
) -> std::iter::Chain<std::array::IntoIter<Capability, 1>, std::option::IntoIter<Capability>> {
    let is_sampling = capability == Capability::Sampling;
    let tools = is_sampling && ["tools", "toolChoice"].into_iter().any(has);
    let tools = tools.then_some(Capability::SamplingTools);
    [capability].into_iter().chain(tools)
}
