//! A session as rmcp's service has it.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;

use super::session::Session;

/// Transport between rmcp's service and a session. Dropped, it ends the session.
pub(in super::super) struct Pipe {
    session: Arc<Session>,
    said: mpsc::Receiver<ClientJsonRpcMessage>,
}

impl Pipe {
    pub(super) fn new(session: Arc<Session>, said: mpsc::Receiver<ClientJsonRpcMessage>) -> Self {
        Self { session, said }
    }
}

impl Transport<RoleServer> for Pipe {
    type Error = Infallible;

    /// Sends at once, so that messages go out in the order of the calls.
    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        self.session.send(message);
        ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.said.recv().await
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        self.session.end();
        Ok(())
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.session.end();
    }
}
