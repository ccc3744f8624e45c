//! Values of HTTP headers that repeat parts of a message (2026-07-28).

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

const BEGIN: &str = "=?base64?";
const END: &str = "?=";

/// Encodes a value as 2026-07-28 wants it in a header: as it is, or in Base64 where a header could
/// not hold it, or where it looks as if it were in Base64 already.
#[must_use]
pub fn encode_header_value(value: &str) -> Cow<'_, str> {
    let plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && value.trim_matches(' ') == value
        && !(value.starts_with(BEGIN) && value.ends_with(END));
    match plain {
        true => Cow::Borrowed(value),
        false => Cow::Owned(format!("{BEGIN}{}{END}", BASE64_STANDARD.encode(value))),
    }
}

/// Decodes the value of a header; none where it says that it is in Base64 and is not.
#[must_use]
pub fn decode_header_value(value: &str) -> Option<Cow<'_, str>> {
    let encoded = value.strip_prefix(BEGIN);
    match encoded.and_then(|encoded| encoded.strip_suffix(END)) {
        Some(encoded) => {
            let bytes = BASE64_STANDARD.decode(encoded).ok()?;
            String::from_utf8(bytes).ok().map(Cow::Owned)
        }
        None => Some(Cow::Borrowed(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_header_cannot_hold_is_encoded() {
        for (value, encoded) in [
            // Examples of the specification.
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("plain ~ text", "plain ~ text"),
            ("", ""),
            ("Größe", "=?base64?R3LDtsOfZQ==?="),
            (" edge", "=?base64?IGVkZ2U=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
        ] {
            assert_eq!(encode_header_value(value), encoded);
            assert_eq!(decode_header_value(encoded).as_deref(), Some(value));
        }
        assert_eq!(decode_header_value("=?base64?dA=?="), None);
    }
}
