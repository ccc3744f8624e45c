//! Connection of an agent.

use std::sync::Arc;

use dormouse_protocol::SessionId;

use super::common::Common;

/// An agent's connection, as the roster knows it. Over stdio there is one for the whole life of the
/// process. The session ends when this is dropped.
pub(super) struct AgentSession {
    common: Arc<Common>,
    id: SessionId,
}

impl AgentSession {
    pub(super) fn begin(common: Arc<Common>) -> Self {
        let id = common.roster.begin_session();
        Self { common, id }
    }

    pub(super) fn id(&self) -> SessionId {
        self.id
    }
}

impl Drop for AgentSession {
    /// Drops everything that was kept for this agent.
    fn drop(&mut self) {
        self.common.end_session(self.id);
    }
}
