//! Errors that an upstream answers with, and parameters that are sent to it.

use dormouse_jsonrpc::{INTERNAL_ERROR, Object};
use dormouse_protocol::attribution::PAGES_REQUIRED;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::server_secrets::ServerSecrets;

/// A JSON-RPC error that an upstream answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Its code.
    pub code: i64,
    /// Its message.
    pub message: String,
    /// Its data: JSON text, as it came.
    pub data: Option<String>,
}

impl Refusal {
    /// Reads a JSON-RPC error. Where it has no message, its whole text is the message.
    pub(crate) fn read(error: &str) -> Self {
        #[derive(Deserialize)]
        struct Parts<'a> {
            #[serde(borrow, default)]
            code: Option<&'a RawValue>,
            #[serde(borrow, default)]
            message: Option<&'a RawValue>,
            #[serde(borrow, default)]
            data: Option<&'a RawValue>,
        }
        fn read<T: DeserializeOwned>(value: Option<&RawValue>) -> Option<T> {
            serde_json::from_str(value?.get()).ok()
        }
        let text = || error.to_owned();
        match serde_json::from_str::<Parts<'_>>(error) {
            Ok(parts) => Self {
                code: read(parts.code).unwrap_or(INTERNAL_ERROR),
                message: read(parts.message).unwrap_or_else(text),
                data: parts.data.map(|data| data.get().to_owned()),
            },
            Err(_) => Self {
                code: INTERNAL_ERROR,
                message: text(),
                data: None,
            },
        }
    }
}

impl Refusal {
    /// Returns the same error without secrets, should the upstream have repeated one of them. In
    /// URLs of pages that a user is to open, only those of logins are hidden: else the URLs would
    /// lead elsewhere.
    pub(super) fn without(mut self, secrets: &ServerSecrets) -> Self {
        self.message = secrets.redact(&self.message);
        self.data = self.data.map(|data| match self.code {
            PAGES_REQUIRED => secrets.redact_learnt_json(&data).into_owned(),
            _ => secrets.texts().redact_json(&data),
        });
        self
    }
}

/// MCP's error code for a request whose headers contradict its body.
pub(crate) const HEADER_MISMATCH: i64 = -32020;

/// Returns the text of an object with these members.
pub(crate) fn params<'n>(members: impl IntoIterator<Item = (&'n str, Value)>) -> String {
    let mut object = Object::new();
    for (name, value) in members {
        object.set(name, value.to_string());
    }
    object.into_text().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_kept_and_what_is_none_is_told_as_it_is() {
        let read = Refusal::read;
        let refusal = read(r#"{"code": -32002, "message": "no", "data": {"x": 1.10}}"#);
        assert_eq!((refusal.code, refusal.message.as_str()), (-32002, "no"));
        assert_eq!(refusal.data.as_deref(), Some(r#"{"x": 1.10}"#));
        assert_eq!(read(r#""oops""#).message, r#""oops""#);
        assert_eq!(read(r#"{"code": "E"}"#).message, r#"{"code": "E"}"#);
    }
}
