//! Settings and secrets that plugins ask for: in words, and as options of the command line.

use dormouse_launch::redaction::redacted_setting;
use dormouse_text::shell_word::shell_word;
use dormouse_text::visible::visible_line;
use dormouse_wit::{FolderAccess, GrantRequest, SecretRequest, SettingFormat, SettingRequest};
use serde_json::Value;

/// Most choices, or names of what is missing, that are told.
const MAX_NAMED: usize = 8;

/// Returns what a setting is that a plugin asks for.
pub fn setting_in_words(setting: &SettingRequest) -> String {
    let SettingRequest { name, choices, .. } = setting;
    let named = choices
        .iter()
        .map(|choice| format!("`{}`", shown_value(choice)));
    let values = match (choices.is_empty(), setting.format) {
        (false, _) => format!("one of {}", first_of(named)),
        (true, SettingFormat::Boolean) => setting.format.to_string(),
        (true, format) => format!("a {format}"),
    };
    let granted = match setting.grant {
        Some(FolderAccess::ReadOnly) => ": a folder that it may then read, with all that is in it",
        Some(FolderAccess::ReadWrite) => {
            ": a folder that it may then read and write, with all that is in it"
        }
        None => "",
    };
    let needed = match setting.is_required {
        true => ", which it needs",
        false => "",
    };
    format!("for the setting `{name}`, {values}{needed}{granted}")
}

/// Returns the option that sets a setting, with a placeholder for its value.
pub fn setting_option(setting: &SettingRequest) -> String {
    // Of a folder that is granted with it, no author says beforehand which.
    let is_of_author = setting.grant.is_none();
    let value = match (
        setting.placeholder.as_ref().filter(|_| is_of_author),
        setting.choices.first().filter(|_| is_of_author),
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
pub fn requested_secret_in_words(secret: &SecretRequest) -> String {
    let needed = match secret.is_required {
        true => ", and which it needs",
        false => "",
    };
    let named = |texts: &[String]| {
        let named: Vec<_> = texts
            .iter()
            .map(|text| format!("`{}`", visible_line(text)))
            .collect();
        named.join(", ")
    };
    // All of them: what is granted is what was shown.
    let (name, hosts) = (&secret.name, named(&secret.hosts));
    let login = match (&secret.login, secret.scopes.as_slice()) {
        (None, _) => String::new(),
        (Some(provider), []) => format!(
            "; it may be a login at {}",
            named(std::slice::from_ref(provider))
        ),
        (Some(provider), scopes) => format!(
            "; it may be a login at {} with the scopes {}",
            named(std::slice::from_ref(provider)),
            named(scopes)
        ),
    };
    format!(
        "for the secret `{name}`, which goes to {hosts} with its requests, which it never \
         sees{needed}{login}"
    )
}

/// Returns the option that gives a plugin a secret: the token of a login where it may be one, or else a
/// text that its user is asked for then.
pub fn secret_option(secret: &SecretRequest) -> String {
    let login = secret.login.as_ref().map_or("", |_| "=login");
    let name = format!("{}{login}", secret.name);
    let name = shell_word(&name);
    match name.starts_with('-') {
        true => format!("--secret={name}"),
        false => format!("--secret {name}"),
    }
}

/// Returns the names of the settings and secrets among these requests, in words.
pub(crate) fn missing_names(missing: &[&GrantRequest]) -> String {
    let names = missing.iter().filter_map(|request| match request {
        GrantRequest::Setting(setting) => Some(("setting", &setting.name)),
        GrantRequest::Secret(secret) => Some(("secret", &secret.name)),
        _ => None,
    });
    first_of(names.map(|(what, name)| format!("the {what} `{}`", visible_line(name))))
}

/// Returns the first of these texts, and how many more there are.
fn first_of(mut texts: impl Iterator<Item = String>) -> String {
    let mut named: Vec<_> = texts.by_ref().take(MAX_NAMED).collect();
    let more = texts.count();
    if more > 0 {
        named.push(format!("{more} more"));
    }
    named.join(", ")
}

/// Returns the command that gives a server the settings and secrets among these requests.
pub(crate) fn missing_command(server: &str, missing: &[&GrantRequest]) -> String {
    let mut command = format!("dormouse grant {server}");
    for request in missing.iter().take(MAX_NAMED) {
        let option = match request {
            GrantRequest::Setting(setting) => setting_option(setting),
            GrantRequest::Secret(secret) => secret_option(secret),
            _ => continue,
        };
        command.push(' ');
        command.push_str(&visible_line(&option));
    }
    command
}

/// Returns the value that a setting has been given as outputs show it: without the secrets in it.
pub fn given_value(name: &str, value: &Value) -> String {
    shown_value(&redacted_setting(name, value))
}

/// Returns a value that an author has declared for a setting, as its user would type it. What its user has
/// given is shown by [`given_value`].
pub fn shown_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::requested_secrets;
    use super::*;

    fn request(hosts: usize, scopes: usize) -> GrantRequest {
        let names = |what: &str, count| (0..count).map(|i| format!("{what}{i}")).collect();
        GrantRequest::Secret(SecretRequest {
            name: "token".to_owned(),
            description: String::new(),
            is_required: false,
            hosts: names("https://h\u{202e}", hosts),
            header: Some("Authorization".to_owned()),
            value: None,
            query: None,
            placeholder: None,
            login: Some("work".to_owned()),
            scopes: names("scope-", scopes),
        })
    }

    #[test]
    fn all_that_a_secret_is_good_for_is_shown() {
        let requests = [request(32, 32)];
        let secrets: Vec<_> = requested_secrets(&requests).collect();
        let words = requested_secret_in_words(secrets[0]);
        assert!(words.contains("a login at `work`"), "{words}");
        for last in ["31`", "`scope-31`"] {
            assert!(words.contains(last), "{words}");
        }
        assert!(!words.contains('\u{202e}'), "{words}");
    }
}
