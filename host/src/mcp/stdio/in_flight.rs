//! Requests that have no answer yet.

use std::collections::HashMap;

use parking_lot::Mutex;
use rmcp::model::RequestId;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Requests of one client that have no answer yet, by their ids.
#[derive(Default)]
pub(super) struct InFlightRequests {
    requests: Mutex<HashMap<RequestId, CancellationToken>>,
    ended: Notify,
}

impl InFlightRequests {
    /// Adds a request. Returns what cancels it; none where another request with its id has no answer
    /// yet: the client could not tell which of the two an answer is for.
    pub(super) fn begin(&self, id: &RequestId) -> Option<CancellationToken> {
        let mut requests = self.requests.lock();
        if requests.contains_key(id) {
            return None;
        }
        let cancel = CancellationToken::new();
        requests.insert(id.clone(), cancel.clone());
        Some(cancel)
    }

    /// Removes a request that is answered. Returns false where it was cancelled: then its client wants
    /// no answer.
    pub(super) fn end(&self, id: &RequestId) -> bool {
        let ended = self.requests.lock().remove(id).is_some();
        self.ended.notify_one();
        ended
    }

    /// Cancels a request, which gets no answer.
    pub(super) fn cancel(&self, id: &RequestId) {
        let cancelled = self.requests.lock().remove(id);
        if let Some(cancel) = cancelled {
            cancel.cancel();
        }
        self.ended.notify_one();
    }

    /// Waits until all requests have an answer, or are cancelled.
    pub(super) async fn all_ended(&self) {
        while self.len() > 0 {
            self.ended.notified().await;
        }
    }

    /// Returns the number of requests that have no answer yet.
    pub(super) fn len(&self) -> usize {
        self.requests.lock().len()
    }
}
