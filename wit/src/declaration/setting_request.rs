//! Settings that a plugin asks its user for, and the values that they take.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::requested_text::is_short_text;

/// Most choices that are told where a value is none of them.
const MAX_TOLD_CHOICES: usize = 8;

/// A setting that a plugin asks its user for, from a `@setting` tag: an input of MCP's registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SettingRequest {
    /// Its name among the plugin's settings.
    pub name: String,
    /// Description, in the author's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Whether the plugin does not work without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_required: bool,
    /// Format of its values.
    #[serde(default)]
    pub format: SettingFormat,
    /// Value that it has where its user has set none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// All values that it may have; empty where any of its format will do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Value>,
    /// Example of a value, to be shown to who is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// Access to the chosen folder that is granted with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<FolderAccess>,
}

/// Format of a setting's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingFormat {
    /// Texts.
    #[default]
    String,
    /// Numbers.
    Number,
    /// `true` and `false`.
    Boolean,
    /// Paths of files.
    Filepath,
    /// Paths of folders.
    Directory,
}

/// Access to a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FolderAccess {
    /// Its files are read.
    #[serde(rename = "ro")]
    ReadOnly,
    /// They are written, too.
    #[serde(rename = "rw")]
    ReadWrite,
}

impl SettingRequest {
    /// Whether a choice or the example is no value that can be read in a line.
    pub(crate) fn has_long_text(&self) -> bool {
        // Arrays and objects are values of no setting, and may have any text in them.
        let is_value = |choice: &Value| match choice {
            Value::String(text) => is_short_text(text),
            Value::Number(number) => is_short_text(&number.to_string()),
            Value::Bool(_) => true,
            _ => false,
        };
        let placeholder = self.placeholder.as_deref();
        !self.choices.iter().all(is_value) || !placeholder.is_none_or(is_short_text)
    }

    /// Reads a value as its user types it.
    ///
    /// # Errors
    /// It is none of this setting: with the value, and what would be one.
    pub fn read(&self, typed: &str) -> Result<Value, String> {
        let value = match self.format {
            SettingFormat::Number => match serde_json::from_str(typed.trim()) {
                Ok(Value::Number(number)) => Value::Number(number),
                _ => return Err(format!("`{typed}` is no number")),
            },
            SettingFormat::Boolean => match typed.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "y" => Value::Bool(true),
                "false" | "no" | "n" => Value::Bool(false),
                _ => return Err(format!("`{typed}` is neither `true` nor `false`")),
            },
            SettingFormat::String | SettingFormat::Filepath | SettingFormat::Directory => {
                Value::from(typed)
            }
        };
        self.check(&value).map(|()| value)
    }

    /// Checks that a value is one of this setting.
    ///
    /// # Errors
    /// It is none: with the value, and what would be one.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        if !self.format.takes(value) {
            return Err(format!("`{}` is no {}", shown(value), self.format));
        }
        let is_path = matches!(
            self.format,
            SettingFormat::Filepath | SettingFormat::Directory
        );
        if is_path && value.as_str().is_some_and(str::is_empty) {
            return Err("an empty text is no path".to_owned());
        }
        if self.choices.is_empty() || self.choices.contains(value) {
            return Ok(());
        }
        let told = self.choices.iter().take(MAX_TOLD_CHOICES);
        let mut choices: Vec<_> = told.map(|choice| format!("`{}`", shown(choice))).collect();
        let more = self.choices.len() - choices.len();
        if more > 0 {
            choices.push(format!("{more} more"));
        }
        Err(format!(
            "`{}` is none of {}",
            shown(value),
            choices.join(", ")
        ))
    }
}

impl SettingFormat {
    fn takes(self, value: &Value) -> bool {
        match self {
            Self::String | Self::Filepath | Self::Directory => value.is_string(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
        }
    }
}

impl fmt::Display for SettingFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::String => "text",
            Self::Number => "number",
            Self::Boolean => "`true` or `false`",
            Self::Filepath => "path of a file",
            Self::Directory => "path of a folder",
        })
    }
}

/// Returns a value as its user would type it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(json: Value) -> SettingRequest {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn values_are_read_as_they_are_typed() {
        for (format, typed, value) in [
            ("string", "a b", json!("a b")),
            ("string", "7", json!("7")),
            ("number", " 7 ", json!(7)),
            ("number", "-0.5", json!(-0.5)),
            ("boolean", "yes", json!(true)),
            ("boolean", "False", json!(false)),
            ("filepath", "~/a", json!("~/a")),
        ] {
            let request = request(json!({ "name": "x", "format": format }));
            assert_eq!(request.read(typed), Ok(value), "{format}");
        }
        for (format, typed, why) in [
            ("number", "seven", "`seven` is no number"),
            ("number", "\"7\"", "`\"7\"` is no number"),
            ("boolean", "1", "`1` is neither `true` nor `false`"),
            ("directory", "", "an empty text is no path"),
        ] {
            let request = request(json!({ "name": "x", "format": format }));
            assert_eq!(request.read(typed), Err(why.to_owned()), "{format}");
        }
    }

    #[test]
    fn a_value_is_of_its_format_and_among_its_choices() {
        let level = request(json!({ "name": "x", "format": "number", "choices": [1, 2] }));
        assert_eq!(level.check(&json!(2)), Ok(()));
        assert_eq!(level.read("3"), Err("`3` is none of `1`, `2`".to_owned()));
        assert_eq!(level.check(&json!("2")), Err("`2` is no number".to_owned()));
        let unit = request(json!({ "name": "x", "choices": ["metric", "imperial"] }));
        assert_eq!(
            unit.read("metrics"),
            Err("`metrics` is none of `metric`, `imperial`".to_owned())
        );
    }
}
