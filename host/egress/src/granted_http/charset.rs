//! Character sets of responses in which secrets are to be found.

use http::header::{ACCEPT, ACCEPT_CHARSET, CONTENT_TYPE, HeaderValue};
use reqwest::header::HeaderMap;

use crate::secrets::FoundTexts;

/// Names of character sets in which texts are found that are not of ASCII alone.
const FOUND_SETS: [&str; 11] = [
    "utf-8",
    "utf8",
    "us-ascii",
    "ascii",
    "iso-8859-1",
    "iso8859-1",
    "iso_8859-1",
    "latin1",
    "latin-1",
    "windows-1252",
    "cp1252",
];

/// Beginnings of the names of character sets that write ASCII as its bytes.
const ASCII_SUPERSETS: [&str; 20] = [
    "utf-8",
    "utf8",
    "us-ascii",
    "ascii",
    "iso-8859-",
    "iso8859-",
    "iso_8859-",
    "latin",
    "windows-",
    "cp125",
    "koi8-",
    "macintosh",
    "tis-620",
    "gb2312",
    "gbk",
    "gb18030",
    "big5",
    "euc-",
    "shift_jis",
    "binary",
];

/// Takes what asks for a character set out of a request.
pub(super) fn remove_asked(headers: &mut HeaderMap) {
    headers.remove(ACCEPT_CHARSET);
    let values: Vec<HeaderValue> = headers.get_all(ACCEPT).iter().cloned().collect();
    if !values.iter().any(|value| has_charset(value.as_bytes())) {
        return;
    }
    headers.remove(ACCEPT);
    for value in values {
        let Ok(text) = value.to_str() else { continue };
        let ranges = text.split(',').map(without_charset);
        let ranges: Vec<String> = ranges.collect();
        if let Ok(value) = HeaderValue::from_str(&ranges.join(",")) {
            headers.append(ACCEPT, value);
        }
    }
}

/// Returns the texts that are found in the character set of a response.
pub(super) fn found_texts(headers: &HeaderMap) -> FoundTexts {
    let is_each = |is_known: &dyn Fn(&str) -> bool| {
        let mut types = headers.get_all(CONTENT_TYPE).iter();
        types.all(|value| are_charsets(value, is_known))
    };
    if is_each(&|name| FOUND_SETS.contains(&name)) {
        return FoundTexts::All;
    }
    let is_superset = |name: &str| ASCII_SUPERSETS.iter().any(|begin| name.starts_with(begin));
    match is_each(&is_superset) {
        true => FoundTexts::Ascii,
        false => FoundTexts::Nothing,
    }
}

/// Whether all character sets that a type of content names are such ones.
fn are_charsets(content_type: &HeaderValue, is_known: &dyn Fn(&str) -> bool) -> bool {
    let text = String::from_utf8_lossy(content_type.as_bytes()).to_ascii_lowercase();
    let mut parameters = text
        .split([';', ','])
        .filter_map(|part| part.split_once('='));
    parameters.all(|(name, value)| {
        let value = value.trim().trim_matches(['"', '\'']);
        !is_charset(name) || value.is_empty() || is_known(value)
    })
}

fn without_charset(range: &str) -> String {
    let mut parts = range.split(';');
    let media_type = parts.next().unwrap_or_default();
    let kept = parts.filter(|part| !is_charset(part.split('=').next().unwrap_or_default()));
    let kept: Vec<&str> = std::iter::once(media_type).chain(kept).collect();
    kept.join(";")
}

/// Whether a parameter's name is that of a character set.
fn is_charset(name: &str) -> bool {
    name.trim()
        .trim_end_matches('*')
        .eq_ignore_ascii_case("charset")
}

fn has_charset(value: &[u8]) -> bool {
    let charset = b"charset";
    value
        .windows(charset.len())
        .any(|part| part.eq_ignore_ascii_case(charset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_asks_for_a_character_set() {
        for (accept, sent) in [
            ("application/json", "application/json"),
            ("application/json;charset=utf-16le", "application/json"),
            (
                "text/html; CharSet = \"utf-7\" ;q=0.5, */*; charset*=x",
                "text/html;q=0.5, */*",
            ),
            ("text/charset;v=1", "text/charset;v=1"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            headers.insert(ACCEPT_CHARSET, HeaderValue::from_static("utf-16"));
            remove_asked(&mut headers);
            assert_eq!(headers[ACCEPT], sent, "{accept}");
            assert!(!headers.contains_key(ACCEPT_CHARSET));
        }
    }

    #[test]
    fn a_response_is_in_a_character_set_in_which_secrets_are_found() {
        use FoundTexts::{All, Ascii, Nothing};
        for (content_type, expected) in [
            ("application/json", All),
            ("application/json; charset=UTF-8", All),
            ("text/html;charset=\"iso-8859-1\"", All),
            ("text/plain; charset=Windows-1252", All),
            ("text/plain; charset=iso-8859-15", Ascii),
            ("text/plain; charset=koi8-r", Ascii),
            ("text/plain; charset=GB2312", Ascii),
            ("text/plain; charset=", All),
            ("text/plain; charset=utf-16le", Nothing),
            ("text/plain; q=1; CHARSET = \"UTF-7\"", Nothing),
            ("text/plain; charset=iso-2022-jp", Nothing),
            ("text/plain; charset=ibm037", Nothing),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
            assert_eq!(found_texts(&headers), expected, "{content_type}");
        }
    }
}
