//! A request as its client has written it.

use bytes::Bytes;
use dormouse_jsonrpc::member;
use serde_json::Value;
use serde_json::value::RawValue;

/// The text of a request's message. rmcp hands on values, which have no room for all
/// that JSON can say; what goes to an upstream is taken from here.
#[derive(Clone, Default)]
pub(super) struct Original(Bytes);

impl Original {
    /// Whether there may be something in a request that goes to an upstream, or that
    /// rmcp drops where it makes no sense.
    pub(super) fn is_kept_of(method: &str) -> bool {
        matches!(method, "tools/call" | "prompts/get" | "resources/read") || is_list(method)
    }

    pub(super) fn new(message: impl Into<Bytes>) -> Self {
        Self(message.into())
    }

    /// The parameters, if there are any.
    pub(super) fn params(&self) -> Option<Value> {
        serde_json::from_str(member(self.text()?, "params")?).ok()
    }

    /// The text of a parameter that is an object.
    pub(super) fn object(&self, name: &str) -> Option<Box<RawValue>> {
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

fn is_list(method: &str) -> bool {
    matches!(
        method,
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list"
    )
}
