//! Requests of plugins to their users, against what they have.

mod held;
mod words;

use dormouse_policy::{FsMode, HttpGrant, HttpSecret};
use dormouse_wit::{FolderAccess, GrantRequest, SecretRequest, SettingRequest};
use serde_json::{Map, Value};

pub use held::HeldByPlugin;
pub use words::{
    given_value, requested_secret_in_words, secret_option, setting_in_words, setting_option,
    shown_value,
};
pub(super) use words::{missing_command, missing_names};

/// Returns the settings that a plugin asks for.
pub fn requested_settings(requests: &[GrantRequest]) -> impl Iterator<Item = &SettingRequest> {
    requests.iter().filter_map(|request| match request {
        GrantRequest::Setting(setting) => Some(setting),
        _ => None,
    })
}

/// Returns the secrets that a plugin asks for.
pub fn requested_secrets(requests: &[GrantRequest]) -> impl Iterator<Item = &SecretRequest> {
    requests.iter().filter_map(|request| match request {
        GrantRequest::Secret(secret) => Some(secret),
        _ => None,
    })
}

/// Returns the HTTP requests that a plugin asks for, each with its author's reason: those of them
/// that can be granted.
pub fn requested_http(requests: &[GrantRequest]) -> impl Iterator<Item = (HttpGrant, &str)> {
    requests.iter().filter_map(|request| match request {
        GrantRequest::Http { origin, why } => Some((origin.parse().ok()?, why.as_str())),
        _ => None,
    })
}

/// Returns how a folder is granted for this access.
pub fn mode_of(access: FolderAccess) -> FsMode {
    match access {
        FolderAccess::ReadOnly => FsMode::ReadOnly,
        FolderAccess::ReadWrite => FsMode::ReadWrite,
    }
}

/// Returns a plugin's settings: those that its user has set, and the defaults of its declaration.
pub(super) fn with_defaults(
    requests: &[GrantRequest],
    set: &Map<String, Value>,
) -> Map<String, Value> {
    let mut settings = set.clone();
    for request in requested_settings(requests) {
        if let Some(default) = &request.default
            && !settings.contains_key(&request.name)
        {
            settings.insert(request.name.clone(), default.clone());
        }
    }
    settings
}

/// Returns the names of the secrets that requests of a grant have in them, in words; empty where
/// they have none.
pub fn secrets_in_words(grant: &HttpGrant, secrets: &[HttpSecret]) -> String {
    let goes_along = |secret: &&HttpSecret| secret.hosts.iter().any(|host| grant.reaches(host));
    let names: Vec<_> = secrets
        .iter()
        .filter(goes_along)
        .map(|secret| format!("`{}`", secret.name))
        .collect();
    match names.as_slice() {
        [] => String::new(),
        [name] => format!(", with your secret {name}, which the plugin never sees"),
        _ => format!(
            ", with your secrets {}, which the plugin never sees",
            names.join(", ")
        ),
    }
}
