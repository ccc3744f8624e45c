//! The value of one member, found without reading the others.

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::text::unquoted;

/// Returns the text of a member's value in the object that `text` is.
#[must_use]
pub fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    if !may_have(text, name) {
        return None;
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.deserialize_map(Last(name)).ok()?
}

/// Shortest text, in bytes, of which reading takes longer than preparing to look for a name in it.
const MIN_SEARCHED_BYTES: usize = 512;

/// Whether a name may be in a text. Looking for it takes a tenth of the time of reading a long text,
/// and long results are asked for names that most of them do not have.
fn may_have(text: &str, name: &str) -> bool {
    if text.len() < MIN_SEARCHED_BYTES {
        return true;
    }
    let text = text.as_bytes();
    let has = |part: &str| memchr::memmem::find(text, part.as_bytes()).is_some();
    // Letters, digits, `-`, `.` and `_` are written in two ways alone: as they are, and by number.
    let is_plain = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    !is_plain || has(name) || memchr::memchr(b'\\', text).is_some() && has("\\u")
}

/// Reads the last value of a name, and passes over everything else.
struct Last<'n>(&'n str);

impl<'de> Visitor<'de> for Last<'_> {
    type Value = Option<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut last = None;
        while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            if unquoted(name.get()) == self.0 {
                last = Some(value.get());
            }
        }
        Ok(last)
    }
}
