//! Gathering of secrets, and of all that they may be written as.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::HiddenTexts;
use super::patterns::{MIN_HIDDEN_BYTES, Patterns, in_form, is_of_lines};
use crate::redaction::arguments::{secrets_in_arguments, secrets_in_line};
use crate::redaction::secret_value::{is_setting, tells_nothing};
use crate::redaction::unescaped::Unescaped;
use crate::redaction::url::secrets_in_url;
use crate::redaction::{SecretPart, is_secret_name};

/// Secrets that are being gathered.
#[derive(Default)]
pub struct HiddenTextsBuilder {
    /// The secrets, and whether each is one for sure.
    pub(super) secrets: BTreeMap<String, bool>,
}

impl HiddenTextsBuilder {
    /// Adds a secret. Of one with several lines each line is looked for, as logs are read by
    /// lines.
    pub fn add(&mut self, secret: &str) {
        self.insert(secret, true);
    }

    /// Adds what may be a secret: of several lines, those that tell nothing are looked for with
    /// the others alone.
    pub fn add_possible(&mut self, secret: &str) {
        self.insert(secret, false);
    }

    fn insert(&mut self, secret: &str, is_certain: bool) {
        if secret.len() >= MIN_HIDDEN_BYTES {
            let known = self.secrets.entry(secret.to_owned()).or_default();
            *known |= is_certain;
        }
    }

    /// Adds a credential: `Bearer abc`, and `abc` by itself, too.
    pub fn add_credential(&mut self, credential: &str) {
        self.add(credential);
        if let Some((_, last)) = credential.rsplit_once(' ') {
            self.add(last);
        }
    }

    /// Adds what may be a credential: of several lines, those that tell nothing are looked for with
    /// the others alone.
    pub fn add_possible_credential(&mut self, credential: &str) {
        match credential.trim().contains(['\n', '\r']) {
            true => self.add_possible(credential),
            false => self.add_credential(credential),
        }
    }

    /// Adds a user name and a password, as they are written in a URL: they are sent as one
    /// header.
    pub fn add_user(&mut self, user: &str) {
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

    /// Adds the secrets of a URL, but no setting such as `mode=http`, which occurs in other texts
    /// too.
    pub fn add_url(&mut self, url: &str) {
        for part in secrets_in_url(url) {
            if let Some(secret) = part.known_in(url) {
                self.add_user(secret);
            }
        }
    }

    /// Adds the secrets that are written out in the arguments of a program, or in a list that may
    /// be some.
    pub fn add_arguments(&mut self, program: &str, args: &[&str]) {
        for (text, parts) in args.iter().zip(secrets_in_arguments(program, args)) {
            self.add_parts(text, &parts);
        }
    }

    /// Adds the secrets that are written out in a command line, or in another text.
    pub fn add_line(&mut self, line: &str) {
        self.add_parts(line, &secrets_in_line(line));
    }

    fn add_parts(&mut self, text: &str, parts: &[SecretPart]) {
        let may_have_user = text.contains("://");
        for secret in parts.iter().filter_map(|part| part.known_in(text)) {
            self.add_credential(secret);
            if may_have_user {
                self.add_user(secret);
            }
        }
    }

    /// Adds the value of a variable, but for one that tells nothing.
    pub fn add_variable(&mut self, name: &str, value: &str) {
        if value.contains("://") {
            self.add_url(value);
        }
        match is_secret_name(name) {
            true => self.add_credential(value),
            false if tells_nothing(value) => {}
            false => self.add_possible_credential(value),
        }
    }

    /// Adds the secrets of a setting: values below a secret's name, and texts in the form of secrets in
    /// arguments and in URLs.
    pub fn add_setting(&mut self, name: &str, value: &Value) {
        self.add_value(value, is_secret_name(name));
    }

    fn add_value(&mut self, value: &Value, is_secret: bool) {
        match value {
            Value::String(text) if is_secret => {
                self.add_credential(text);
                if text.contains("://") {
                    self.add_url(text);
                }
            }
            Value::Number(number) if is_secret => self.add(&number.to_string()),
            Value::String(text) => match serde_json::from_str::<Value>(text) {
                Ok(written @ (Value::Array(_) | Value::Object(_))) => {
                    self.add_value(&written, false);
                }
                _ => self.add_line(text),
            },
            Value::Array(items) => {
                if !is_secret {
                    let args: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                    self.add_arguments("", &args);
                }
                items
                    .iter()
                    .for_each(|item| self.add_value(item, is_secret));
            }
            Value::Object(members) => {
                for (name, member) in members {
                    self.add_value(member, is_secret || is_secret_name(name));
                }
            }
            _ => {}
        }
    }

    /// Adds the secret of a client, also as the client sends it in a `Basic` header.
    pub fn add_client(&mut self, id: &str, secret: &str) {
        self.add(secret);
        for shown in basic_credentials(id, secret) {
            self.add(&shown);
        }
    }

    /// Builds the search for the secrets.
    #[must_use]
    pub fn build(self) -> HiddenTexts {
        let secrets = self.secrets.iter();
        let mut by_length: Vec<(&str, bool)> = secrets
            .map(|(secret, is_certain)| (secret.as_str(), *is_certain))
            .collect();
        by_length.sort_by_key(|(secret, _)| secret.len());
        let mut patterns = Patterns::default();
        for (secret, is_certain) in &by_length {
            patterns.add_lines(secret.as_bytes(), *is_certain);
        }
        for (secret, is_certain) in &by_length {
            let unescaped = Unescaped::of(secret);
            // One at the end takes what stands behind it along, such as a quote.
            let end = unescaped.bytes().strip_suffix(b"\\");
            let end = end.unwrap_or(unescaped.bytes());
            match is_of_lines(secret.as_bytes()) {
                true => patterns.add_lines(end, *is_certain),
                // What looks like a break in it (`C:\\new`) is none.
                false => patterns.add_pieces(end),
            }
        }
        let written = patterns.texts.len();
        for (secret, is_certain) in &by_length {
            patterns.add_base64(secret, *is_certain);
        }
        let automaton = AhoCorasick::builder()
            // A table for each byte would be large, and is slow to make.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            // Another secret may be a part of one.
            .match_kind(MatchKind::LeftmostLongest)
            .build(&patterns.texts);
        HiddenTexts {
            is_empty: patterns.texts.is_empty(),
            // Where not all are looked for, nothing can be shown.
            automaton: automaton.ok().filter(|_| !patterns.is_full),
            written,
        }
    }
}

/// Returns what a client sends in a header (`Basic`), with its id and secret as they are, and with
/// both encoded first, as OAuth has it (RFC 6749, section 2.3.1).
pub fn basic_credentials(id: &str, secret: &str) -> [String; 2] {
    [
        STANDARD.encode(format!("{id}:{secret}")),
        STANDARD.encode(format!("{}:{}", in_form(id), in_form(secret))),
    ]
}
