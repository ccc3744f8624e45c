//! A request, from its admission to its answer or its handover to rmcp.

use std::sync::Arc;

use rmcp::model::RequestId;
use tokio_util::sync::CancellationToken;

use super::session::{Session, SessionInfo};

/// A request that is the only one of its id. Dropped, it is forgotten, unless rmcp has it by then.
pub(in super::super) struct ClaimedRequestId {
    /// The host as the session has it, if the handshake is over.
    pub(in super::super) known: Option<Arc<SessionInfo>>,
    /// Cancelled when the client wants no answer any more.
    pub(in super::super) cancel: CancellationToken,
    pub(super) session: Arc<Session>,
    pub(super) request: RequestId,
    pub(super) number: u64,
}

impl ClaimedRequestId {
    /// The host as the session has it, if that is of this version of the protocol.
    pub(in super::super) fn known(&self, version: Option<&str>) -> Option<&Arc<SessionInfo>> {
        let known = self.known.as_ref()?;
        let same = version.is_none_or(|version| version == known.version.as_str());
        same.then_some(known)
    }

    /// Returns the name of the session's client: as much of it as tells clients apart.
    pub(in super::super) fn client(&self) -> String {
        const MAX_NAME_BYTES: usize = 128;
        let mut name = self.session.client().unwrap_or_default();
        name.truncate(name.floor_char_boundary(MAX_NAME_BYTES));
        name
    }
}

impl Drop for ClaimedRequestId {
    fn drop(&mut self) {
        self.session.release(&self.request, self.number);
    }
}
