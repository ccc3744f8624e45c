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

/// Returns the `name` in parameters, if every JSON reader finds the same one.
///
/// # Errors
/// It is missing or no text, or readers differ on it: of several members some take the first, some
/// ignore the letter case of names, and some leave out what is no Unicode.
pub(crate) fn name(params: &Object<'_>) -> Result<String, String> {
    let looks_like = |name: &str| {
        let letters = name.chars().filter(char::is_ascii_alphabetic);
        name.contains('\\') || letters.collect::<String>().eq_ignore_ascii_case("name")
    };
    let mut all = params.iter().filter(|member| looks_like(&member.name));
    let (one, another) = (all.next(), all.next());
    if let Some(odd) = [one, another]
        .into_iter()
        .flatten()
        .find(|one| one.name != "name")
    {
        let odd = odd.name.escape_debug();
        return Err(format!(
            "the parameters have a `{odd}`, which some read as their `name`"
        ));
    }
    if another.is_some() {
        return Err("the parameters have more than one `name`".to_owned());
    }
    let name = params.string("name");
    name.ok_or_else(|| "the `name` in the parameters is missing or no text".to_owned())
}

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
    fn a_name_is_the_same_to_every_reader() {
        let read = |text: &str| name(&Object::read(text).unwrap());
        for text in [
            r#"{"name":"send"}"#,
            r#"{"na\u006de":"se\u006ed","_meta":{"name":7},"arguments":{"name":"x"}}"#,
        ] {
            assert_eq!(read(text).unwrap(), "send", "{text}");
        }
        for (text, why) in [
            ("{}", "is missing or no text"),
            (r#"{"name":null}"#, "is missing or no text"),
            (r#"{"name":["send"]}"#, "is missing or no text"),
            (r#"{"name":"send\ud800"}"#, "is missing or no text"),
            (r#"{"name":"send","name":"x"}"#, "more than one `name`"),
            (r#"{"name":"x","na\u006de":"send"}"#, "more than one `name`"),
            (r#"{"name":"x","Name":"send"}"#, "have a `Name`"),
            (r#"{"NAME":"send"}"#, "have a `NAME`"),
            (r#"{"name\u0000":"send","name":"x"}"#, r"have a `name\0`"),
            (
                r#"{"name":"x","na\udc00me":"send"}"#,
                r"have a `na\\udc00me`",
            ),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }

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
