//! Requests as their clients have written them.

use bytes::Bytes;
use dormouse_jsonrpc::member;
use serde_json::value::RawValue;

/// Text of a request's message. Values cannot hold all that JSON can say; the parts that go to an
/// upstream are taken from here.
#[derive(Clone, Default)]
pub(in crate::mcp) struct Original(Bytes);

impl Original {
    /// Checks whether a request's text is kept: parts of it may go to an upstream.
    pub(in crate::mcp) fn is_kept_of(method: &str) -> bool {
        matches!(method, "tools/call" | "prompts/get" | "resources/read")
    }

    pub(in crate::mcp) fn new(message: impl Into<Bytes>) -> Self {
        Self(message.into())
    }

    /// Returns the text of a parameter that is an object.
    pub(in crate::mcp) fn object(&self, name: &str) -> Option<Box<RawValue>> {
        let value = member(member(self.text()?, "params")?, name)?;
        let object = value.starts_with('{').then(|| value.to_owned())?;
        RawValue::from_string(object).ok()
    }

    fn text(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.0).ok()?;
        // Some clients put a byte order mark before it.
        Some(text.trim_start_matches('\u{feff}'))
    }
}
