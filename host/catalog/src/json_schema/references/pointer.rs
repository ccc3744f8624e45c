//! JSON pointers, and references that have them as fragments.

use super::MAX_REFERENCE_BYTES;

/// Returns a pointer, if it is short enough for a reference.
pub(super) fn short(pointer: &str) -> Option<String> {
    (pointer.len() <= MAX_REFERENCE_BYTES).then(|| pointer.to_owned())
}

/// Encodes a pointer as the fragment of a reference.
pub(crate) fn fragment(pointer: &str) -> String {
    let mut fragment = String::with_capacity(pointer.len() + 1);
    fragment.push('#');
    for byte in pointer.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' | b'$' => {
                fragment.push(char::from(byte));
            }
            byte => fragment.push_str(&format!("%{byte:02X}")),
        }
    }
    fragment
}

/// Decodes the percent-encoding of a fragment, if the result is UTF-8.
pub(crate) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            let digits = std::str::from_utf8(digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = after;
        } else {
            bytes.push(*byte);
        }
    }
    String::from_utf8(bytes).ok()
}
