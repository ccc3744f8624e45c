//! Secrets that a plugin asks its user for.

use serde::{Deserialize, Serialize};

use super::requested_text::{is_input_name, is_one_word, is_variable_name};

/// Most hosts of one secret: all of them are shown to whoever grants it.
const MAX_HOSTS: usize = 32;

/// Most scopes of a login, for the same reason.
const MAX_SCOPES: usize = 32;

/// Longest host, in bytes: names of the internet have at most 253.
const MAX_HOST: usize = 320;

/// A secret that a plugin asks to have put into its HTTP requests, from a `@secret` tag. It stands
/// where `header`, `query` or `placeholder` says, as in `[servers.NAME.secrets]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretRequest {
    /// Its name among the plugin's secrets.
    pub name: String,
    /// Description, in the author's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Whether the plugin does not work without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_required: bool,
    /// The only hosts that get it, as `https://api.example.com`.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Header that it stands in, or in which the placeholder is replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Value of that header, with `{}` in place of the secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Parameter of the query that it stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Environment variable in which the plugin sees a placeholder for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// Provider at which its user can log in to get one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// Scopes that the plugin needs of that provider.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

impl SecretRequest {
    /// Returns what is wrong with a request, and what to do about it.
    ///
    /// Hosts, headers and variables are judged by the host, which this crate does not know; what is
    /// refused here is refused there, which a test of `dormouse-config` holds
    /// (`edit::tests::plugin_inputs`), but for texts that would be read as words of Dormouse's own.
    pub(crate) fn fault(&self) -> Option<(String, &'static str)> {
        let Self {
            hosts,
            header,
            value,
            query,
            placeholder,
            login,
            scopes,
            ..
        } = self;
        if hosts.is_empty() {
            let hint = "name those that get it: `\"hosts\": [\"https://api.example.com\"]`";
            return Some(("it names no hosts".to_owned(), hint));
        }
        if let Some(host) = hosts.iter().find(|host| !is_host(host)) {
            let hint = "name whole hosts, without a pattern or a path: `\"https://api.example.com\"`; \
                        `http` is for `http://127.0.0.1:PORT` and `http://localhost:PORT` alone";
            return Some((format!("a secret cannot go to `{host}`"), hint));
        }
        let places = [query.is_some(), placeholder.is_some()];
        let has_header_alone = header.is_some() && placeholder.is_none();
        let count =
            places.iter().filter(|is_there| **is_there).count() + usize::from(has_header_alone);
        if count != 1 {
            let hint = "write one of `\"header\": \"Authorization\", \"value\": \"Bearer {}\"`, \
                        `\"query\": \"key\"` and `\"placeholder\": \"API_TOKEN\"`";
            let message = match count {
                0 => "it does not say where it stands in a request",
                _ => "it says twice where it stands in a request",
            };
            return Some((message.to_owned(), hint));
        }
        if let Some(value) = value {
            if !has_header_alone {
                let hint = "leave it out, or write a `header` in which it stands";
                return Some(("`value` is what stands in a `header`".to_owned(), hint));
            }
            let is_ascii = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
            if value.matches("{}").count() != 1 || !is_ascii {
                let hint =
                    "write one `{}` in it, in whose place the secret stands: `\"Bearer {}\"`";
                return Some((format!("`value` cannot be `{value}`"), hint));
            }
        }
        let is_token = |text: &str| {
            let mut bytes = text.bytes();
            bytes.all(|byte| b"!#$%&'*+-.^_|~".contains(&byte) || byte.is_ascii_alphanumeric())
        };
        if let Some(header) = header.as_ref().filter(|header| !is_token(header)) {
            let hint = "write the name alone, as `\"Authorization\"`";
            return Some((format!("`{header}` is no name of a header"), hint));
        }
        if let Some(name) = placeholder.as_ref().filter(|name| !is_variable_name(name)) {
            let hint = "write its name alone, as `\"API_TOKEN\"`";
            let message = format!("`{name}` is no name of an environment variable");
            return Some((message, hint));
        }
        if let Some(name) = query.as_ref().filter(|name| !is_one_word(name)) {
            let hint = "write its name alone, as `\"key\"`";
            return Some((format!("`{name}` is no name of a parameter"), hint));
        }
        if let Some(provider) = login.as_ref().filter(|name| !is_input_name(name)) {
            let hint = "write the name of one, as `\"github\"`: letters, digits, `-` and `_`";
            return Some((format!("`{provider}` is no name of a provider"), hint));
        }
        if let Some(scope) = scopes.iter().find(|scope| !is_one_word(scope)) {
            let hint = "write each as a text of its own, without spaces and backticks";
            return Some((format!("`{scope}` is no scope"), hint));
        }
        if hosts.len() > MAX_HOSTS || scopes.len() > MAX_SCOPES {
            let hint = "leave some out: all of them are shown to whoever grants it";
            let message =
                format!("it has more than {MAX_HOSTS} hosts, or than {MAX_SCOPES} scopes");
            return Some((message, hint));
        }
        if login.is_none() && !scopes.is_empty() {
            let hint = "name the provider, as `\"login\": \"github\"`, or leave the scopes out";
            return Some((
                "`scopes` are of a `login`, and there is none".to_owned(),
                hint,
            ));
        }
        None
    }
}

/// Whether a text is a host that a secret may go to: over TLS, or on this machine.
fn is_host(text: &str) -> bool {
    let (scheme, rest) = text.split_once("://").unwrap_or(("https", text));
    let is_sign = |c: char| c.is_alphanumeric() || "-_.:[]".contains(c);
    let is_whole = !rest.is_empty() && rest.len() <= MAX_HOST && rest.chars().all(is_sign);
    let is_local = || {
        let locals = ["127.0.0.1", "[::1]", "localhost"];
        let is_at = |local| match rest.strip_prefix(local) {
            Some(port) => port.is_empty() || port.starts_with(':'),
            None => false,
        };
        locals.into_iter().any(is_at)
    };
    is_whole && (scheme == "https" || scheme == "http" && is_local())
}
