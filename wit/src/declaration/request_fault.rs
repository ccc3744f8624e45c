//! Faults of requests that nobody can give.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Fault of a request, without the text of its author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestFault {
    /// The name of a variable.
    Variable,
    /// The words for HTTP requests.
    HttpRequests,
    /// The URL of an upstream, or the name of a variable or a header that it needs.
    Upstream,
    /// The name of a setting.
    SettingName,
    /// A choice or the example of a setting.
    SettingText,
    /// The name of a secret.
    SecretName,
    /// The hosts of a secret, its place in a request, or its login.
    Secret,
}

impl fmt::Display for RequestFault {
    /// Writes what is asked for, in words of Dormouse's own alone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Variable => "a variable whose name is none that can be granted",
            Self::HttpRequests => "HTTP requests that are written as none",
            Self::Upstream => "an MCP server with a URL or a name that is none",
            Self::SettingName => "a setting whose name is none",
            Self::SettingText => {
                "a setting with a choice or an example that is long or has a backtick or a line break"
            }
            Self::SecretName => "a secret whose name is none",
            Self::Secret => "a secret with hosts, a place or a login that it cannot have",
        })
    }
}
