//! Limits: how much a server may use. Everything is capped by default.

use std::time::Duration;

/// Caps on what the upstream of one server may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpstreamLimits {
    /// `message`: size of one message, in bytes.
    pub message_bytes: usize,
    /// `list`: size of all lists together, of all their pages, in bytes.
    pub list_bytes: usize,
    /// `items`: most items of one list, on all its pages together.
    pub list_items: usize,
    /// `pages`: most pages of one list that are asked for.
    pub list_pages: usize,
    /// `batch`: most messages that are taken of one batch.
    pub batch_messages: usize,
    /// `requests`: size of all requests of the upstream that have no answer yet, in bytes.
    pub request_bytes: usize,
    /// `connections`: most connections to the upstream, one for each session.
    pub connections: usize,
    /// `log`: most that is logged of the upstream's words within ten seconds, in bytes.
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

/// Time that never comes.
pub const NEVER: Duration = Duration::MAX;

/// The caps on one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// `memory`: all linear memories and tables of one instance together, with what the
    /// host keeps of the files that it reads and writes by streams, in bytes.
    pub memory: u64,
    /// `timeout`: wall time of one call, from the moment its instance is ready. Progress that an
    /// upstream reports puts it off.
    pub timeout: Duration,
    /// `total_timeout`: wall time of one call, however often `timeout` is put off.
    pub total_timeout: Duration,
    /// `idle`: time between a server's last call and its end; [`NEVER`] where it is not stopped.
    pub idle: Duration,
    /// `result`: size of one result, in bytes of JSON, and of the base64 in the
    /// arguments of one call.
    pub result: u64,
    /// `output`: most that one call may print to stdout and stderr together, in bytes, and may log;
    /// the rest is dropped, and that is reported.
    pub output: u64,
    /// `instances`: most calls of this server that run at once; more wait.
    pub instances: u32,
    /// Caps on the server's upstream, where it has one.
    pub upstream: UpstreamLimits,
    /// `questions`: most questions of this server that wait for an answer of one client at once;
    /// more get an error.
    pub questions: u32,
    /// `http_requests`: most HTTP requests of one call.
    pub http_requests: u32,
    /// `http_bytes`: size of all bodies of HTTP requests and responses of one call together, in
    /// bytes.
    pub http_bytes: u64,
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
            http_requests: 1000,
            http_bytes: 256 << 20,
        }
    }
}

impl Limits {
    /// Returns the usual limits of a server with an upstream: a call may be a crawl, a build or a
    /// query there, and clients that are in a hurry end their calls themselves.
    #[must_use]
    pub fn of_upstream() -> Self {
        Self {
            timeout: Duration::from_secs(600),
            ..Self::default()
        }
    }
}
