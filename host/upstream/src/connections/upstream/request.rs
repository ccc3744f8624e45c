//! Requests to an upstream, over one of its connections.

use std::sync::Arc;

use dormouse_protocol::{Listener, SessionId};
use tokio::time::Instant;

use super::Upstream;
use crate::Failure;
use crate::connections::connection::Connection;
use crate::connections::connection_handle::ConnectionHandle;
use crate::connections::links::LinkStage;
use crate::messages::channel::Lost;
use crate::messages::forwarded_request::ForwardedRequest;
use crate::messages::message::HEADER_MISMATCH;

impl Upstream {
    /// Sends the upstream a request, over one of its connections.
    ///
    /// # Errors
    /// The upstream policy does not let it through, the upstream refuses, or it is lost.
    pub async fn request(
        &self,
        session: Option<SessionId>,
        handle: ConnectionHandle,
        request: &ForwardedRequest<'_>,
        listener: &Arc<dyn Listener>,
    ) -> Result<String, Failure> {
        let of = (request.method, request.name.as_deref());
        let attempt = |connection: Arc<Connection>| async move {
            connection
                .request(session, listener, of, request.params)
                .await
        };
        let mut answer = attempt(Arc::clone(&handle.connection)).await;
        let again = match &answer {
            Err(Failure::Lost(Lost::Session)) => {
                self.forget(&handle.connection);
                true
            }
            // It wants other arguments in headers than its list has named, so that has
            // changed since, and whoever sees it anew may ask again (MCP 2026-07-28).
            Err(Failure::Refused(refusal)) if refusal.code == HEADER_MISMATCH => {
                let refused = Instant::now();
                let is_older = |listed: Option<Instant>| listed.is_none_or(|at| at < refused);
                handle.connection.learn(is_older).await.is_ok()
            }
            // It may let everybody look, and want to know who does something.
            Err(Failure::Lost(Lost::Auth { challenge })) => {
                self.shut_out(&handle.connection, challenge);
                true
            }
            _ => false,
        };
        if again {
            // Its place may be the last one that there is.
            drop(handle);
            if let Err(Failure::Lost(Lost::Auth { challenge })) = &answer {
                self.authorize(listener, challenge.as_deref()).await?;
            }
            let next = self.connect(session, listener).await?;
            answer = attempt(Arc::clone(&next.connection)).await;
            if let Err(Failure::Lost(Lost::Auth { challenge })) = &answer {
                self.shut_out(&next.connection, challenge);
            }
        }
        let server = &self.setup.server;
        let hint = || format!("call it again, or `dormouse restart {server}` first");
        let answer = answer.map_err(|failure| failure.with_hint(hint));
        answer.map(|result| String::from(Box::<str>::from(result)))
    }

    /// Notes that a connection is of no use before its user logs in.
    fn shut_out(&self, connection: &Arc<Connection>, challenge: &Option<String>) {
        self.state.lock().failures.shut_out(challenge.clone());
        self.forget(connection);
    }

    fn forget(&self, gone: &Arc<Connection>) {
        self.state.lock().links.retain(
            |link| !matches!(&link.stage, LinkStage::Open(known) if Arc::ptr_eq(known, gone)),
        );
    }
}
