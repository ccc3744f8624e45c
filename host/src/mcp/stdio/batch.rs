//! Batches: requests that come together, in one array, and whose answers go back together. Only the
//! revision 2025-03-26 has them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use dormouse_jsonrpc::items;
use parking_lot::Mutex;
use rmcp::model::{ProtocolVersion, RequestId};

use crate::mcp::client::client_log;
use crate::mcp::messages::error_object::ErrorObject;

/// Most messages of a batch.
pub(in crate::mcp) const MAX_BATCH_MESSAGES: usize = 1000;

/// Most bytes of the answers to one batch. Behind as many, the others are errors that say so.
const MAX_ANSWER_BYTES: usize = 32 << 20;

/// Most bytes of the answers of all batches together while others of theirs are missing.
const MAX_WAITING_BYTES: usize = 4 * MAX_ANSWER_BYTES;

/// Answers up to that length, in bytes, may wait in any case.
const SHORT_BYTES: usize = 4 << 10;

/// The batches whose answers are not all there yet.
#[derive(Default)]
pub(super) struct Batches {
    /// Whether the revision that was agreed on has batches.
    taken: AtomicBool,
    waiting: Mutex<WaitingMessages>,
}

#[derive(Default)]
struct WaitingMessages {
    next: u64,
    batches: HashMap<u64, StdioBatch>,
    /// Length of the answers that are there, in bytes.
    bytes: usize,
    /// The batch of each request that has no answer yet.
    requests: HashMap<RequestId, u64>,
}

/// Batch whose answers are not all there yet.
#[derive(Default)]
pub(super) struct StdioBatch {
    /// Its requests that have no answer yet.
    open: HashSet<RequestId>,
    /// The answers, as JSON.
    answers: Vec<Vec<u8>>,
    bytes: usize,
}

impl StdioBatch {
    /// Adds a request, which is to be answered.
    pub(super) fn request(&mut self, id: RequestId) {
        self.open.insert(id);
    }

    /// Adds an answer.
    pub(super) fn answer(&mut self, id: Option<&RequestId>, answer: Vec<u8>) {
        let bytes = self.bytes.saturating_add(answer.len());
        if bytes <= MAX_ANSWER_BYTES {
            self.bytes = bytes;
            self.answers.push(answer);
            return;
        }
        client_log::warn(&format!(
            "the answers to a batch have more than {MAX_ANSWER_BYTES} bytes"
        ));
        let why = format!(
            "the answers to this batch have more than {MAX_ANSWER_BYTES} bytes: send fewer \
             requests together"
        );
        self.refuse(id, why);
    }

    /// Adds an error instead of an answer.
    fn refuse(&mut self, id: Option<&RequestId>, why: impl Into<Cow<'static, str>>) {
        let error = ErrorObject::invalid_request(why);
        self.answers.push(error.to_message(id));
    }

    /// Returns all answers as one text, if none is missing and there is any.
    fn joined(&self) -> Option<Vec<u8>> {
        let is_whole = self.open.is_empty() && !self.answers.is_empty();
        is_whole.then(|| [b"[", &*self.answers.join(&b','), b"]"].concat())
    }
}

impl Batches {
    /// Notes the version that was agreed on.
    pub(super) fn agreed(&self, version: &ProtocolVersion) {
        let taken = *version == ProtocolVersion::V_2025_03_26;
        self.taken.store(taken, Ordering::Relaxed);
    }

    /// Returns the messages of a batch, if the array in a line is one.
    ///
    /// # Errors
    /// There are too many of them.
    pub(super) fn messages(&self, line: &str) -> Option<Result<Vec<String>, ErrorObject>> {
        let may_be = self.taken.load(Ordering::Relaxed);
        let found = may_be.then(|| items(line, MAX_BATCH_MESSAGES).ok())??;
        // JSON-RPC has none without messages.
        if found.items.is_empty() {
            return None;
        }
        if found.left_out > 0 {
            let messages = found.items.len() + found.left_out;
            let why = format!("a batch has at most {MAX_BATCH_MESSAGES} messages, not {messages}");
            return Some(Err(ErrorObject::invalid_request(why)));
        }
        Some(Ok(found.items.into_iter().map(str::to_owned).collect()))
    }

    /// Waits for the answers of a batch. Returns them as one text, if none is missing.
    pub(super) fn wait(&self, batch: StdioBatch) -> Option<Vec<u8>> {
        let answers = batch.joined();
        if !batch.open.is_empty() {
            let mut waiting = self.waiting.lock();
            let number = waiting.next;
            waiting.next += 1;
            for id in &batch.open {
                waiting.requests.insert(id.clone(), number);
            }
            waiting.bytes = waiting.bytes.saturating_add(batch.bytes);
            waiting.batches.insert(number, batch);
        }
        answers
    }

    /// Whether a request came in a batch whose answers are not all there yet.
    pub(super) fn has(&self, request: &RequestId) -> bool {
        self.waiting.lock().requests.contains_key(request)
    }

    /// Keeps the answer to a request, or notes that there will be none. Returns all answers as one
    /// text, if none is missing any more.
    pub(super) fn ended(&self, id: &RequestId, answer: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let mut waiting = self.waiting.lock();
        let waiting = &mut *waiting;
        let number = waiting.requests.remove(id)?;
        let batch = waiting.batches.get_mut(&number)?;
        batch.open.remove(id);
        let before = batch.bytes;
        match answer {
            Some(answer)
                if answer.len() > SHORT_BYTES
                    && waiting.bytes.saturating_add(answer.len()) > MAX_WAITING_BYTES =>
            {
                client_log::warn("too many answers of batches wait for others of theirs");
                batch.refuse(
                    Some(id),
                    "too many long answers of batches wait for others of theirs: send fewer \
                     requests together",
                );
            }
            Some(answer) => batch.answer(Some(id), answer),
            None => {}
        }
        waiting.bytes += batch.bytes - before;
        if !batch.open.is_empty() {
            return None;
        }
        let batch = waiting.batches.remove(&number)?;
        waiting.bytes = waiting.bytes.saturating_sub(batch.bytes);
        batch.joined()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_wait_for_others_have_a_limit_together() {
        let batches = Batches::default();
        let id = |batch: usize, request: usize| RequestId::Number((batch * 2 + request) as i64);
        for number in 0..6 {
            let mut batch = StdioBatch::default();
            batch.request(id(number, 0));
            batch.request(id(number, 1));
            assert_eq!(batches.wait(batch), None);
            let long = vec![b'7'; MAX_ANSWER_BYTES - 1024];
            assert_eq!(batches.ended(&id(number, 0), Some(long)), None);
        }
        let lines: Vec<_> = (0..6)
            .filter_map(|number| batches.ended(&id(number, 1), Some(b"7".to_vec())))
            .collect();
        let long = lines.iter().filter(|line| line.len() > 1024);
        assert_eq!((lines.len(), long.count()), (6, 4));
        assert_eq!(batches.waiting.lock().bytes, 0);
    }

    #[test]
    fn batches_are_taken_apart_and_answered_in_linear_time() {
        let ping = |id: usize| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let batch = |size: usize| (0..size).map(ping).collect::<Vec<_>>().join(",");
        let batches = Batches::default();
        batches.taken.store(true, Ordering::Relaxed);
        // What is behind the last that is taken is counted, too.
        for (what, size) in [("messages", 60), ("far too many", 2_000)] {
            let text = |size: usize| format!("[{}]", batch(size));
            dormouse_tests::growth::is_linear(what, size, text, |text: &String| {
                std::hint::black_box(batches.messages(text).unwrap().is_ok());
            });
        }
        let ids = |size: usize| (0..size as i64).map(RequestId::Number).collect::<Vec<_>>();
        dormouse_tests::growth::is_linear("answers", 500, ids, |ids: &Vec<RequestId>| {
            let mut batch = StdioBatch::default();
            ids.iter().for_each(|id| batch.request(id.clone()));
            assert_eq!(batches.wait(batch), None);
            let lines = ids
                .iter()
                .filter_map(|id| batches.ended(id, Some(b"{}".to_vec())));
            assert_eq!(lines.count(), 1);
        });
    }
}
