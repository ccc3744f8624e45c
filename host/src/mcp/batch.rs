//! Requests that come together, in one array, and whose answers go back together. The
//! revision 2025-03-26 has that, and none before or after it.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::{JsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult};
use serde_json::value::RawValue;

/// The batches whose answers are not all there yet.
#[derive(Default)]
pub(super) struct Batches {
    /// Whether the revision that was agreed on has them.
    taken: AtomicBool,
    waiting: Mutex<Vec<Batch>>,
}

/// One of them.
#[derive(Default)]
pub(super) struct Batch {
    /// Its requests that have no answer yet.
    pub(super) open: HashSet<RequestId>,
    /// The answers, as JSON.
    pub(super) answers: Vec<Vec<u8>>,
}

impl Batch {
    /// All answers as one line, if none is missing and there is any.
    fn line(&self) -> Option<Vec<u8>> {
        let is_whole = self.open.is_empty() && !self.answers.is_empty();
        is_whole.then(|| [b"[", &*self.answers.join(&b','), b"]\n"].concat())
    }
}

impl Batches {
    /// Takes note of what is on its way out.
    pub(super) fn agreed(&self, message: &ServerJsonRpcMessage) {
        if let JsonRpcMessage::Response(response) = message
            && let ServerResult::InitializeResult(result) = &response.result
        {
            let taken = result.protocol_version == ProtocolVersion::V_2025_03_26;
            self.taken.store(taken, Ordering::Relaxed);
        }
    }

    /// The messages of a batch, if a line is one.
    pub(super) fn messages(&self, line: &str) -> Option<Vec<String>> {
        let may_be = self.taken.load(Ordering::Relaxed) && line.trim_start().starts_with('[');
        let messages = may_be.then(|| serde_json::from_str::<Vec<&RawValue>>(line).ok())??;
        // JSON-RPC has none without messages.
        let messages = (!messages.is_empty()).then_some(messages)?;
        Some(messages.iter().map(|one| one.get().to_owned()).collect())
    }

    /// Waits for the answers of a batch. Gives the line that they are, if none is
    /// missing.
    pub(super) fn wait(&self, batch: Batch) -> Option<Vec<u8>> {
        let line = batch.line();
        if !batch.open.is_empty() {
            self.waiting().push(batch);
        }
        line
    }

    /// The request of a batch that a message answers.
    pub(super) fn request(&self, message: &ServerJsonRpcMessage) -> Option<RequestId> {
        let id = match message {
            JsonRpcMessage::Response(response) => &response.id,
            JsonRpcMessage::Error(error) => error.id.as_ref()?,
            _ => return None,
        };
        let waiting = self.waiting();
        let asked = waiting.iter().any(|batch| batch.open.contains(id));
        asked.then(|| id.clone())
    }

    /// Keeps the answer to a request, or that there will be none. Gives the line that
    /// all of them are, if none is missing any more.
    pub(super) fn ended(&self, id: &RequestId, answer: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let mut waiting = self.waiting();
        let place = waiting.iter().position(|batch| batch.open.contains(id))?;
        let batch = waiting.get_mut(place)?;
        batch.open.remove(id);
        batch.answers.extend(answer);
        if !batch.open.is_empty() {
            return None;
        }
        waiting.swap_remove(place).line()
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Batch>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
