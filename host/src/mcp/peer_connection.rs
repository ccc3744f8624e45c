//! Connection to a client that rmcp holds.

use dormouse_protocol::{Answer, AskError, Question};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, CustomNotification, GetExtensions as _,
    RequestId, ServerNotification, ServerRequest,
};
use rmcp::service::{OriginatingRequestId, Peer, PeerRequestOptions, ServiceError};
use serde_json::json;

use super::client_connection::{ClientConnection, Disconnected, Notification};
use super::verbatim;

/// Connection to a client that rmcp holds.
#[derive(Clone)]
pub(super) struct PeerConnection {
    peer: Peer<RoleServer>,
    /// Request of the client that all belongs to which is sent; none where it belongs to no
    /// request. Over HTTP it goes out on the stream of that request.
    request: Option<RequestId>,
}

impl PeerConnection {
    pub(super) fn new(peer: &Peer<RoleServer>, request: Option<RequestId>) -> Self {
        Self {
            peer: peer.clone(),
            request,
        }
    }

    fn origin(&self) -> Option<OriginatingRequestId> {
        self.request.clone().map(OriginatingRequestId)
    }
}

impl ClientConnection for PeerConnection {
    fn notify(&self, notification: Notification) -> BoxFuture<'_, Result<(), Disconnected>> {
        let mut sent = of_rmcp(notification);
        if let Some(origin) = self.origin() {
            sent.extensions_mut().insert(origin);
        }
        let sent = self.peer.send_notification(sent);
        async move { sent.await.map_err(|_| Disconnected) }.boxed()
    }

    fn request<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, AskError>> {
        let failed = |error| match error {
            ServiceError::McpError(error) => AskError::Failed(format!(
                "the client refuses `{}`: {}",
                question.method(),
                error.message
            )),
            other => AskError::Failed(other.to_string()),
        };
        async move {
            let request = ServerRequest::CustomRequest(verbatim::question(question));
            let options = PeerRequestOptions::no_options();
            let handle = self.peer.send_cancellable_request(request, options).await;
            let handle = handle.map_err(failed)?;
            let unanswered = Unanswered::new(self, &handle.id);
            let response = handle.await_response().await;
            unanswered.answered();
            verbatim::answer(response.map_err(failed)?).map_err(AskError::Failed)
        }
        .boxed()
    }
}

/// Returns a notification in the form that rmcp takes. It would write `null` for the parameters of
/// one that has none, unless it knows its method.
fn of_rmcp(Notification { method, params }: Notification) -> ServerNotification {
    let known = || serde_json::from_value(json!({ "method": method })).ok();
    match params.is_empty().then(known).flatten() {
        Some(known) => known,
        None => CustomNotification::new(method, Some(params.into())).into(),
    }
}

/// Tells a client that its answer is not wanted any more, when dropped too early.
struct Unanswered(Option<(PeerConnection, RequestId)>);

impl Unanswered {
    fn new(connection: &PeerConnection, id: &RequestId) -> Self {
        Self(Some((connection.clone(), id.clone())))
    }

    fn answered(mut self) {
        self.0 = None;
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        if let Some((connection, id)) = self.0.take() {
            let reason = "nobody waits for the answer any more".to_owned();
            let params = CancelledNotificationParam::new(Some(id), Some(reason));
            let mut cancelled = CancelledNotification::new(params);
            if let Some(origin) = connection.origin() {
                cancelled.extensions.insert(origin);
            }
            tokio::spawn(async move {
                // A client that has gone needs no telling.
                let _ = connection.peer.send_notification(cancelled.into()).await;
            });
        }
    }
}
