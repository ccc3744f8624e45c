//! Writing YAML in block style.

use serde_json::Value as Json;

use super::super::Where;

/// Indentation of an entry's own lines, where the file shows no other.
pub(super) const UNIT: &str = "  ";

/// Lines that are being written.
pub(super) struct YamlLines {
    pub(super) newline: &'static str,
    pub(super) text: String,
}

impl YamlLines {
    pub(super) fn line(&mut self, indent: &str, line: &str) {
        self.text
            .push_str(&format!("{indent}{line}{}", self.newline));
    }

    /// Writes the lines of an entry, as a member or an item of the container at `indent`.
    pub(super) fn entry(&mut self, indent: &str, at: Where<'_>, entry: &Json) {
        let inner = format!("{indent}{UNIT}");
        let members = entry.as_object().into_iter().flatten();
        if at.list {
            self.line(indent, &format!("- name: {}", scalar(at.name)));
            for (key, value) in members.filter(|(key, _)| *key != "name") {
                self.member(&inner, key, value);
            }
        } else {
            self.line(indent, &format!("{}:", scalar(at.name)));
            for (key, value) in members {
                self.member(&inner, key, value);
            }
        }
    }

    fn member(&mut self, indent: &str, key: &str, value: &Json) {
        let key = scalar(key);
        let inner = format!("{indent}{UNIT}");
        match value {
            Json::Array(items) if !items.is_empty() => {
                self.line(indent, &format!("{key}:"));
                for item in items {
                    self.line(&inner, &format!("- {}", json(item)));
                }
            }
            Json::Object(members) if !members.is_empty() => {
                self.line(indent, &format!("{key}:"));
                for (key, value) in members {
                    self.member(&inner, key, value);
                }
            }
            other => self.line(indent, &format!("{key}: {}", json(other))),
        }
    }
}

/// Writes a value within a line: JSON is YAML, and words need no quotes.
fn json(value: &Json) -> String {
    match value {
        Json::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// Writes a text as a scalar, in quotes unless it is plainly a word.
pub(super) fn scalar(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    let taken = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if plain && !taken.contains(&text.to_ascii_lowercase().as_str()) {
        text.to_owned()
    } else {
        Json::from(text).to_string()
    }
}
