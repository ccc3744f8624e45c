//! One agent's connection.

use std::sync::Arc;

use crate::roster::Roster;
use crate::runtime::SessionId;

/// An agent's connection, as the roster knows it. Over stdio there is one for
/// the whole life of the process.
pub(super) struct Session {
    roster: Arc<Roster>,
    id: SessionId,
}

impl Session {
    pub(super) fn begin(roster: Arc<Roster>) -> Self {
        let id = roster.begin_session();
        Self { roster, id }
    }

    pub(super) fn id(&self) -> SessionId {
        self.id
    }

    /// Lets go of all that was kept for this agent.
    pub(super) async fn end(self) {
        self.roster.end_session(self.id).await;
    }
}
