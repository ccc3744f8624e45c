//! Least severe level of the logs that an agent gets.
#![expect(
    deprecated,
    reason = "MCP's logging is deprecated since 2026-07-28, not gone"
)]

use std::sync::atomic::{AtomicU8, Ordering};

use dormouse_protocol::{LEVELS, severity};
use rmcp::model::{LoggingLevel, RequestMetaObject};
use serde_json::Value;

use crate::mcp::messages::error_object::ErrorObject;

/// Placeholder of a client that has not set a level: far above the highest level.
const UNSAID: u8 = u8::MAX;

/// `info`, the level of plugins' logs for a client that has not set one.
const DEFAULT: u8 = 1;

/// Member of `_meta` with the log level that a request of the stateless era wants.
pub(in crate::mcp) const META: &str = "io.modelcontextprotocol/logLevel";

/// Returns MCP's name for a severity.
pub(in crate::mcp) fn name(severity: u8) -> Option<&'static str> {
    LEVELS.get(usize::from(severity)).copied()
}

/// Returns the severity of a level. The levels are declared in its order.
pub(in crate::mcp) fn of(level: LoggingLevel) -> u8 {
    level as u8
}

/// Logs that a client wants to get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mcp) enum WantedLogs {
    /// None: a request of the stateless era did not ask for any.
    Nothing,
    /// A client of the era with sessions has set no level. Each server decides for itself which
    /// logs such a client gets.
    Unsaid,
    /// Logs of this severity, and more severe ones.
    From(u8),
}

impl WantedLogs {
    /// Checks whether a log of that level is wanted.
    pub(in crate::mcp) fn take(self, level: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Unsaid => true,
            Self::From(least) => severity(level) >= least,
        }
    }

    /// Returns the least severe level that a server is to be asked for, by MCP's name, where it has
    /// to be asked.
    pub(in crate::mcp) fn asked(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Unsaid => name(DEFAULT),
            Self::From(least) => name(least),
        }
    }
}

/// Returns the logs that a request of the stateless era wants.
///
/// # Errors
/// MCP has no such level.
pub(in crate::mcp) fn wanted(meta: &RequestMetaObject) -> Result<WantedLogs, ErrorObject> {
    match meta.get(META) {
        None | Some(Value::Null) => Ok(WantedLogs::Nothing),
        Some(said) => match meta.log_level() {
            Some(level) => Ok(WantedLogs::From(of(level))),
            None => {
                let levels = LEVELS.join("`, `");
                let why = format!("there is no log level `{said}`\nhint: there are `{levels}`");
                Err(ErrorObject::invalid_params(why))
            }
        },
    }
}

/// Least severe level of the logs that a client of the era with sessions wants.
pub(in crate::mcp) struct WantedLogLevel(AtomicU8);

impl Default for WantedLogLevel {
    fn default() -> Self {
        Self(AtomicU8::new(UNSAID))
    }
}

impl WantedLogLevel {
    pub(in crate::mcp) fn set(&self, severity: u8) {
        self.0.store(severity, Ordering::Relaxed);
    }

    /// Returns the severity that the client has set.
    pub(in crate::mcp) fn said(&self) -> Option<u8> {
        Some(self.0.load(Ordering::Relaxed)).filter(|level| *level != UNSAID)
    }

    /// Returns the logs that the client wants.
    pub(in crate::mcp) fn wanted(&self) -> WantedLogs {
        self.said().map_or(WantedLogs::Unsaid, WantedLogs::From)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn levels_are_declared_in_the_order_of_their_severity() {
        for (number, name) in LEVELS.into_iter().enumerate() {
            let level: LoggingLevel = serde_json::from_value(json!(name)).unwrap();
            assert_eq!(usize::from(of(level)), number, "{name}");
            assert_eq!(of(level), severity(name), "{name}");
        }
        assert_eq!(LEVELS.len(), 8);
    }
}
