//! Ids of requests.

use std::borrow::Cow;
use std::fmt;

/// The id of a request as it was written: JSON text. Two ids are equal where their texts
/// are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestId<'a>(Cow<'a, str>);

impl<'a> RequestId<'a> {
    /// Makes an id of its JSON text.
    #[must_use]
    pub fn new(written: &'a str) -> Self {
        Self(Cow::Borrowed(written))
    }

    /// Returns the text of the id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the id is `null`, which MCP does not allow.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.0 == "null"
    }

    /// Whether the id is a string or an integer, as MCP wants it.
    #[must_use]
    pub fn is_string_or_integer(&self) -> bool {
        let digits = self.0.strip_prefix('-').unwrap_or(&self.0);
        self.0.starts_with('"')
            || !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// Returns the number of the id, also of one in a string: some servers make a string of every
    /// id.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        self.0.trim_matches('"').parse().ok()
    }

    /// Copies the id, so that it borrows nothing.
    #[must_use]
    pub fn into_owned(self) -> RequestId<'static> {
        RequestId(Cow::Owned(self.0.into_owned()))
    }
}

impl fmt::Display for RequestId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_strings_or_integers() {
        for (text, is_one, number) in [
            ("7", true, Some(7)),
            ("-7", true, None),
            ("\"7\"", true, Some(7)),
            ("\"x\"", true, None),
            ("1.5", false, None),
            ("null", false, None),
            ("[7]", false, None),
            ("true", false, None),
        ] {
            let id = RequestId::new(text);
            assert_eq!(
                (id.is_string_or_integer(), id.number()),
                (is_one, number),
                "{text}"
            );
        }
    }
}
