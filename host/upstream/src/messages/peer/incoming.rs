//! Messages of an upstream: each goes to whoever it is for.

use std::sync::Arc;

use dormouse_jsonrpc::{
    Envelope, MessageLimits, RequestId, Unreadable, items, without_half_characters,
};
use serde_json::value::RawValue;

use super::Peer;
use crate::Failure;
use crate::http::reading_error;
use crate::messages::channel::Lost;
use crate::messages::message::Refusal;
use crate::messages::oddity::Oddity;

impl Peer {
    /// Handles a message, or each one of a batch.
    pub(super) fn hear(self: &Arc<Self>, text: &str, about: Option<u64>) {
        let whole = without_half_characters(text);
        let text = whole.as_deref().unwrap_or(text);
        if !text.starts_with('[') {
            return self.hear_one(text, about);
        }
        self.odd(Oddity::Batch);
        let Ok(batch) = items(text, self.limits.batch_messages) else {
            return self.odd(Oddity::NoMessage);
        };
        if batch.left_out > 0 {
            self.odd(Oddity::LargeBatch);
        }
        for message in batch.items {
            self.hear_one(message, about);
        }
    }

    fn hear_one(self: &Arc<Self>, text: &str, about: Option<u64>) {
        let message = match Envelope::read(text, &MessageLimits::default()) {
            Ok(message) => message,
            Err(unreadable) => return self.unreadable(*unreadable),
        };
        let params = message.params.filter(|params| *params != "null");
        let method = message.method_name();
        match (method, message.id.clone().filter(|id| !id.is_null())) {
            (Some(method), Some(id)) => self.asked(&method, params, id, about),
            (Some(method), None) => self.told(&method, params, about),
            (None, _) if message.method.is_some() => self.odd(Oddity::NoMessage),
            (None, _) => self.answered(&message),
        }
    }

    /// Ends the wait for a message that cannot be read, on either side.
    fn unreadable(self: &Arc<Self>, message: Unreadable<'_>) {
        let why = message.error;
        self.odd(Oddity::Unreadable);
        let shown = self.secrets.redact(&why.to_string());
        tracing::debug!(
            "server `{}`: a message cannot be read: {shown}",
            self.server
        );
        if !message.has_method {
            let id = message.id.as_ref().and_then(RequestId::number);
            if let Some(waiting) = id.and_then(|id| self.pending.lock().waiting.remove(&id)) {
                let why = format!("its answer cannot be read: {}", reading_error(&shown));
                let _ = waiting.answer.send(Err(Lost::Broken(why).into()));
            }
        } else if message.has_id
            && let Ok(place) = Arc::clone(&self.replies).try_acquire_owned()
        {
            let peer = Arc::clone(self);
            // An id that nobody knows is said to be none.
            let id = message.id.unwrap_or(RequestId::new("null")).into_owned();
            tokio::spawn(async move {
                peer.reply(&id, Err((why.code(), why.to_string()))).await;
                drop(place);
            });
        }
    }

    fn answered(&self, message: &Envelope<'_>) {
        let id = message.id.as_ref().and_then(RequestId::number);
        let waiting = id.and_then(|id| self.pending.lock().waiting.remove(&id));
        let Some(waiting) = waiting else {
            // A slow one may have had no time to hear that it is cancelled.
            return match id.is_some_and(|id| self.callers.take_given_up(id)) {
                true => {}
                false => self.odd(Oddity::UnknownId),
            };
        };
        let some = |part: Option<&'_ str>| part.filter(|part| *part != "null").map(str::to_owned);
        let answer = match (some(message.result), some(message.error)) {
            // It was read as a part of the message.
            (Some(result), _) => RawValue::from_string(result)
                .map_err(|error| Lost::Broken(error.to_string()).into()),
            (None, Some(error)) => {
                let refusal = Refusal::read(&error).without(&self.secrets);
                if let Some(listener) = &waiting.listener {
                    self.note_pages(&refusal, listener);
                }
                Err(Failure::Refused(refusal))
            }
            (None, None) => {
                let why = "it has answered with neither a result nor an error".to_owned();
                Err(Lost::Broken(why).into())
            }
        };
        // Whoever asked may have gone.
        let _ = waiting.answer.send(answer);
    }
}
