//! JSON text.

use std::borrow::Cow;

use memchr::{memchr, memchr2};
use serde::de::IgnoredAny;

/// Whether a text is JSON.
#[must_use]
pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Writes a text as a JSON string.
#[must_use]
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Removes the quotes and escapes of a name; one that is no Unicode keeps its escapes.
pub(crate) fn unquoted(text: &str) -> Cow<'_, str> {
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text);
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    serde_json::from_str(text).map_or(Cow::Borrowed(inner), Cow::Owned)
}

/// Removes line breaks from a JSON text, which has them between its tokens only: inside of strings
/// they are escaped.
#[must_use]
pub fn on_one_line(text: &str) -> Cow<'_, str> {
    if memchr2(b'\n', b'\r', text.as_bytes()).is_some() {
        return Cow::Owned(text.replace(['\n', '\r'], " "));
    }
    Cow::Borrowed(text)
}

/// Replaces halves of characters in a JSON text; none where it has no such half. A program that
/// cuts a text between two units of UTF-16 writes one half as `\ud83d`, which is JSON, but no
/// Unicode; the replacement character takes its place.
#[must_use]
pub fn without_half_characters(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let unit = |at: usize| {
        let escape = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(escape, 16).ok()
    };
    let high = |unit: Option<u16>| matches!(unit, Some(0xd800..=0xdbff));
    let low = |unit: Option<u16>| matches!(unit, Some(0xdc00..=0xdfff));
    let mut whole = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(next) = bytes.get(at..).and_then(|rest| memchr(b'\\', rest)) {
        at += next;
        let here = unit(at);
        at += match here {
            _ if high(here) && low(unit(at + 6)) => 12,
            _ if high(here) || low(here) => {
                whole.push_str(text.get(kept..at)?);
                whole.push_str("\\ufffd");
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
    whole.push_str(text.get(kept..)?);
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(without_half_characters(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn line_breaks_are_between_tokens_only() {
        assert_eq!(on_one_line("{\"a\":\r\n\"x\\ny\"}"), "{\"a\":  \"x\\ny\"}");
        assert!(matches!(on_one_line("{}"), Cow::Borrowed(_)));
    }
}
