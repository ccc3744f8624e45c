//! Requests that have no answer yet.

use std::collections::HashSet;

use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use tokio::sync::Notify;

use super::incoming::Incoming;

/// Ids of the requests that have no answer yet.
#[derive(Default)]
pub(super) struct Open {
    ids: Mutex<HashSet<RequestId>>,
    ended: Notify,
}

impl Open {
    /// Refuses a request whose id is that of another open request: rmcp would answer only one of
    /// the two, and the client could not tell which.
    pub(super) fn checked(&self, incoming: Incoming) -> Incoming {
        let Incoming::Message(message) = &incoming else {
            return incoming;
        };
        match &**message {
            JsonRpcMessage::Request(request) if !self.ids.lock().insert(request.id.clone()) => {
                let id = request.id.clone();
                let why = format!("the id `{id}` is that of a request without an answer yet");
                Incoming::Refused(Some(id), ErrorData::invalid_request(why, None))
            }
            JsonRpcMessage::Notification(notification) => {
                // Such a request gets no answer.
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.end(id);
                }
                incoming
            }
            _ => incoming,
        }
    }

    /// Notes the answers among outgoing messages.
    pub(super) fn answered(&self, message: &ServerJsonRpcMessage) {
        match message {
            JsonRpcMessage::Response(response) => self.end(&response.id),
            JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| self.end(id)),
            _ => {}
        }
    }

    /// Waits until all requests but one have an answer, or are cancelled.
    pub(super) async fn all_but(&self, last: &RequestId) {
        while self.ids.lock().iter().any(|id| id != last) {
            self.ended.notified().await;
        }
    }

    /// Returns the number of requests that have no answer yet.
    pub(super) fn len(&self) -> usize {
        self.ids.lock().len()
    }

    fn end(&self, id: &RequestId) {
        self.ids.lock().remove(id);
        self.ended.notify_one();
    }
}
