//! State that all agents of a host share.

use std::sync::Arc;

use dormouse_protocol::SessionId;
use tokio::sync::Semaphore;

use super::calls::leased_sessions::LeasedSessions;
use super::calls::suspended_calls::SuspendedCalls;
use super::methods::tools::ListedTools;
use super::schema_checks::SchemaChecks;
use crate::roster::Roster;

/// Most calls that may be on their way at once. Each request has a task of its own; the number of *running* calls is each server's own limit, so that many calls of one server never
/// keep another's waiting.
pub(super) const IN_FLIGHT: usize = 4096;

/// State that all agents of a host share.
pub(super) struct Common {
    pub(super) roster: Arc<Roster>,
    pub(super) suspended_calls: Arc<SuspendedCalls>,
    pub(super) in_flight: Arc<Semaphore>,
    pub(super) leased_sessions: LeasedSessions,
    /// Tools that clients without a session have been shown.
    pub(super) listed_without_session: ListedTools,
    pub(super) schema_checks: SchemaChecks,
}

impl Common {
    /// # Errors
    /// The system gives no random numbers.
    pub(super) fn new(roster: Arc<Roster>, in_flight: usize) -> anyhow::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            roster,
            suspended_calls: SuspendedCalls::new()?,
            in_flight: Arc::new(Semaphore::new(in_flight.min(Semaphore::MAX_PERMITS))),
            leased_sessions: LeasedSessions::default(),
            listed_without_session: ListedTools::default(),
            schema_checks: SchemaChecks::default(),
        }))
    }

    /// Drops everything that was kept for a session.
    pub(super) fn end_session(&self, session: SessionId) {
        self.suspended_calls.end_session(session);
        self.roster.end_session(session);
    }
}
