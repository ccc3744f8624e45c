//! Secrets that a project has put into HTTP requests, in a review.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dormouse_policy::{HttpSecret, ProviderLogin, SecretPlacement, SecretSource};
use dormouse_text::shell_word::shell_word;

use super::lines::ReviewLines;
use super::{leads_to, plain_path, quoted};

impl ReviewLines {
    /// Adds a secret: where it comes from, whom it is sent to, and how.
    pub(super) fn http_secret(
        &mut self,
        secret: &HttpSecret,
        real_paths: &BTreeMap<PathBuf, PathBuf>,
    ) {
        let hosts = secret.hosts.iter();
        let hosts: Vec<String> = hosts.map(|host| quoted(&host.to_string())).collect();
        let place = match &secret.placement {
            SecretPlacement::Header { name, value } => {
                format!(
                    "in the header {} as {}",
                    quoted(name),
                    quoted(&value.to_string())
                )
            }
            SecretPlacement::Query(name) => format!("in the query as {}", quoted(name)),
            SecretPlacement::Placeholder { variable, header } => format!(
                "in the header {} for a placeholder, which it sees as its variable {}",
                quoted(header),
                quoted(variable)
            ),
        };
        let name = quoted(&secret.name);
        self.add(
            "sends secret",
            format!("{name} to {}, {place}", hosts.join(", ")),
        );
        self.add("it comes from", source(&secret.source, real_paths));
    }
}

/// Returns where a text comes from.
fn source(from: &SecretSource, real_paths: &BTreeMap<PathBuf, PathBuf>) -> String {
    match from {
        SecretSource::Variable(name) => format!("your environment's {}", quoted(name)),
        SecretSource::File(file) => {
            let path = &file.path;
            let real = real_paths.get(path).unwrap_or(path);
            let leads_to = leads_to(path, real, real.exists());
            format!("the file {}{leads_to}", plain_path(path))
        }
        SecretSource::Command {
            program,
            arguments,
            folder,
            ..
        } => {
            let words = std::iter::once(program).chain(arguments);
            let words: Vec<String> = words.map(shell_word).collect();
            format!(
                "what this program says, which is run in {}: {}",
                plain_path(folder),
                words.join(" ")
            )
        }
        SecretSource::Keyring(name) => format!("your own secret {}", quoted(name)),
        SecretSource::Login(login) => provider_login(login, real_paths),
    }
}

/// Returns where and for what somebody logs in, as which client.
fn provider_login(login: &ProviderLogin, real_paths: &BTreeMap<PathBuf, PathBuf>) -> String {
    let oauth = &login.oauth;
    let client = oauth.client_id.as_deref().unwrap_or_default();
    let scopes: Vec<_> = oauth.scopes.iter().map(|scope| quoted(scope)).collect();
    let mut text = format!(
        "your login at {} as the client {}",
        quoted(login.url()),
        quoted(client)
    );
    if let Some(token) = &oauth.token_url {
        text.push_str(&format!(", with tokens from {}", quoted(token)));
    }
    if !scopes.is_empty() {
        text.push_str(&format!(", for {}", scopes.join(", ")));
    }
    let provider = oauth.provider.iter();
    for (name, value) in provider.flat_map(|provider| &provider.parameters) {
        text.push_str(&format!(", with {}", quoted(&format!("{name}={value}"))));
    }
    if let Some(redirect) = &oauth.redirect_uri {
        text.push_str(&format!(", back to {}", quoted(redirect)));
    }
    if oauth.private_network {
        text.push_str(", also in a private network");
    }
    if let Some(secret) = &login.client_secret {
        text.push_str(&format!(", whose secret is {}", source(secret, real_paths)));
    }
    text
}
