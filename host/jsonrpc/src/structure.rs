//! Checks of a JSON text before it is read: nesting, and names that readers take
//! for something else.

use memchr::memchr2;

/// Start of the names of members by which `serde_json` hands text and numbers to itself. Its
/// values take an object of such a name for the JSON in its string, so that they show other
/// content than the text has.
pub const RESERVED_NAME: &str = "$serde_json::private::";

/// A reason why a text is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StructureError {
    /// Nesting that is deeper than is allowed.
    #[error("it is nested more than {limit} levels deep")]
    TooDeep {
        /// Levels that are allowed.
        limit: usize,
    },
    /// Member whose name not every reader takes for one.
    #[error("a member's name begins with `{RESERVED_NAME}`")]
    ReservedName,
}

/// Checks that a JSON text is nested at most `limit` levels deep (`[]` has one level), and
/// that no member of it has a reserved name.
///
/// # Errors
/// The text is nested more deeply, or has such a member.
pub fn check_structure(text: &str, limit: usize) -> Result<(), StructureError> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0_usize;
    // A string that a colon after it would make a reserved name.
    let mut is_reserved = false;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let end = end_of_string(bytes, at);
                is_reserved = text.get(at..end).is_some_and(begins_reserved);
                at = end + 1;
            }
            b':' if is_reserved => return Err(StructureError::ReservedName),
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return Err(StructureError::TooDeep { limit });
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => is_reserved = false,
        }
    }
    Ok(())
}

/// A part of a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextPart {
    /// Length of a string with its quotes, in bytes.
    String(usize),
    /// Another byte.
    Byte(u8),
}

/// Splits a JSON text into its parts. Nothing of it is read: a text that is no JSON has parts as
/// well.
pub fn text_parts(text: &[u8]) -> impl Iterator<Item = TextPart> {
    let mut at = 0_usize;
    std::iter::from_fn(move || {
        let byte = *text.get(at)?;
        let start = at;
        at += 1;
        if byte != b'"' {
            return Some(TextPart::Byte(byte));
        }
        at = text.len().min(end_of_string(text, at) + 1);
        Some(TextPart::String(at - start))
    })
}

/// Returns the position of the quote that ends a string, or the end of a text in which none does.
/// `start` is behind the quote that begins the string. Nearly all of a long message is in strings,
/// so they are not looked at byte by byte.
pub(crate) fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at;
        }
        // A backslash, and what it escapes.
        at += 2;
    }
    bytes.len()
}

/// Whether a string, as it is written between its quotes, begins as reserved names do.
fn begins_reserved(written: &str) -> bool {
    match written.as_bytes().first() {
        Some(b'$') if !written.contains('\\') => written.starts_with(RESERVED_NAME),
        // Any character may be written as an escape.
        Some(b'$' | b'\\') => serde_json::from_str::<String>(&format!("\"{written}\""))
            .is_ok_and(|name| name.starts_with(RESERVED_NAME)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_counted_outside_of_strings() {
        for (text, depth) in [
            ("1", 0),
            ("[]", 1),
            ("[[],[]]", 2),
            (r#"{"a":[{"b":1}]}"#, 3),
            (r#"["[[[[", "\"[[["]"#, 1),
            (r#"["\\",[]]"#, 2),
        ] {
            assert_eq!(check_structure(text, depth), Ok(()), "{text}");
            if depth > 0 {
                let limit = depth - 1;
                let error = StructureError::TooDeep { limit };
                assert_eq!(check_structure(text, limit), Err(error), "{text}");
            }
        }
    }

    #[test]
    fn strings_are_one_part() {
        let parts = |text: &str| text_parts(text.as_bytes()).collect::<Vec<_>>();
        use TextPart::{Byte, String};
        assert_eq!(
            parts(r#"{"a\"{":[1,""]}"#),
            [
                Byte(b'{'),
                String(6),
                Byte(b':'),
                Byte(b'['),
                Byte(b'1'),
                Byte(b','),
                String(2),
                Byte(b']'),
                Byte(b'}'),
            ]
        );
        assert_eq!(parts(r#"1"a\"#), [Byte(b'1'), String(3)]);
        assert_eq!(parts(""), []);
    }

    #[test]
    fn names_that_readers_take_for_something_else_are_refused() {
        for (text, is_refused) in [
            (r#"{"$serde_json::private::RawValue":"[]"}"#, true),
            (
                r#"{"a":[{"b":{"$serde_json::private::Number" : "1"}}]}"#,
                true,
            ),
            (r#"{"\u0024serde_json::private::RawValue":"[]"}"#, true),
            (r#"{"$serde_json::\u0070rivate::RawValue":"[]"}"#, true),
            (
                r#"{"a":1,"$serde_json::private::x"
                :1}"#,
                true,
            ),
            // As a value it is a text like any other.
            (r#"{"a":"$serde_json::private::RawValue"}"#, false),
            (r#"["$serde_json::private::RawValue",{"a":1}]"#, false),
            (r#"{"$serde_json":{"private":1},"$ref":"\\"}"#, false),
        ] {
            let refused = check_structure(text, 9) == Err(StructureError::ReservedName);
            assert_eq!(refused, is_refused, "{text}");
            // The check is there because of what this reader does.
            if text.starts_with("{\"$serde_json::private::RawValue\"") {
                let value: serde_json::Value = serde_json::from_str(text).unwrap();
                assert!(value.is_array(), "{value}");
            }
        }
    }

    /// The default depth is the deepest that `serde_json` reads into values.
    #[test]
    fn the_default_depth_is_what_values_can_hold() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let most = crate::MessageLimits::default().depth;
        assert!(serde_json::from_str::<serde_json::Value>(&nested(most)).is_ok());
        assert!(serde_json::from_str::<serde_json::Value>(&nested(most + 1)).is_err());
    }
}
