//! Configuration of an upstream.

use std::sync::Arc;
use std::time::Duration;

use dormouse_launch::Launch;
use dormouse_policy::UpstreamLimits;
use dormouse_protocol::QuestionLimit;

use crate::UpstreamPolicy;

/// A server's upstream, as it is configured.
#[derive(Clone)]
pub struct Setup {
    /// The server's name.
    pub server: String,
    /// Launch of the upstream.
    pub launch: Launch,
    /// Whether all sessions share a connection, as far as their clients introduce themselves in
    /// the same way. Requests of no session always do.
    pub share: bool,
    /// Whether the upstream is not to be stopped for being idle.
    pub is_to_stay: bool,
    /// Time after their last call for which clients without a session keep connections that have
    /// processes running.
    pub sessionless_patience: Duration,
    /// Time that the upstream may take to connect and to say what it offers.
    pub start_timeout: Duration,
    /// Limits of what the upstream may send.
    pub limits: UpstreamLimits,
    /// Limit of its questions that may wait for an answer.
    pub questions: QuestionLimit,
    /// Policy between the upstream and its callers.
    pub policy: Arc<dyn UpstreamPolicy>,
}
