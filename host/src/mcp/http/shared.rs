//! State that all agents of one server share.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::mcp::common::Common;
use crate::mcp::server::Host;
use crate::mcp::session::Session;

/// State that all agents of one server share.
pub(super) struct Shared {
    common: Arc<Common>,
    /// Host for all requests of the stateless era: none of them belongs to a session.
    pub(super) stateless: Arc<Host>,
    /// Cancelled to end running calls.
    pub(super) ending: CancellationToken,
    /// Cancelled to end requests that wait for changes.
    pub(super) closed: CancellationToken,
}

impl Shared {
    pub(super) fn new(common: Arc<Common>) -> Self {
        let (closed, ending) = (CancellationToken::new(), CancellationToken::new());
        let stateless = Host::new(common.clone(), None, closed.clone(), ending.clone());
        let stateless = stateless.among_others();
        Self {
            common,
            stateless: Arc::new(stateless),
            ending,
            closed,
        }
    }

    /// Begins a session, and makes the host for it.
    pub(super) fn host_of_session(&self) -> (Session, Host) {
        let session = Session::begin(self.common.clone());
        let closed = self.closed.child_token();
        let common = self.common.clone();
        let host = Host::new(common, Some(session.id()), closed, self.ending.clone());
        (session, host.among_others())
    }

    /// The input schema of a tool some of whose arguments go into headers.
    pub(super) fn schema(&self, name: &str) -> Option<Arc<JsonObject>> {
        #[derive(Deserialize)]
        struct Declared {
            #[serde(rename = "inputSchema")]
            input_schema: JsonObject,
        }
        let snapshot = self.common.roster.snapshot();
        let tool = snapshot.find(name)?.declared()?.tool.get();
        // Hardly any tool has such arguments, and a schema is long.
        if !tool.contains("x-mcp-header") {
            return None;
        }
        let declared: Declared = serde_json::from_str(tool).ok()?;
        Some(Arc::new(declared.input_schema))
    }
}
