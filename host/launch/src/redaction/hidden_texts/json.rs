//! Secrets removed from JSON.

use std::borrow::Cow;

use dormouse_jsonrpc::{TextPart, text_parts};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::HiddenTexts;
use crate::redaction::HIDDEN;
use crate::redaction::secret_value::tells_nothing;

impl HiddenTexts {
    /// Removes the secrets from the texts, numbers and names of JSON. Names that are common words
    /// stay, so that readers find them. `null` where the JSON cannot be read: what cannot be
    /// checked does not pass.
    #[must_use]
    pub fn redact_json(&self, json: &str) -> String {
        if self.is_empty {
            return json.to_owned();
        }
        match serde_json::from_str::<IgnoredAny>(json) {
            Ok(_) => self.redact_read_json(json),
            Err(_) => "null".to_owned(),
        }
    }

    /// Removes the secrets from JSON that can be read, text by text: values would take many times
    /// its memory. The JSON stays as it was written, wherever there is nothing to hide.
    fn redact_read_json(&self, json: &str) -> String {
        let mut shown = String::with_capacity(json.len());
        let mut rest = json;
        while let Some(c) = rest.chars().next() {
            let bytes = match c {
                '"' => match text_parts(rest.as_bytes()).next() {
                    Some(TextPart::String(bytes)) => bytes,
                    Some(TextPart::Byte(_)) | None => 1,
                },
                '-' | '0'..='9' => rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c))
                    .unwrap_or(rest.len()),
                other => other.len_utf8(),
            };
            let (part, after) = rest.split_at_checked(bytes).unwrap_or((rest, ""));
            let redacted = match c {
                '"' => match serde_json::from_str::<Cow<'_, str>>(part) {
                    Ok(text) => {
                        let is_name = after.trim_ascii_start().starts_with(':');
                        let redacted = match is_name {
                            true => self.redact_name(&text),
                            false => self.redact(&text),
                        };
                        (redacted != *text).then_some(redacted)
                    }
                    // What cannot be looked at does not pass.
                    Err(_) => Some(HIDDEN.to_owned()),
                },
                '-' | '0'..='9' => Some(self.redact(part)).filter(|redacted| redacted != part),
                _ => None,
            };
            match redacted {
                Some(redacted) => shown.push_str(&Value::from(redacted).to_string()),
                None => shown.push_str(part),
            }
            rest = after;
        }
        shown
    }

    /// Removes the secrets from the texts, names and numbers of a value.
    #[must_use]
    pub fn redact_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.redact(text).into(),
            Value::Number(number) => {
                let text = number.to_string();
                match self.redact(&text) {
                    same if same == text => value.clone(),
                    redacted => redacted.into(),
                }
            }
            Value::Array(items) => items.iter().map(|item| self.redact_value(item)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| (self.redact_name(name), self.redact_value(member)))
                .collect(),
            other => other.clone(),
        }
    }

    fn redact_name(&self, name: &str) -> String {
        self.without(name, 0..name.len(), |found| !tells_nothing(found))
    }
}
