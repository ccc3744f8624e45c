//! Secrets that are known, taken out of what a server says.

use std::fmt::Write as _;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{
    AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode,
};
use serde_json::Value;
use std::collections::BTreeSet;

use super::HIDDEN;
use super::secret_value::is_setting;

/// Fewest bytes of a secret that is looked for: what is shorter occurs in any text.
const MIN_HIDDEN_BYTES: usize = 4;

/// Most bytes of one text that is looked for. Longer ones are looked for in pieces.
pub(crate) const MAX_PIECE_BYTES: usize = 1 << 10;

/// Most bytes of all texts that are looked for together.
const MAX_TOTAL_BYTES: usize = 256 << 10;

/// Characters that are encoded in a text that may be any part of a URL.
const URL_TEXT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Characters that are encoded wherever a text is put into a URL.
const URL_PART: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`');

/// Secrets that are being gathered.
#[derive(Default)]
pub(crate) struct HiddenTextsBuilder {
    texts: BTreeSet<String>,
    bytes: usize,
}

impl HiddenTextsBuilder {
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
        for line in secret.lines() {
            let mut rest = line.trim();
            while rest.len() >= MIN_HIDDEN_BYTES && self.bytes < MAX_TOTAL_BYTES {
                let (piece, after) = rest.split_at(rest.floor_char_boundary(MAX_PIECE_BYTES));
                if self.texts.insert(piece.to_owned()) {
                    self.bytes += piece.len();
                }
                rest = after;
            }
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

    /// The secrets, as they are looked for.
    #[must_use]
    pub(crate) fn build(self) -> HiddenTexts {
        let automaton = AhoCorasick::builder()
            // Another secret may be a part of one.
            .match_kind(MatchKind::LeftmostLongest)
            // A table of all transitions would be a hundred times as large as the secrets.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&self.texts);
        HiddenTexts {
            is_empty: self.texts.is_empty(),
            // So few texts have an automaton. Where they had none, nothing could be shown.
            automaton: automaton.ok(),
        }
    }
}

/// Secrets that a text must not have in it. Looking for them takes the same time, however many
/// they are: whoever runs a server decides how much it says.
#[derive(Clone, Debug)]
pub(crate) struct HiddenTexts {
    is_empty: bool,
    automaton: Option<AhoCorasick>,
}

impl HiddenTexts {
    /// JSON without any of them in its texts and names. `null` where it cannot be read: what
    /// cannot be looked at does not pass.
    #[must_use]
    pub(crate) fn redact_json(&self, json: &str) -> String {
        if self.is_empty {
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
        self.redact_beginning(text, text.len())
    }

    /// The beginning of a text without any of them, up to that byte or the end of the character
    /// there. One that goes on behind it is left out, too, where the text has
    /// [`MAX_PIECE_BYTES`] more.
    #[must_use]
    pub(crate) fn redact_beginning(&self, text: &str, end: usize) -> String {
        let end = text.ceil_char_boundary(end.min(text.len()));
        let Some(automaton) = &self.automaton else {
            return HIDDEN.to_owned();
        };
        let mut shown = String::with_capacity(end);
        let mut at = 0;
        for found in automaton.find_iter(text) {
            if found.start() >= end {
                break;
            }
            shown.push_str(text.get(at..found.start()).unwrap_or_default());
            shown.push_str(HIDDEN);
            at = found.end();
        }
        shown.push_str(text.get(at..end).unwrap_or_default());
        shown
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
        let mut hidden = HiddenTextsBuilder::default();
        hidden.add("abc");
        hidden.add("secret");
        hidden.add("longer-secret");
        hidden.add_credential("Bearer t0ken");
        hidden.add("-----BEGIN\nline-of-key\n");
        hidden.add("a\"b c");
        hidden.add_user("me:p%40ss1");
        hidden.add(&"x".repeat(3000));
        let hidden = hidden.build();
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
        assert_eq!(
            hidden.redact(&format!("a {} b", "x".repeat(3000))),
            "a ……… b"
        );
        assert_eq!(hidden.redact_beginning("x longer-secret", 8), "x …");
        assert_eq!(hidden.redact_beginning("x longer-secret", 1), "x");
        assert_eq!(HiddenTextsBuilder::default().build().redact("a b"), "a b");
    }

    #[test]
    fn many_secrets_are_as_few() {
        let mut hidden = HiddenTextsBuilder::default();
        for number in 0..100_000 {
            hidden.add(&format!("secret-{number:06}"));
        }
        assert!(hidden.bytes < MAX_TOTAL_BYTES + MAX_PIECE_BYTES);
        let text = "secret-000001 and more ".repeat(10_000);
        let shown = hidden.build().redact(&text);
        assert_eq!(shown, "… and more ".repeat(10_000));
    }

    #[test]
    fn texts_are_searched_in_linear_time() {
        let mut hidden = HiddenTextsBuilder::default();
        // Secrets that begin alike, and one that is found late.
        for length in 1..200 {
            hidden.add(&"aé".repeat(length));
            hidden.add(&format!("{}b", "a".repeat(length)));
        }
        hidden.add(&format!("{}c", "a".repeat(MAX_PIECE_BYTES)));
        let hidden = hidden.build();
        for part in ["aé", "a", "ab", "x", "\"", "\\"] {
            let text = |size: usize| part.repeat(size);
            dormouse_tests::growth::is_linear(part, 5_000, text, |text: &String| {
                std::hint::black_box(hidden.redact(text));
                let json = Value::from(vec![text.as_str(); 2]).to_string();
                std::hint::black_box(hidden.redact_json(&json));
            });
        }
        let members = |size: usize| {
            let members = (0..size).map(|number| format!("\"m{number}ab\":\"aaaab\""));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        };
        dormouse_tests::growth::is_linear("members", 1_000, members, |text: &String| {
            std::hint::black_box(hidden.redact_json(text));
        });
    }

    #[test]
    fn secrets_are_gathered_in_linear_time() {
        let secrets = |size: usize| (0..size).map(|number| format!("s\n{number}é{number}"));
        let secrets = |size: usize| secrets(size).collect::<Vec<_>>();
        dormouse_tests::growth::is_linear("secrets", 100, secrets, |secrets: &Vec<String>| {
            let mut hidden = HiddenTextsBuilder::default();
            secrets.iter().for_each(|secret| hidden.add(secret));
            std::hint::black_box(hidden.build());
        });
    }

    #[test]
    fn a_long_secret_takes_memory_in_proportion_to_its_length() {
        let mut hidden = HiddenTextsBuilder::default();
        hidden.add(&"[]'\"x://me:pass@e.com/x?key=pass".repeat(300));
        let bytes = hidden.bytes;
        let memory = hidden.build().automaton.unwrap().memory_usage();
        assert!(memory < 64 * bytes, "{memory} bytes for {bytes}");
    }
}
