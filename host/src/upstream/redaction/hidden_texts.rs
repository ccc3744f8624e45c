//! Secrets that are known, taken out of what a server says.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{
    AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode,
};
use serde_json::Value;

use crate::upstream::launch::Secret;

use super::HIDDEN;
use super::secret_value::is_setting;

/// Fewest bytes of a secret that is looked for: what is shorter occurs in any text.
const MIN_HIDDEN_BYTES: usize = 4;

/// Characters that are encoded in a text that may be any part of a URL.
const URL_TEXT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Characters that are encoded wherever a text is put into a URL.
const URL_PART: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`');

/// Secrets that a text must not have in it, the longest first: another may be a part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HiddenTexts(Vec<Secret>);

impl HiddenTexts {
    /// Adds a secret, as it is and as it is written in URLs and in JSON; of one with several
    /// lines each line, as logs are read by lines.
    pub(crate) fn add(&mut self, secret: &str) {
        let decoded = percent_decode_str(secret).decode_utf8_lossy();
        for secret in [secret, &decoded] {
            self.add_lines(secret);
            let encoded = utf8_percent_encode(secret, URL_TEXT);
            self.add_lines(&encoded.to_string());
            let encoded = utf8_percent_encode(secret, URL_PART);
            self.add_lines(&encoded.to_string());
            let json = Value::from(secret).to_string();
            let json = json
                .strip_prefix('"')
                .and_then(|json| json.strip_suffix('"'))
                .unwrap_or_default();
            self.add_lines(json);
            self.add_lines(&in_ascii(json));
        }
    }

    fn add_lines(&mut self, secret: &str) {
        for text in secret.lines() {
            let text = text.trim();
            let is_known = self.0.iter().any(|known| known.expose() == text);
            if text.len() < MIN_HIDDEN_BYTES || is_known {
                continue;
            }
            let longer = |known: &Secret| known.expose().len() >= text.len();
            let at = self.0.partition_point(longer);
            self.0.insert(at, Secret::new(text));
        }
    }

    /// Adds what somebody shows to be let in: `Bearer abc` is said without its first word, too.
    pub(crate) fn add_credential(&mut self, credential: &str) {
        self.add(credential);
        if let Some((_, last)) = credential.rsplit_once(' ') {
            self.add(last);
        }
    }

    /// Adds a user name and a password, as they are written in a URL: they are sent as one
    /// header.
    pub(crate) fn add_user(&mut self, user: &str) {
        let decoded = percent_decode_str(user).decode_utf8_lossy();
        self.add(&STANDARD.encode(decoded.as_bytes()));
        // One without a password is sent with an empty one.
        self.add(&STANDARD.encode(format!("{decoded}:")));
        match user.split_once(':') {
            Some((name, password)) => {
                // `postgres` is said of more than of who asks.
                if !is_setting(name) {
                    self.add(name);
                }
                self.add(password);
            }
            None => self.add(user),
        }
    }

    /// JSON without any of them in its texts and names. `null` where it cannot be read: what
    /// cannot be looked at does not pass.
    #[must_use]
    pub(crate) fn redact_json(&self, json: &str) -> String {
        if self.0.is_empty() {
            return json.to_owned();
        }
        match serde_json::from_str::<Value>(json) {
            // As it was written, wherever there is nothing to hide.
            Ok(value) => match self.redact_value(&value) {
                redacted if redacted == value => json.to_owned(),
                redacted => redacted.to_string(),
            },
            Err(_) => "null".to_owned(),
        }
    }

    fn redact_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.redact(text).into(),
            Value::Array(items) => items.iter().map(|item| self.redact_value(item)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| (self.redact(name), self.redact_value(member)))
                .collect(),
            other => other.clone(),
        }
    }

    /// A text without any of them.
    #[must_use]
    pub(crate) fn redact(&self, text: &str) -> String {
        let hide = |text: String, secret: &Secret| match text.contains(secret.expose()) {
            true => text.replace(secret.expose(), HIDDEN),
            false => text,
        };
        self.0.iter().fold(text.to_owned(), hide)
    }

    /// The beginning of a text without any of them, also without the beginning of one that the
    /// end of the text has cut.
    #[must_use]
    pub(crate) fn redact_beginning(&self, text: &str) -> String {
        let mut text = self.redact(text);
        let cut = self.0.iter().filter_map(|secret| {
            let secret = secret.expose();
            let lengths = (MIN_HIDDEN_BYTES..secret.len()).rev();
            lengths
                .filter_map(|length| secret.get(..length))
                .find(|start| text.ends_with(start))
                .map(str::len)
        });
        if let Some(length) = cut.max() {
            text.truncate(text.len() - length);
            text.push_str(HIDDEN);
        }
        text
    }
}

/// The text of a JSON string as writers make it who write ASCII alone.
fn in_ascii(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter.is_ascii() {
            ascii.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(ascii, "\\u{unit:04x}");
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out() {
        let mut hidden = HiddenTexts::default();
        hidden.add("abc");
        hidden.add("secret");
        hidden.add("longer-secret");
        hidden.add_credential("Bearer t0ken");
        hidden.add("-----BEGIN\nline-of-key\n");
        hidden.add("a\"b c");
        hidden.add_user("me:p%40ss1");
        for (text, shown) in [
            ("abc is too short", "abc is too short"),
            (
                "secret, longer-secret, Bearer t0ken and t0ken",
                "…, …, … and …",
            ),
            ("line-of-key", "…"),
            ("a\"b c, a\\\"b c, a%22b%20c", "…, …, …"),
            ("p%40ss1, p@ss1, Basic bWU6cEBzczE=", "…, …, Basic …"),
        ] {
            assert_eq!(hidden.redact(text), shown);
        }
        assert_eq!(hidden.redact_json(r#"{"a":"secret"}"#), r#"{"a":"…"}"#);
        assert_eq!(
            hidden.redact_json(r#"[{"secret": "\u0073ecret"}, 1.10]"#),
            r#"[{"…":"…"},1.1]"#
        );
        assert_eq!(hidden.redact_json(r#"{"a": 1.10}"#), r#"{"a": 1.10}"#);
        assert_eq!(hidden.redact_json(r#"{"a": 1e999, "b": "secret"}"#), "null");
        assert_eq!(hidden.redact_beginning("x longer-se"), "x …");
        assert_eq!(hidden.redact_beginning("x lon"), "x lon");
    }
}
