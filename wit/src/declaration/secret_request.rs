//! Secrets that a plugin asks its user for.

use serde::{Deserialize, Serialize};

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
