//! Formats of texts.

use std::borrow::Cow;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::json;

/// Returns the text of a JSON string.
pub(super) fn string(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(value).ok().map(Cow::Owned)
}

/// Checks whether a URI has a scheme.
pub(super) fn has_scheme(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else {
        return false;
    };
    let mut chars = scheme.chars();
    chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && chars.all(|char| char.is_ascii_alphanumeric() || "+-.".contains(char))
        && !rest.is_empty()
}

/// Validator of a date and a time with an offset (RFC 3339).
static DATE_TIME_VALIDATOR: LazyLock<Option<Validator>> = LazyLock::new(|| {
    let options = jsonschema::options().should_validate_formats(true);
    options.build(&json!({ "format": "date-time" })).ok()
});

/// Checks whether clients accept a text as a time: a date and a time with an offset, in capitals,
/// without a leap second.
#[must_use]
pub fn is_moment(text: &str) -> bool {
    // The validator accepts signed numbers, too.
    let signed = text
        .match_indices('+')
        .any(|(at, _)| at + "+00:00".len() != text.len());
    let odd = signed || text.contains(['t', 'z']) || text.contains(":60");
    let valid = |validator: &Validator| validator.is_valid(&text.into());
    !odd && DATE_TIME_VALIDATOR.as_ref().is_some_and(valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_a_date_a_time_and_an_offset() {
        for good in [
            "2025-01-12T15:00:58Z",
            "2025-12-31T23:59:59.123456789Z",
            "2025-01-12T15:00:58-08:00",
            "0001-01-01T00:00:00+23:59",
        ] {
            assert!(is_moment(good), "{good}");
        }
        for bad in [
            "",
            "T",
            "yesterday",
            "2025-01-12",
            "2025-01-12 15:00:58Z",
            "2025-01-12T15:00:58",
            "2025-01-12T15:00Z",
            "2025-13-12T15:00:58Z",
            "2025-01-12T24:00:58Z",
            "2025-02-30T15:00:58Z",
            "2025-12-31T23:59:60Z",
            "2025-01-12t15:00:58z",
            "2025-1-12T15:00:58Z",
            "+025-01-12T15:00:58Z",
            "2025-+1-12T15:00:58Z",
            "2025-01-12T+5:00:58Z",
            "2025-01-12T15:00:58++2:00",
            "2025-01-12T15:00:58+02:+0",
            "2025-01-12T15:00:58.Z",
            "2025-01-12T15:00:58.1a Z",
            "2025-01-12T15:00:58+0200",
            "2025-01-12T15:00:58Z\n",
        ] {
            assert!(!is_moment(bad), "{bad}");
        }
    }

    #[test]
    fn uris_have_a_scheme() {
        for good in ["a:b", "file:///x y", "a+b-c.d://", "u:é"] {
            assert!(has_scheme(good), "{good}");
        }
        for bad in ["", "a", "a:", ":b", "1a:b", "a b:c", "é:b", "/a:b"] {
            assert!(!has_scheme(bad), "{bad}");
        }
    }
}
