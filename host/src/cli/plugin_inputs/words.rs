//! Secrets of plugins in words.

use dormouse_policy::{HttpSecret, SecretPlacement};

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
