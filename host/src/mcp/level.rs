//! How severe a log has to be for an agent to hear it.
#![expect(
    deprecated,
    reason = "MCP's logging is deprecated since 2026-07-28, not gone"
)]

use std::sync::atomic::{AtomicU8, Ordering};

use rmcp::model::{ErrorData, LoggingLevel, RequestMetaObject};
use serde_json::Value;

use crate::runtime::LEVELS;

/// That a client has not said anything: far above the highest level.
const UNSAID: u8 = u8::MAX;

/// `info`, which is what a client hears that has not said anything.
const DEFAULT: u8 = 1;

/// Where a request of the stateless era says which level it wants to be told.
pub(super) const META: &str = "io.modelcontextprotocol/logLevel";

/// How severe a level of MCP logging is, from 0 (debug) to 7 (emergency).
pub(super) fn severity(level: &str) -> u8 {
    let place = LEVELS.iter().position(|known| *known == level);
    place
        .and_then(|place| u8::try_from(place).ok())
        .unwrap_or(DEFAULT)
}

/// MCP's name for it.
pub(super) fn name(severity: u8) -> Option<&'static str> {
    LEVELS.get(usize::from(severity)).copied()
}

/// The same for rmcp's type.
pub(super) fn of(level: LoggingLevel) -> u8 {
    severity(match level {
        LoggingLevel::Debug => "debug",
        LoggingLevel::Info => "info",
        LoggingLevel::Notice => "notice",
        LoggingLevel::Warning => "warning",
        LoggingLevel::Error => "error",
        LoggingLevel::Critical => "critical",
        LoggingLevel::Alert => "alert",
        LoggingLevel::Emergency => "emergency",
    })
}

/// The least severe level that a request of the stateless era wants to be told, if it
/// wants to be told anything.
///
/// # Errors
/// MCP has no such level.
pub(super) fn wanted(meta: &RequestMetaObject) -> Result<Option<u8>, ErrorData> {
    match meta.get(META) {
        None | Some(Value::Null) => Ok(None),
        Some(said) => match meta.log_level() {
            Some(level) => Ok(Some(of(level))),
            None => {
                let levels = LEVELS.join("`, `");
                let why = format!("there is no log level `{said}`\nhint: there are `{levels}`");
                Err(ErrorData::invalid_params(why, None))
            }
        },
    }
}

/// The least severe level that a client of the era with sessions wants to hear.
pub(super) struct Level(AtomicU8);

impl Default for Level {
    fn default() -> Self {
        Self(AtomicU8::new(UNSAID))
    }
}

impl Level {
    pub(super) fn set(&self, severity: u8) {
        self.0.store(severity, Ordering::Relaxed);
    }

    /// What the client has said.
    pub(super) fn said(&self) -> Option<u8> {
        Some(self.0.load(Ordering::Relaxed)).filter(|level| *level != UNSAID)
    }

    /// What it is to hear.
    pub(super) fn least(&self) -> u8 {
        self.said().unwrap_or(DEFAULT)
    }
}
