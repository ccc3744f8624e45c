//! Connections as calls hold them.

use std::sync::Arc;

use super::callers::Calling;
use super::connection::Connection;
use crate::Failure;

/// A connection for one call, whose caller can be asked something from the moment that
/// it waits for the connection: some servers ask at once.
pub struct ConnectionHandle {
    pub(super) connection: Arc<Connection>,
    _calling: Option<Calling>,
}

impl ConnectionHandle {
    pub(super) fn new(connection: Arc<Connection>, calling: Option<Calling>) -> Self {
        Self {
            connection,
            _calling: calling,
        }
    }

    /// Waits until the tools of its upstream are known as of all changes that the upstream has announced
    /// until now, and `tool`, if there is one, as it is told over this connection.
    ///
    /// # Errors
    /// The upstream does not tell them.
    pub async fn tools_known(&self, tool: Option<&str>) -> Result<(), Failure> {
        self.connection.tools_known(tool).await
    }
}
