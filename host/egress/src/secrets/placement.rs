//! Putting the text of a secret into a request: a header, a parameter of the query, or the place of
//! a placeholder.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode, utf8_percent_encode};
use url::{Url, form_urlencoded};

use super::error::SecretFault;

/// Scheme of a header whose credentials are a name and a password in Base64 (RFC 7617).
const BASIC: &str = "basic";

/// Characters that are escaped in a query: all but those that never have a meaning there.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Sets a header, in place of all of its name.
///
/// # Errors
/// The text cannot be the value of a header.
pub(super) fn set_header(
    headers: &mut HeaderMap,
    name: &str,
    value: &str,
) -> Result<(), SecretFault> {
    let name = HeaderName::try_from(name).map_err(|_| SecretFault {
        why: "has no header to stand in".to_owned(),
        hint: "write the name of a header in `header`".into(),
        is_absent: false,
    })?;
    headers.insert(name, sensitive(value.as_bytes())?);
    Ok(())
}

/// Sets a parameter of the query, in place of all of its name. The others stay as they are written.
pub(super) fn set_parameter(url: &mut Url, name: &str, text: &str) {
    let is_other = |pair: &&str| {
        let mut read = form_urlencoded::parse(pair.as_bytes());
        read.next().is_none_or(|(other, _)| other != name)
    };
    let query = url.query().unwrap_or_default();
    let others = query.split('&').filter(|pair| !pair.is_empty());
    let mut pairs: Vec<_> = others.filter(is_other).map(str::to_owned).collect();
    let name = utf8_percent_encode(name, ESCAPED);
    pairs.push(format!("{name}={}", escaped(text)));
    url.set_query(Some(&pairs.join("&")));
}

/// Returns a text as it is written in a query.
pub(super) fn escaped(text: &str) -> String {
    percent_encode(text.as_bytes(), ESCAPED).to_string()
}

/// Whether a placeholder stands in a header of that name.
pub(super) fn has_placeholder(headers: &HeaderMap, name: &str, placeholder: &str) -> bool {
    let mut values = headers.get_all(name).iter();
    values.any(|value| with_text(value, placeholder, placeholder).is_some())
}

/// Puts a text in place of a placeholder, wherever that stands in the headers of that name.
///
/// # Errors
/// The text cannot be a part of the value of a header.
pub(super) fn replace_placeholder(
    headers: &mut HeaderMap,
    name: &str,
    placeholder: &str,
    text: &str,
) -> Result<(), SecretFault> {
    for (of, value) in headers.iter_mut() {
        if of.as_str().eq_ignore_ascii_case(name)
            && let Some(replaced) = with_text(value, placeholder, text)
        {
            *value = sensitive(replaced.as_bytes())?;
        }
    }
    Ok(())
}

/// Returns the value of a header with a text in place of a placeholder; none where that is not in it.
fn with_text(value: &HeaderValue, placeholder: &str, text: &str) -> Option<String> {
    let value = value.to_str().ok()?;
    if value.contains(placeholder) {
        return Some(value.replace(placeholder, text));
    }
    let credentials = basic_credentials(value)?;
    let is_there = credentials.contains(placeholder);
    let scheme = value.get(..BASIC.len())?;
    is_there.then(|| {
        let replaced = credentials.replace(placeholder, text);
        format!("{scheme} {}", STANDARD.encode(replaced))
    })
}

/// Returns the name and the password that the value of a header has in Base64.
pub(super) fn basic_credentials(value: &str) -> Option<String> {
    let (scheme, encoded) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case(BASIC) {
        return None;
    }
    let decoded = STANDARD.decode(encoded.trim()).ok()?;
    String::from_utf8(decoded).ok()
}

/// Returns the value of a header that is shown to nobody, and that no compression of headers learns.
fn sensitive(value: &[u8]) -> Result<HeaderValue, SecretFault> {
    let mut value = HeaderValue::from_bytes(value).map_err(|_| SecretFault {
        why: "cannot stand in a header: it has a line end or another control character in it"
            .to_owned(),
        hint: "a secret in a header is one line of text".into(),
        is_absent: false,
    })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests;
