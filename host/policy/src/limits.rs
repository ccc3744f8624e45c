//! Limits: how much a server may use. Everything is capped by default.

use std::time::Duration;

/// The caps on what the upstream of one server may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpstreamLimits {
    /// `message`: size of one message, in bytes.
    pub message_bytes: usize,
    /// `list`: size of one list, of all its pages together, in bytes.
    pub list_bytes: usize,
    /// `items`: how many items one list may have, on all its pages together.
    pub list_items: usize,
    /// `pages`: how many pages of one list are asked for.
    pub list_pages: usize,
    /// `batch`: how many messages are taken of those that it sends as one.
    pub batch_messages: usize,
    /// `requests`: size of all requests of the upstream's that have no answer yet, in
    /// bytes.
    pub request_bytes: usize,
    /// `connections`: how many connections there may be to the upstream, one for each session.
    pub connections: usize,
    /// `log`: how much of what it says is logged within ten seconds, in bytes.
    pub log_bytes: usize,
}

impl Default for UpstreamLimits {
    fn default() -> Self {
        Self {
            message_bytes: 64 << 20,
            list_bytes: 8 << 20,
            list_items: 10_000,
            list_pages: 200,
            batch_messages: 1000,
            request_bytes: 16 << 20,
            connections: 128,
            log_bytes: 32 << 10,
        }
    }
}

/// A time that does not come.
pub const NEVER: Duration = Duration::MAX;

/// The caps on one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// `memory`: all linear memories and tables of one instance together, with what the
    /// host keeps of the files that it reads and writes by streams, in bytes.
    pub memory: u64,
    /// `timeout`: wall time of one call, from the moment its instance is ready. What an
    /// upstream says of its progress puts it off.
    pub timeout: Duration,
    /// `total_timeout`: wall time of one call, however often that is put off.
    pub total_timeout: Duration,
    /// `idle`: how long after its last call a server is stopped; [`NEVER`] where it is not.
    pub idle: Duration,
    /// `result`: size of one result, in bytes of JSON, and of the base64 in the
    /// arguments of one call.
    pub result: u64,
    /// `output`: what one call may print to stdout and stderr together, in bytes, and
    /// what it may log; the rest is dropped and said to have been.
    pub output: u64,
    /// `instances`: how many calls of this server may run at once; more wait.
    pub instances: u32,
    /// What its upstream may say, where it has one.
    pub upstream: UpstreamLimits,
    /// `questions`: how many questions of this server may wait for an answer of one client
    /// at once; more get an error.
    pub questions: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 256 << 20,
            timeout: Duration::from_secs(60),
            total_timeout: Duration::from_secs(6 * 3600),
            idle: Duration::from_secs(600),
            result: 8 << 20,
            output: 64 << 10,
            instances: 64,
            upstream: UpstreamLimits::default(),
            questions: 16,
        }
    }
}

impl Limits {
    /// The usual limits of a server with an upstream: what is called there may be a crawl, a build
    /// or a query, and clients that are in a hurry end their calls themselves.
    #[must_use]
    pub fn of_upstream() -> Self {
        Self {
            timeout: Duration::from_secs(600),
            ..Self::default()
        }
    }
}
