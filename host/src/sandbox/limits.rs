//! Limits: how much a server may use. Everything is capped by default.

use std::time::Duration;

/// The caps on one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// `memory`: all linear memories and tables of one instance together, in bytes.
    pub memory: u64,
    /// `timeout`: wall time of one call, from the moment its instance is ready.
    pub timeout: Duration,
    /// `idle`: how long after its last call a server is stopped.
    pub idle: Duration,
    /// `result`: size of one result, in bytes of JSON, and of the base64 in the
    /// arguments of one call.
    pub result: u64,
    /// `output`: what one call may print to stdout and stderr together, in bytes, and
    /// what it may log; the rest is dropped and said to have been.
    pub output: u64,
    /// `instances`: how many calls of this server may run at once; more wait.
    pub instances: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 256 << 20,
            timeout: Duration::from_secs(60),
            idle: Duration::from_secs(600),
            result: 8 << 20,
            output: 64 << 10,
            instances: 64,
        }
    }
}
