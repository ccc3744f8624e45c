//! Agent of a session: its host, what was agreed on with it, and the messages to it.

use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::{Implementation, InitializeRequestParams, InitializeResult, ProtocolVersion};

use super::budget::SessionsBudget;
use super::session::HttpSession;
use crate::mcp;
use crate::mcp::http::answers::answer_room::AnswerRoom;
use crate::mcp::lifecycle::Agreed;
use crate::mcp::messages::client_message::ClientNotification;
use crate::mcp::messages::request_context::name_with_version;
use crate::mcp::server::Host;

/// Agent of a session.
pub(in super::super) struct Agent {
    pub(in super::super) session: Arc<HttpSession>,
    pub(in super::super) host: Arc<Host>,
    /// Parameters of the client's handshake.
    said: Mutex<Arc<InitializeRequestParams>>,
    /// Name of the client, with its version.
    pub(super) client: String,
    /// The session as the roster knows it, until it ends.
    known: Mutex<Option<mcp::session::AgentSession>>,
}

/// Returns the name of a client, with its version.
pub(super) fn name_of(client: &Implementation) -> String {
    name_with_version(&client.name, &client.version)
}

impl Agent {
    /// Makes the agent of a handshake, with the answer to that: of a session as the roster knows it,
    /// with the host for it.
    pub(super) fn new(
        (known, host): (mcp::session::AgentSession, Host),
        mut said: InitializeRequestParams,
        budget: Arc<SessionsBudget>,
        answers: &Arc<AnswerRoom>,
    ) -> (Arc<Self>, InitializeResult) {
        let result = host.initialize(&said);
        said.protocol_version = result.protocol_version.clone();
        let client = name_of(&said.client_info);
        let room = answers.of_client(client.clone());
        let agent = Self {
            session: HttpSession::new(&result.protocol_version, budget, room),
            host: Arc::new(host),
            client,
            said: Mutex::new(Arc::new(said)),
            known: Mutex::new(Some(known)),
        };
        (Arc::new(agent), result)
    }

    /// Shakes hands once more.
    pub(in super::super) fn initialize(
        &self,
        mut said: InitializeRequestParams,
    ) -> InitializeResult {
        let result = self.host.initialize(&said);
        said.protocol_version = result.protocol_version.clone();
        self.session.agree(&result.protocol_version);
        *self.said.lock() = Arc::new(said);
        result
    }

    /// Returns what was agreed on.
    pub(in super::super) fn agreed(&self) -> Agreed {
        Agreed::Handshake(self.said.lock().clone())
    }

    /// The version of the protocol that was agreed on.
    pub(in super::super) fn version(&self) -> ProtocolVersion {
        self.said.lock().protocol_version.clone()
    }

    /// Deals with a notification of the client.
    pub(in super::super) fn notified(&self, notification: &ClientNotification) {
        match notification {
            ClientNotification::Initialized => {
                let said = self.said.lock().clone();
                let connection = Arc::new(self.session.connection());
                self.host.initialized(connection, &said);
            }
            ClientNotification::Cancelled(request) => {
                self.session.cancel(request);
                self.host.cancelled(request);
            }
            ClientNotification::RootsChanged => self.host.roots_changed(),
        }
    }

    /// Ends the session, and drops everything that was kept for it.
    pub(super) fn end(&self) {
        self.session.end();
        self.host.closed.cancel();
        drop(self.known.lock().take());
    }
}
