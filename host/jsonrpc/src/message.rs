//! Messages in their parts.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{
    INVALID_REQUEST, MessageLimits, PARSE_ERROR, RequestId, StructureError, check_structure,
    is_json,
};

/// The members of a message, each as it is written. No more is known of them than that
/// each is there once, and that the message is JSON that is not nested too deeply.
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
        /// Its id.
        id: RequestId<'a>,
        /// Its method.
        method: Cow<'a, str>,
        /// The text of its parameters: an object.
        params: Option<&'a str>,
    },
    /// A message that nobody answers.
    Notification {
        /// Its method.
        method: Cow<'a, str>,
        /// The text of its parameters: an object.
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
    /// The id that it has, if there is one that could be an id and one only.
    pub id: Option<RequestId<'a>>,
    /// Whether it has a method: otherwise it is an answer.
    pub has_method: bool,
    /// Whether it has an id, whatever it is.
    pub has_id: bool,
    /// Reason, as a sentence.
    pub error: MessageError,
}

/// A reason why a text is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// It is JSON, and no object.
    #[error("it is no JSON object")]
    NoObject,
    /// It is an array of messages.
    #[error("batches are not part of this version: send one message at a time")]
    Batch,
    /// A member is there twice: readers differ in which of them counts.
    #[error("`{0}` is there twice")]
    Duplicate(String),
    /// It has more members than are allowed.
    #[error("it has more than {limit} members")]
    TooManyMembers {
        /// The members that are allowed.
        limit: usize,
    },
    /// It is nested too deeply, or has a member of a reserved name.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// Its id is too long.
    #[error("its `id` has {bytes} bytes where {limit} are allowed")]
    LongId {
        /// The length of the id.
        bytes: usize,
        /// The length that is allowed.
        limit: usize,
    },
    /// Its id is none.
    #[error("the `id` of a request is a string or an integer")]
    BadId,
    /// It is of another version.
    #[error("`jsonrpc` has to be \"2.0\"")]
    Version,
    /// Its method is none.
    #[error("`method` has to be a string")]
    Method,
    /// Its parameters are none.
    #[error("`params` have to be an object")]
    Params,
    /// It has neither a method nor a result nor an error, or both of the last.
    #[error("it has no `method`, and not one of `result` and `error`")]
    Empty,
}

impl MessageError {
    /// JSON-RPC's code for it.
    #[must_use]
    pub fn code(&self) -> i64 {
        match self {
            Self::NotJson(_) => PARSE_ERROR,
            _ => INVALID_REQUEST,
        }
    }
}

impl<'a> Envelope<'a> {
    /// The parts of the message that a text is.
    ///
    /// # Errors
    /// It is not JSON or no object, has a member twice, or is beyond a limit.
    pub fn read(text: &'a str, limits: &MessageLimits) -> Result<Self, Box<Unreadable<'a>>> {
        let mut problem = None;
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let seed = Parts {
            limits,
            problem: &mut problem,
        };
        let read = seed.deserialize(&mut deserializer);
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

    /// The message that it is, as JSON-RPC and MCP want it: of version 2.0, a request's
    /// id a string or an integer, parameters an object.
    ///
    /// # Errors
    /// It is none.
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

    /// The method, where it is a string.
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
    /// The message that a text is.
    ///
    /// # Errors
    /// It is none, or is beyond a limit.
    pub fn read(text: &'a str, limits: &MessageLimits) -> Result<Self, Box<Unreadable<'a>>> {
        Envelope::read(text, limits)?.message()
    }
}

/// Reads an envelope, and takes note of the first problem that still lets one know whose
/// message it is.
struct Parts<'l> {
    limits: &'l MessageLimits,
    problem: &'l mut Option<MessageError>,
}

impl<'de> DeserializeSeed<'de> for Parts<'_> {
    type Value = Envelope<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Parts<'_> {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        let mut others: HashSet<Cow<'de, str>> = HashSet::new();
        while let Some((Name(name), value)) = map.next_entry::<Name<'de>, &'de RawValue>()? {
            let value = value.get();
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

/// A member's name, not copied where it can be helped. One that is no Unicode stays as it
/// is written.
struct Name<'a>(Cow<'a, str>);

impl<'de> serde::Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written: &'de RawValue = serde::Deserialize::deserialize(deserializer)?;
        let written = written.get();
        let inner = written.trim_matches('"');
        if !inner.contains('\\') {
            return Ok(Self(Cow::Borrowed(inner)));
        }
        let meant = serde_json::from_str(written);
        Ok(Self(meant.map_or(Cow::Borrowed(inner), Cow::Owned)))
    }
}

#[cfg(test)]
mod tests;
