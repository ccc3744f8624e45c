//! What texts may have to be.

use std::borrow::Cow;

/// The text that a JSON string is.
pub(super) fn string(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(value).ok().map(Cow::Owned)
}

/// Whether a URI has a scheme.
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

/// Whether a text is a date and a time with an offset (RFC 3339), as clients want it.
pub(super) fn is_moment(text: &str) -> bool {
    let number = |part: &str, from: u32, to: u32| {
        part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse().is_ok_and(|n: u32| (from..=to).contains(&n))
    };
    let numbers = |text: &str, by: char, ranges: &[(usize, u32, u32)]| {
        let parts: Vec<&str> = text.split(by).collect();
        parts.len() == ranges.len()
            && parts
                .iter()
                .zip(ranges)
                .all(|(part, (length, from, to))| part.len() == *length && number(part, *from, *to))
    };
    let Some((date, time)) = text.split_once('T') else {
        return false;
    };
    let (time, offset) = match time.strip_suffix('Z') {
        Some(time) => (time, "00:00"),
        None => match time.rsplit_once(['+', '-']) {
            Some(parts) => parts,
            None => return false,
        },
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    numbers(date, '-', &[(4, 0, 9999), (2, 1, 12), (2, 1, 31)])
        && numbers(time, ':', &[(2, 0, 23), (2, 0, 59), (2, 0, 59)])
        && numbers(offset, ':', &[(2, 0, 23), (2, 0, 59)])
        && !fraction.is_empty()
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
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
            "2025-1-12T15:00:58Z",
            "+025-01-12T15:00:58Z",
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
