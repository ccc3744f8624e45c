//! Messages in their parts.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserializer as _, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::text::unquoted;
use crate::{
    INVALID_REQUEST, MessageLimits, PARSE_ERROR, RequestId, StructureError, check_structure,
    is_json,
};

/// Members of a message, each as it is written. Checked are only that each is there once, and that
/// the message is JSON that is not nested too deeply.
#[derive(Debug, Default)]
pub struct Envelope<'a> {
    /// `jsonrpc`.
    pub version: Option<&'a str>,
    /// `id`, also where it is `null`.
    pub id: Option<RequestId<'a>>,
    /// `method`.
    pub method: Option<&'a str>,
    /// `params`.
    pub params: Option<&'a str>,
    /// `result`.
    pub result: Option<&'a str>,
    /// `error`.
    pub error: Option<&'a str>,
}

/// A message of JSON-RPC 2.0.
#[derive(Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// A call that is to be answered.
    Request {
        /// Id of the request.
        id: RequestId<'a>,
        /// Method of the request.
        method: Cow<'a, str>,
        /// Text of the parameters: an object.
        params: Option<&'a str>,
    },
    /// A message that nobody answers.
    Notification {
        /// Method of the notification.
        method: Cow<'a, str>,
        /// Text of the parameters: an object.
        params: Option<&'a str>,
    },
    /// An answer.
    Response {
        /// The id of the request; none where the other side could not read it.
        id: Option<RequestId<'a>>,
        /// The text of the result, or of the error.
        outcome: Result<&'a str, &'a str>,
    },
}

/// A text that is no message, with what is known of it.
#[derive(Debug)]
pub struct Unreadable<'a> {
    /// Id of the message, if it has exactly one, and that is valid.
    pub id: Option<RequestId<'a>>,
    /// Whether the message has a method: one without is an answer.
    pub has_method: bool,
    /// Whether the message has an id, even an invalid one.
    pub has_id: bool,
    /// Reason, as a sentence.
    pub error: MessageError,
}

/// A reason why a text is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// Text that is not JSON.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// JSON that is no object.
    #[error("it is no JSON object")]
    NoObject,
    /// Array of messages.
    #[error("batches are not part of this version: send one message at a time")]
    Batch,
    /// Member that is there twice: readers differ in which of the two counts.
    #[error("`{0}` is there twice")]
    Duplicate(String),
    /// More members than are allowed.
    #[error("it has more than {limit} members")]
    TooManyMembers {
        /// Number of members that are allowed.
        limit: usize,
    },
    /// Nesting that is too deep, or a member of a reserved name.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// Id that is too long.
    #[error("its `id` has {bytes} bytes where {limit} are allowed")]
    LongId {
        /// Length of the id, in bytes.
        bytes: usize,
        /// Length that is allowed, in bytes.
        limit: usize,
    },
    /// Id that is neither a string nor an integer.
    #[error("the `id` of a request is a string or an integer")]
    BadId,
    /// Version other than 2.0.
    #[error("`jsonrpc` has to be \"2.0\"")]
    Version,
    /// Method that is no string.
    #[error("`method` has to be a string")]
    Method,
    /// Parameters that are no object.
    #[error("`params` have to be an object")]
    Params,
    /// Neither a method nor a result nor an error, or both of the last.
    #[error("it has no `method`, and not one of `result` and `error`")]
    Empty,
}

impl MessageError {
    /// Returns the JSON-RPC code of the error.
    #[must_use]
    pub fn code(&self) -> i64 {
        match self {
            Self::NotJson(_) => PARSE_ERROR,
            _ => INVALID_REQUEST,
        }
    }
}

impl<'a> Envelope<'a> {
    /// Reads the parts of a message from its text.
    ///
    /// # Errors
    /// The text is not JSON or no object, has a member twice, or is beyond a limit.
    pub fn read(text: &'a str, limits: &MessageLimits) -> Result<Self, Box<Unreadable<'a>>> {
        let mut problem = None;
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let read = deserializer.deserialize_map(EnvelopeReader {
            limits,
            problem: &mut problem,
        });
        let read = read.and_then(|envelope| deserializer.end().map(|()| envelope));
        let envelope = match read {
            Ok(envelope) => envelope,
            Err(error) => {
                let nothing = Self::default();
                let error = match problem {
                    Some(problem) => problem,
                    None if !is_json(text) => MessageError::NotJson(error.to_string()),
                    None if text.trim_start().starts_with('[') => MessageError::Batch,
                    None => MessageError::NoObject,
                };
                return Err(nothing.unreadable(error));
            }
        };
        if let Some(problem) = problem {
            let is_id = problem == MessageError::Duplicate("id".to_owned());
            let mut unreadable = envelope.unreadable(problem);
            // Nobody knows which of two ids is meant, nor reads a long one.
            let long = |id: &RequestId<'_>| id.as_str().len() > limits.id_bytes;
            if is_id || unreadable.id.as_ref().is_some_and(long) {
                unreadable.id = None;
            }
            return Err(unreadable);
        }
        let bytes = envelope.id.as_ref().map_or(0, |id| id.as_str().len());
        if bytes > limits.id_bytes {
            let limit = limits.id_bytes;
            let mut unreadable = envelope.unreadable(MessageError::LongId { bytes, limit });
            unreadable.id = None;
            return Err(unreadable);
        }
        match check_structure(text, limits.depth) {
            Ok(()) => Ok(envelope),
            Err(error) => Err(envelope.unreadable(error.into())),
        }
    }

    /// Checks that the message is as JSON-RPC and MCP want it: of version 2.0, a request's id a
    /// string or an integer, parameters an object.
    ///
    /// # Errors
    /// The message is something else.
    pub fn message(self) -> Result<Message<'a>, Box<Unreadable<'a>>> {
        if self.method.is_some()
            && self
                .id
                .as_ref()
                .is_some_and(|id| !id.is_string_or_integer())
        {
            return Err(self.unreadable(MessageError::BadId));
        }
        if self.version != Some("\"2.0\"") {
            return Err(self.unreadable(MessageError::Version));
        }
        if self.method.is_none() {
            let outcome = match (self.result, self.error) {
                (Some(result), None) => Ok(result),
                (None, Some(error)) => Err(error),
                _ => return Err(self.unreadable(MessageError::Empty)),
            };
            let id = self.id.filter(RequestId::is_string_or_integer);
            return Ok(Message::Response { id, outcome });
        }
        let Some(method) = self.method_name() else {
            return Err(self.unreadable(MessageError::Method));
        };
        let params = self.params.filter(|params| *params != "null");
        if params.is_some_and(|params| !params.starts_with('{')) {
            return Err(self.unreadable(MessageError::Params));
        }
        Ok(match self.id {
            Some(id) => Message::Request { id, method, params },
            None => Message::Notification { method, params },
        })
    }

    /// Returns the method, where it is a string.
    #[must_use]
    pub fn method_name(&self) -> Option<Cow<'a, str>> {
        let written = self.method?;
        let inner = written.strip_prefix('"')?.strip_suffix('"')?;
        if !inner.contains('\\') {
            return Some(Cow::Borrowed(inner));
        }
        serde_json::from_str(written).ok().map(Cow::Owned)
    }

    fn unreadable(self, error: MessageError) -> Box<Unreadable<'a>> {
        Box::new(Unreadable {
            has_method: self.method.is_some(),
            has_id: self.id.is_some(),
            id: self.id.filter(RequestId::is_string_or_integer),
            error,
        })
    }
}

impl<'a> Message<'a> {
    /// Reads a message from its text.
    ///
    /// # Errors
    /// The text is no message, or is beyond a limit.
    pub fn read(text: &'a str, limits: &MessageLimits) -> Result<Self, Box<Unreadable<'a>>> {
        Envelope::read(text, limits)?.message()
    }
}

/// Reads an envelope, and notes the first member that is there twice, or that there are too many.
struct EnvelopeReader<'l> {
    limits: &'l MessageLimits,
    problem: &'l mut Option<MessageError>,
}

impl<'de> Visitor<'de> for EnvelopeReader<'_> {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        let mut others: HashSet<Cow<'de, str>> = HashSet::new();
        while let Some((name, value)) = map.next_entry::<&'de RawValue, &'de RawValue>()? {
            let (name, value) = (unquoted(name.get()), value.get());
            let is_first = match &*name {
                "jsonrpc" => envelope.version.replace(value).is_none(),
                "id" => envelope.id.replace(RequestId::new(value)).is_none(),
                "method" => envelope.method.replace(value).is_none(),
                "params" => envelope.params.replace(value).is_none(),
                "result" => envelope.result.replace(value).is_none(),
                "error" => envelope.error.replace(value).is_none(),
                _ if others.len() >= self.limits.members => {
                    let limit = self.limits.members;
                    *self.problem = Some(MessageError::TooManyMembers { limit });
                    return Err(A::Error::custom("too many members"));
                }
                _ => others.insert(name.clone()),
            };
            if !is_first && self.problem.is_none() {
                let shown: String = name.chars().take(60).collect();
                *self.problem = Some(MessageError::Duplicate(shown));
            }
        }
        Ok(envelope)
    }
}

#[cfg(test)]
mod tests;
