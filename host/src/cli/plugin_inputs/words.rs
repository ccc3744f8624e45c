//! Settings and secrets of plugins in words, and as options of the command line.

use dormouse_config::review::shell_word;
use dormouse_policy::{HttpSecret, SecretPlacement};
use dormouse_wit::{SecretRequest, SettingFormat, SettingRequest};
use serde_json::Value;

/// Most choices that are named.
const MAX_NAMED: usize = 8;

/// Returns what a setting is that a plugin asks for.
pub(in crate::cli) fn setting_in_words(setting: &SettingRequest) -> String {
    let SettingRequest { name, choices, .. } = setting;
    let named = choices.iter().take(MAX_NAMED);
    let mut named: Vec<_> = named
        .map(|choice| format!("`{}`", shown_value(choice)))
        .collect();
    if choices.len() > named.len() {
        named.push(format!("{} more", choices.len() - named.len()));
    }
    let values = match (named.is_empty(), setting.format) {
        (false, _) => format!("one of {}", named.join(", ")),
        (true, SettingFormat::Boolean) => setting.format.to_string(),
        (true, format) => format!("a {format}"),
    };
    let needed = match setting.is_required {
        true => ", which it needs",
        false => "",
    };
    format!("for the setting `{name}`, {values}{needed}")
}

/// Returns the option that sets a setting, with a placeholder for its value.
pub(in crate::cli) fn setting_option(setting: &SettingRequest) -> String {
    let value = match (
        &setting.placeholder,
        setting.choices.first(),
        setting.format,
    ) {
        (Some(example), ..) => example.clone(),
        (None, Some(choice), _) => shown_value(choice),
        (None, None, SettingFormat::String | SettingFormat::Number) => "VALUE".to_owned(),
        (None, None, SettingFormat::Boolean) => "true".to_owned(),
        (None, None, SettingFormat::Filepath) => "/path/to/file".to_owned(),
        (None, None, SettingFormat::Directory) => "/path/to/folder".to_owned(),
    };
    let whole = format!("{}={value}", setting.name);
    match whole.starts_with('-') {
        true => format!("--setting={}", shell_word(&whole)),
        false => format!("--setting {}", shell_word(&whole)),
    }
}

/// Returns what is done with a secret that a plugin asks for.
pub(in crate::cli) fn requested_secret_in_words(secret: &SecretRequest) -> String {
    let needed = match secret.is_required {
        true => ", and which it needs",
        false => "",
    };
    let hosts = secret.hosts.iter().take(MAX_NAMED);
    let hosts: Vec<_> = hosts.map(|host| format!("`{host}`")).collect();
    format!(
        "for the secret `{}`, which goes to {} with its requests, which it never sees{needed}",
        secret.name,
        hosts.join(", ")
    )
}

/// Returns the option that gives a plugin a secret, with a placeholder for its source.
pub(in crate::cli) fn secret_option(secret: &SecretRequest) -> String {
    let whole = format!("{}=env:VARIABLE", secret.name);
    match whole.starts_with('-') {
        true => format!("--secret={}", shell_word(&whole)),
        false => format!("--secret {}", shell_word(&whole)),
    }
}

/// Returns what happens to a secret.
pub(in crate::cli) fn secret_in_words(secret: &HttpSecret) -> String {
    let hosts: Vec<_> = secret.hosts.iter().map(ToString::to_string).collect();
    let place = match &secret.placement {
        SecretPlacement::Header { name, .. } => format!("in the header `{name}`"),
        SecretPlacement::Query(name) => format!("as the parameter `{name}`"),
        SecretPlacement::Placeholder { variable, header } => {
            format!("in the header `{header}`, in place of what its variable `{variable}` has")
        }
    };
    format!(
        "send your secret `{}` ({}) to {} {place}, without ever seeing it",
        secret.name,
        secret.source,
        hosts.join(", ")
    )
}

/// Returns a setting's value as its user would type it.
pub(in crate::cli) fn shown_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
