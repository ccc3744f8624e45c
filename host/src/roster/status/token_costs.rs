//! Cost of tools, in tokens, as a status has it.

use serde::{Deserialize, Serialize};

/// Costs of tools to a model, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCosts {
    /// Cost of what a model reads where all are listed: names, descriptions and input schemas.
    pub mapped: u64,
    /// Their whole declarations.
    pub raw: u64,
    /// Ones of them that are listed.
    pub listed: u64,
    /// Whether something of it is an estimate by the number of bytes.
    pub is_estimate: bool,
}

impl TokenCosts {
    /// Adds those of other tools.
    pub fn add(&mut self, other: Self) {
        self.mapped += other.mapped;
        self.raw += other.raw;
        self.listed += other.listed;
        self.is_estimate |= other.is_estimate;
    }
}

/// Exposure of tools to a client that is connected, or to all that have no session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownTo {
    /// Name that the client has given itself; none for those that have no session.
    pub client: Option<String>,
    /// Profile that it has named, in the path over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The mode: `direct`, `index` or `search`.
    pub mode: String,
    /// Reason for that mode.
    pub why: String,
}
