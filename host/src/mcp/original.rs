//! A request as its client has written it.

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::json;

/// The text of a request's message. rmcp hands on values, which have no room for all
/// that JSON can say; what goes to an upstream is taken from here.
#[derive(Clone, Default)]
pub(super) struct Original(Bytes);

impl Original {
    /// Whether there may be something in a request that goes to an upstream.
    pub(super) fn is_kept_of(method: &str) -> bool {
        matches!(method, "tools/call" | "prompts/get" | "resources/read")
    }

    pub(super) fn new(message: impl Into<Bytes>) -> Self {
        Self(message.into())
    }

    /// The text of a parameter that is an object.
    pub(super) fn object(&self, name: &str) -> Option<Box<RawValue>> {
        let text = std::str::from_utf8(&self.0).ok()?;
        // Some clients put a byte order mark before it.
        let text = text.trim_start_matches('\u{feff}');
        let value = json::member(json::member(text, "params")?, name)?;
        let object = value.starts_with('{').then(|| value.to_owned())?;
        RawValue::from_string(object).ok()
    }
}
