//! Requests to an upstream, each until it has an answer.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use dormouse_jsonrpc::{Object, ObjectError};
use dormouse_protocol::Listener;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Peer;
use crate::Failure;
use crate::messages::channel::{Lost, Outgoing};
use crate::messages::large::without_blocking;
use crate::messages::message;
use crate::opening::introduction::{MODERN, us};

/// Time to wait for the reason for which a child takes no more input.
const EXIT_REASON_TIMEOUT: Duration = Duration::from_secs(1);

/// Time that a message that nobody waits for may take to be sent.
pub(crate) const SEND_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(super) struct PendingRequests {
    pub(super) next: u64,
    pub(super) waiting: HashMap<u64, PendingRequest>,
    /// Reason for which there will be no answer any more.
    pub(super) ended: Option<String>,
}

pub(super) struct PendingRequest {
    pub(super) answer: oneshot::Sender<Result<Box<RawValue>, Failure>>,
    pub(super) listener: Option<Arc<dyn Listener>>,
}

impl Peer {
    /// Sends a request and waits for the answer. Dropped before that, it tells the upstream that
    /// nobody waits any more.
    pub(crate) async fn request(
        self: &Arc<Self>,
        method: &str,
        params: &str,
        listener: Option<&Arc<dyn Listener>>,
    ) -> Result<Box<RawValue>, Failure> {
        let (answer, mut answered) = oneshot::channel();
        let id = {
            let mut pending = self.pending.lock();
            if let Some(why) = &pending.ended {
                return Err(Lost::Broken(why.clone()).into());
            }
            pending.next += 1;
            let id = pending.next;
            let listener = listener.cloned();
            pending
                .waiting
                .insert(id, PendingRequest { answer, listener });
            id
        };
        let _unanswered = Unanswered {
            peer: self,
            id,
            // Neither may be taken back.
            quiet: matches!(method, "initialize" | "server/discover"),
        };
        let (text, name) = without_blocking(params.len(), || {
            let (params, name) = self.params(id, params, listener)?;
            let text = dormouse_jsonrpc::request(&id.to_string(), method, Some(&params));
            Ok::<_, Failure>((text, name))
        })?;
        let mut sending = self.sender.send(Outgoing {
            text,
            method: Some(method.to_owned()),
            id: Some(id),
            name,
            version: self.version(),
        });
        // Over HTTP the answer can be there before all has been sent.
        let mut sent = false;
        loop {
            tokio::select! {
                biased;
                answer = &mut answered => {
                    let gone = || Err(Lost::Broken("the connection has ended".into()).into());
                    return answer.unwrap_or_else(|_| gone());
                }
                result = &mut sending, if !sent => {
                    sent = true;
                    match result {
                        Ok(()) => {}
                        // A child that takes no more usually says why in a moment. One
                        // that lives on can still answer what it has taken before, but
                        // is asked nothing any more.
                        Err(Lost::Broken(why)) if self.sender.pid().is_some() => {
                            let last = tokio::time::timeout(EXIT_REASON_TIMEOUT, self.over.cancelled());
                            let why = last.await.map_or(why, |()| self.sender.end_reason());
                            self.pending.lock().ended.get_or_insert_with(|| why.clone());
                            return Err(Lost::Broken(why).into());
                        }
                        Err(lost) => return Err(lost.into()),
                    }
                }
            }
        }
    }

    /// Returns the parameters of a request with the `_meta` that has to be added to them, and the
    /// name or URI that the request is about.
    fn params(
        &self,
        id: u64,
        params: &str,
        listener: Option<&Arc<dyn Listener>>,
    ) -> Result<(String, Option<String>), Failure> {
        let unreadable = |error: ObjectError| {
            Lost::Broken(format!(
                "the parameters of the request cannot be sent: {error}"
            ))
        };
        let mut params = Object::read(params).map_err(unreadable)?;
        let theirs = listener.map(|listener| listener.meta()).unwrap_or_default();
        let text = |(name, value): (&'static str, Value)| (name, value.to_string());
        // What an agent says counts, whatever a component has written in its place.
        if !theirs.is_empty() {
            let theirs = theirs.iter();
            let theirs = theirs.map(|(name, value)| (name.as_str(), value.to_string()));
            let merged = params.extend("_meta", theirs);
            merged.map_err(unreadable)?;
        }
        let ours = self.meta(id, listener);
        if !ours.is_empty() {
            let merged = params.extend("_meta", ours.into_iter().map(text));
            merged.map_err(unreadable)?;
        }
        let name = params.string("name").or_else(|| params.string("uri"));
        Ok((params.into_text().into_owned(), name))
    }

    /// Returns the `_meta` of a request: its progress token and, since versions are no longer
    /// agreed on beforehand, the version and the client.
    fn meta(&self, id: u64, listener: Option<&Arc<dyn Listener>>) -> Vec<(&'static str, Value)> {
        let mut meta = Vec::new();
        if listener.is_some() {
            meta.push(("progressToken", json!(id)));
        }
        if self.is_modern() {
            let capabilities = match listener {
                Some(listener) => listener.declared(),
                None => self.introduction.capabilities.clone(),
            };
            meta.extend([
                ("io.modelcontextprotocol/protocolVersion", json!(MODERN)),
                ("io.modelcontextprotocol/clientInfo", us()),
                (
                    "io.modelcontextprotocol/clientCapabilities",
                    json!(capabilities),
                ),
            ]);
            let level = listener.and_then(|listener| listener.level());
            meta.extend(level.map(|level| ("io.modelcontextprotocol/logLevel", json!(level))));
        }
        meta
    }
}

/// A request, until it has an answer.
struct Unanswered<'a> {
    peer: &'a Arc<Peer>,
    id: u64,
    quiet: bool,
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        // Dropped while its call still is among the callers.
        let waiting = self.peer.pending.lock().waiting.remove(&self.id);
        if let Some(waiting) = &waiting {
            let listener = waiting.listener.as_ref();
            self.peer.callers.give_up(self.id, listener);
        }
        if waiting.is_none() || self.quiet || self.peer.over.is_cancelled() {
            return;
        }
        let params = message::params([
            ("requestId", json!(self.id)),
            ("reason", json!("nobody waits for the answer any more")),
        ]);
        let telling = self.peer.tell("notifications/cancelled", &params);
        // Outside of a runtime there is nobody left to tell.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            // One that has gone, or that hears nothing, needs no telling.
            runtime.spawn(tokio::time::timeout(SEND_TIMEOUT, telling));
        }
    }
}
