//! Eras of MCP, as clients speak them.

/// The newest revision of MCP that begins with a handshake.
pub const NEWEST_HANDSHAKE: &str = "2025-11-25";

/// The era of MCP that a client speaks. Servers behave differently in each: what they may ask,
/// when, and what they log.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ClientEra {
    /// Up to 2025-11-25: a client begins with `initialize`, by which this revision has been
    /// agreed on.
    Handshake(String),
    /// Since 2026-07-28: each request stands for itself.
    Stateless,
}

/// The two ways in which MCP is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// Up to 2025-11-25: a connection begins with `initialize`.
    Handshake,
    /// Since 2026-07-28: each request stands for itself.
    Stateless,
}

impl ClientEra {
    /// Returns the era, without its revision.
    #[must_use]
    pub fn era(&self) -> Era {
        match self {
            Self::Handshake(_) => Era::Handshake,
            Self::Stateless => Era::Stateless,
        }
    }
}

impl Default for ClientEra {
    /// Returns the era of callers that are no clients of MCP: every server that has users knows it.
    fn default() -> Self {
        Self::Handshake(NEWEST_HANDSHAKE.to_owned())
    }
}
