//! Requests of plugins to their users.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::requested_text::{is_input_name, is_one_word, is_variable_name};
use super::{RequestFault, SecretRequest, SettingRequest};

/// Most words of a request for HTTP grants: methods, a URL, and that it may be in a private network.
const MAX_HTTP_WORDS: usize = 3;

/// Request of a plugin to its user, from a `@grant`, `@setting` or `@secret` tag. A kind that a
/// later version adds is [`Other`](Self::Other) to this one, which ignores it.
///
/// What is read is judged: one whose names are none is [`Unusable`](Self::Unusable), without its text,
/// so that nobody is shown as a name what its author has written as a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", remote = "Self")]
pub enum GrantRequest {
    /// A folder of the user's choice.
    Fs {
        /// Whether the plugin wants to write there.
        write: bool,
        /// Reason, in the author's words.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// An environment variable.
    Env {
        /// Name of the variable.
        name: String,
        /// Reason, in the author's words.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// HTTP requests, like `https://api.example.com`.
    Http {
        /// Scheme and host, perhaps with the methods before them, and a port and a path behind:
        /// `[METHODS] SCHEME://HOST[:PORT][/PATH]`. A host is a name, an address, `*.` before a name
        /// for all below it, or `*` for all.
        origin: String,
        /// Reason, in the author's words.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// An MCP server to stand in front of: a program or an endpoint.
    Upstream {
        /// The program and its arguments; empty where it is an endpoint.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        command: Vec<String>,
        /// The endpoint's URL.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// The names of variables that the program needs in its environment, or of
        /// headers that the endpoint wants. Never their values.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        secrets: Vec<String>,
    },
    /// A setting, with a value of the user's own.
    Setting(SettingRequest),
    /// A secret of HTTP requests, which the plugin never sees.
    Secret(SecretRequest),
    /// Something that nobody can give, as it is written.
    Unusable {
        /// Its fault.
        fault: RequestFault,
    },
    /// Something that only a newer Dormouse knows.
    #[serde(other)]
    Other,
}

impl GrantRequest {
    /// Returns the request as far as it can be given and shown.
    fn judged(mut self) -> Self {
        if let Self::Setting(setting) = &mut self
            && setting.grant.is_some()
        {
            // Which folder is granted its user says.
            setting.choices.clear();
        }
        match self.fault() {
            Some(fault) => Self::Unusable { fault },
            None => self,
        }
    }

    fn fault(&self) -> Option<RequestFault> {
        let fault = match self {
            Self::Env { name, .. } if !is_variable_name(name) => RequestFault::Variable,
            Self::Http { origin, .. } if !is_http_request(origin) => RequestFault::HttpRequests,
            Self::Upstream { url, secrets, .. }
                if !url.iter().chain(secrets).all(|text| is_one_word(text)) =>
            {
                RequestFault::Upstream
            }
            Self::Setting(setting) if !is_input_name(&setting.name) => RequestFault::SettingName,
            Self::Setting(setting) if setting.has_long_text() => RequestFault::SettingText,
            Self::Secret(secret) if !is_input_name(&secret.name) => RequestFault::SecretName,
            Self::Secret(secret) if secret.fault().is_some() => RequestFault::Secret,
            _ => return None,
        };
        Some(fault)
    }
}

/// Whether a text may be a request for HTTP grants: what it means is judged where grants are read.
fn is_http_request(text: &str) -> bool {
    let mut words = text.split_whitespace();
    words.by_ref().take(MAX_HTTP_WORDS).all(is_one_word) && words.next().is_none()
}

impl<'de> Deserialize<'de> for GrantRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer).map(Self::judged)
    }
}

impl Serialize for GrantRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

#[cfg(test)]
mod tests;
