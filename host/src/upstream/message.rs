//! JSON-RPC as it is written and read, with everything in it left as it is.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::runtime::Answer;

/// A message of an upstream, in the parts that it may have.
#[derive(Debug, Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) method: Option<String>,
    #[serde(borrow, default)]
    pub(super) params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

impl Message<'_> {
    /// The id of the request of ours that this answers. Some servers make a string
    /// of every id.
    pub(super) fn answers(&self) -> Option<u64> {
        self.id?.get().trim_matches('"').parse().ok()
    }
}

/// A message without halves of characters. Whoever cuts a text between two units of
/// UTF-16 writes one half as `\ud83d`, which is JSON, but no text that anybody else
/// could have; the replacement character stands for it then.
pub(super) fn mended(text: &RawValue) -> Option<Box<RawValue>> {
    let text = text.get();
    let bytes = text.as_bytes();
    let unit = |at: usize| {
        let escape = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(escape, 16).ok()
    };
    let high = |unit: Option<u16>| matches!(unit, Some(0xd800..=0xdbff));
    let low = |unit: Option<u16>| matches!(unit, Some(0xdc00..=0xdfff));
    let mut mended = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(next) = bytes
        .get(at..)
        .and_then(|rest| rest.iter().position(|b| *b == b'\\'))
    {
        at += next;
        let here = unit(at);
        at += match here {
            _ if high(here) && low(unit(at + 6)) => 12,
            _ if high(here) || low(here) => {
                mended.push_str(text.get(kept..at)?);
                mended.push_str("\\ufffd");
                kept = at + 6;
                6
            }
            // What is escaped may be a backslash itself.
            _ => 2,
        };
    }
    if kept == 0 {
        return None;
    }
    mended.push_str(text.get(kept..)?);
    RawValue::from_string(mended).ok()
}

/// A JSON-RPC error that an upstream answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Its code.
    pub code: i64,
    /// Its message.
    pub message: String,
    /// What else it says: JSON text, as it came.
    pub data: Option<String>,
}

impl Refusal {
    /// What does not look like an error is told as it is.
    pub(super) fn read(error: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct Parts<'a> {
            #[serde(default)]
            code: Value,
            #[serde(default)]
            message: Value,
            #[serde(borrow, default)]
            data: Option<&'a RawValue>,
        }
        let text = || error.get().to_owned();
        match serde_json::from_str::<Parts<'_>>(error.get()) {
            Ok(parts) => Self {
                code: parts.code.as_i64().unwrap_or(INTERNAL),
                message: parts.message.as_str().map_or_else(text, str::to_owned),
                data: parts.data.map(|data| data.get().to_owned()),
            },
            Err(_) => Self {
                code: INTERNAL,
                message: text(),
                data: None,
            },
        }
    }
}

/// JSON-RPC's codes for what was asked in vain.
pub(super) const NO_METHOD: i64 = -32601;
pub(super) const INVALID: i64 = -32602;
pub(super) const INTERNAL: i64 = -32603;

/// MCP's code for a request whose headers do not say what it says itself.
pub(super) const HEADER_MISMATCH: i64 = -32020;

/// The members of a JSON object, in order, each as it was written.
#[derive(Debug, Clone, Default)]
pub(super) struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    pub(super) fn parse(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    pub(super) fn get(&self, name: &str) -> Option<&RawValue> {
        let mut members = self.0.iter();
        members
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_ref())
    }

    /// A member that is a string.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// Puts a member in, or another in its place.
    pub(super) fn set(&mut self, name: &str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// The members, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        let members = self.0.iter();
        members.map(|(name, value)| (name.as_str(), value.as_ref()))
    }

    /// The same for what is a value here.
    pub(super) fn set_value(&mut self, name: &str, value: &Value) {
        // A value can always be written.
        if let Ok(value) = serde_json::value::to_raw_value(value) {
            self.set(name, value);
        }
    }

    /// Has an object among the members know also what it does not say itself.
    pub(super) fn underlay(&mut self, name: &str, by: Map<String, Value>) {
        if by.is_empty() {
            return;
        }
        let own = self.get(name).map(RawValue::get);
        let own = own.and_then(|own| Self::parse(own).ok());
        let mut inner = Self::default();
        for (name, value) in &by {
            inner.set_value(name, value);
        }
        for (name, value) in own.unwrap_or_default().0 {
            inner.set(&name, value);
        }
        if let Ok(inner) = serde_json::value::to_raw_value(&inner) {
            self.set(name, inner);
        }
    }

    /// Has an object among the members that is extended rather than replaced.
    pub(super) fn extend(&mut self, name: &str, by: Vec<(&str, Value)>) {
        let old = self.get(name).map(RawValue::get);
        let mut inner = old
            .and_then(|old| Self::parse(old).ok())
            .unwrap_or_default();
        for (name, value) in by {
            inner.set_value(name, &value);
        }
        if let Ok(inner) = serde_json::value::to_raw_value(&inner) {
            self.set(name, inner);
        }
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Members::default();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    // Of two members of one name the later counts, as everywhere.
                    members.set(&name, value);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// A request, a notification or a response, on one line.
#[derive(Serialize)]
struct Written<'a, P: Serialize> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Value>,
}

impl<P: Serialize> Written<'_, P> {
    /// A raw line break can only be white space between tokens: those in strings
    /// are escaped. A message has to be on one line.
    fn line(&self) -> String {
        // There is nothing in it that cannot be written.
        let text = serde_json::to_string(self).unwrap_or_default();
        if text.contains(['\n', '\r']) {
            return text.replace(['\n', '\r'], " ");
        }
        text
    }
}

/// The text of a request, or without an id of a notification.
pub(super) fn request(id: Option<u64>, method: &str, params: &Members) -> String {
    let id = id.and_then(|id| serde_json::value::to_raw_value(&id).ok());
    Written {
        jsonrpc: "2.0",
        id: id.as_deref(),
        method: Some(method),
        params: Some(params),
        result: None,
        error: None,
    }
    .line()
}

/// The text of a response.
pub(super) fn response(id: &RawValue, outcome: Result<Answer, (i64, String)>) -> String {
    let (result, error) = match outcome {
        // What is text was read as JSON before.
        Ok(answer) => (RawValue::from_string(answer.into_text()).ok(), None),
        Err((code, message)) => {
            let error = serde_json::json!({ "code": code, "message": message });
            (None, Some(error))
        }
    };
    Written::<Members> {
        jsonrpc: "2.0",
        id: Some(id),
        method: None,
        params: None,
        result: result.as_deref(),
        error: error.as_ref(),
    }
    .line()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_order_and_unknown_members_stay_as_they_are_written() {
        let mut params = Members::parse(
            "{\"z\": 1.10,\n \"_meta\": {\"own\": 1e400}, \"a\": 123456789012345678901234567890}",
        )
        .unwrap();
        params.extend("_meta", vec![("progressToken", json!(7))]);
        assert_eq!(
            request(Some(7), "tools/call", &params),
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"z":1.10,"_meta":{"own":1e400,"progressToken":7},"a":123456789012345678901234567890}}"#
        );
    }

    #[test]
    fn a_message_is_on_one_line_whatever_is_in_it() {
        let params = Members::parse("{\"a\": [1,\r\n2], \"b\": \"x\\ny\"}").unwrap();
        let text = request(None, "notifications/x", &params);
        assert!(!text.contains(['\n', '\r']), "{text}");
        assert!(text.contains(r#""b":"x\ny""#), "{text}");
    }

    #[test]
    fn halves_of_characters_are_replaced_and_nothing_else() {
        let table = [
            (r#""\ud83d!""#, Some(r#""\ufffd!""#)),
            (r#""a\uDE00\ud83d\ude00""#, Some(r#""a\ufffd\ud83d\ude00""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#"["\\ud83d", "\ud83d"]"#, Some(r#"["\\ud83d", "\ufffd"]"#)),
            (r#""\ud83d\ude00 \\ud83d \u00e9 é \"""#, None),
        ];
        for (text, expected) in table {
            let raw = RawValue::from_string(text.to_owned()).unwrap();
            let mended = mended(&raw);
            assert_eq!(mended.as_deref().map(RawValue::get), expected, "{text}");
        }
    }

    #[test]
    fn an_error_is_kept_and_what_is_none_is_told_as_it_is() {
        let read = |text: &str| Refusal::read(&RawValue::from_string(text.to_owned()).unwrap());
        let refusal = read(r#"{"code": -32002, "message": "no", "data": {"x": 1.10}}"#);
        assert_eq!((refusal.code, refusal.message.as_str()), (-32002, "no"));
        assert_eq!(refusal.data.as_deref(), Some(r#"{"x": 1.10}"#));
        assert_eq!(read(r#""oops""#).message, r#""oops""#);
        assert_eq!(read(r#"{"code": "E"}"#).message, r#"{"code": "E"}"#);
    }

    #[test]
    fn an_id_that_comes_back_as_a_string_is_still_ours() {
        for (text, id) in [
            (r#"{"id": 3, "result": {}}"#, Some(3)),
            (r#"{"id": "3", "result": {}}"#, Some(3)),
            (r#"{"id": "x", "result": {}}"#, None),
            (r#"{"id": null, "error": {}}"#, None),
        ] {
            let message: Message<'_> = serde_json::from_str(text).unwrap();
            assert_eq!(message.answers(), id, "{text}");
        }
    }
}
