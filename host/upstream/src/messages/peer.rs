//! JSON-RPC with one upstream: requests that wait for their answers, and incoming messages.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use dormouse_jsonrpc::{
    Envelope, MessageLimits, ObjectError, RequestId, Unreadable, items, without_half_characters,
};
use dormouse_policy::{LogBudget, UpstreamLimits};
use dormouse_protocol::{Answer, Listener, QuestionLimit, SessionId};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore, mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tracing::Level;

use super::channel::{Lost, MessageSender, Outgoing, ReceivedMessage};
use super::large::without_blocking;
use super::message;
use super::message::Refusal;
use crate::connections::callers::{Callers, Nobody};
use crate::listing::list_changes::ListChanges;
use crate::opening::early_questions::EarlyQuestions;
use crate::opening::handshake::MODERN;
use crate::opening::introduction::Introduction;
use crate::server_secrets::ServerSecrets;
use crate::{Failure, UpstreamPolicy};

/// Most requests of an upstream that may wait for our answer.
const REPLIES: usize = 64;

/// Time to wait for the reason for which a child takes no more input.
const EXIT_REASON_TIMEOUT: Duration = Duration::from_secs(1);

/// Time that a message that nobody waits for may take to be sent.
pub(crate) const SEND_TIMEOUT: Duration = Duration::from_secs(5);

/// Other side of one connection.
pub(crate) struct Peer {
    pub(crate) server: String,
    /// Number of the connection, which no other one of this process has had.
    pub(crate) connection: u64,
    outlet: Arc<dyn MessageSender>,
    pub(crate) callers: Arc<Callers>,
    /// Introduction of the client that the connection was made for.
    pub(crate) introduction: Introduction,
    /// Upstream policy; none where an upstream is only asked what it offers.
    pub(crate) gate: Option<Arc<dyn UpstreamPolicy>>,
    pending: Mutex<Pending>,
    /// The protocol version that is spoken.
    version: Mutex<Option<String>>,
    /// Names of the tools that it has listed last; none before that.
    pub(crate) tools: Mutex<Option<BTreeSet<String>>>,
    /// URIs of the resources that it has listed first over this connection; none before that.
    pub(crate) first_resources: Mutex<Option<BTreeSet<String>>>,
    /// Changes of its lists that it has announced.
    pub(crate) list_changes: ListChanges,
    /// Notified when it acknowledges a request for announcements.
    pub(crate) acknowledged: Notify,
    /// Requests of it that have no answer yet, by the text of their ids.
    pub(crate) asked: Mutex<HashMap<String, OpenQuestion>>,
    /// Questions that it has asked before the first call.
    pub(crate) early: Arc<EarlyQuestions>,
    pub(crate) replies: Arc<Semaphore>,
    /// Room for its requests, in bytes.
    pub(crate) room: Arc<Semaphore>,
    pub(crate) limits: UpstreamLimits,
    /// Secrets that it knows, and may repeat.
    pub(crate) secrets: Arc<ServerSecrets>,
    /// Budget of what is logged about it.
    pub(crate) log: Arc<LogBudget>,
    pub(crate) questions: QuestionLimit,
    oddities: AtomicU32,
    /// Cancelled when the upstream can say nothing more.
    pub(crate) over: CancellationToken,
}

#[derive(Default)]
struct Pending {
    next: u64,
    waiting: HashMap<u64, PendingRequest>,
    /// Reason for which there will be no answer any more.
    ended: Option<String>,
}

/// Question that a client is asked.
pub(crate) struct OpenQuestion {
    /// Its method; none where nobody can be asked.
    pub(crate) method: Option<&'static str>,
    pub(crate) asking: AbortHandle,
}

struct PendingRequest {
    answer: oneshot::Sender<Result<Box<RawValue>, Failure>>,
    listener: Option<Arc<dyn Listener>>,
}

/// Behaviour that is allowed and odd: each kind is logged once for a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Oddity {
    NoMessage,
    Batch,
    UnknownId,
    Flood,
    TooMuchAsked,
    LargeBatch,
    Unreadable,
}

/// Limits of a connection, and the policy for what passes over it.
pub(crate) struct PeerPolicy {
    pub(crate) gate: Option<Arc<dyn UpstreamPolicy>>,
    pub(crate) limits: UpstreamLimits,
    pub(crate) secrets: Arc<ServerSecrets>,
    pub(crate) log: Arc<LogBudget>,
}

/// Clients that an upstream may ask, and how much at once.
pub(crate) struct Asking {
    pub(crate) callers: Arc<Callers>,
    pub(crate) introduction: Introduction,
    pub(crate) questions: QuestionLimit,
}

impl Oddity {
    fn text(self) -> &'static str {
        match self {
            Self::NoMessage => "says what is no message of JSON-RPC; that is ignored",
            Self::Batch => "sends several messages as one; they are taken apart",
            Self::UnknownId => "answers what nobody has asked, or twice; that is ignored",
            Self::Flood => "asks faster than it takes answers; some get none",
            Self::TooMuchAsked => {
                "asks with more bytes at once than its `limits.requests` allows; some are refused"
            }
            Self::LargeBatch => {
                "sends more messages as one than its `limits.batch` allows; the rest is ignored"
            }
            Self::Unreadable => {
                "sends a message that is nested too deeply, has a member twice or too many, or too \
                 long an id; that is refused"
            }
        }
    }
}

impl Peer {
    /// Creates a peer that handles incoming messages until no more come.
    pub(crate) fn new(
        server: &str,
        outlet: Arc<dyn MessageSender>,
        mut inlet: mpsc::Receiver<ReceivedMessage>,
        asking: Asking,
        policy: PeerPolicy,
    ) -> Arc<Self> {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        let peer = Arc::new(Self {
            server: server.to_owned(),
            connection: CONNECTIONS.fetch_add(1, Ordering::Relaxed),
            outlet,
            callers: asking.callers,
            introduction: asking.introduction,
            questions: asking.questions,
            gate: policy.gate,
            pending: Mutex::default(),
            version: Mutex::default(),
            tools: Mutex::default(),
            first_resources: Mutex::default(),
            list_changes: ListChanges::default(),
            acknowledged: Notify::new(),
            asked: Mutex::default(),
            early: Arc::default(),
            replies: Arc::new(Semaphore::new(REPLIES)),
            room: Arc::new(Semaphore::new(
                policy.limits.request_bytes.min(Semaphore::MAX_PERMITS),
            )),
            limits: policy.limits,
            secrets: policy.secrets,
            log: policy.log,
            oddities: AtomicU32::new(0),
            over: CancellationToken::new(),
        });
        let hearing = Arc::clone(&peer);
        tokio::spawn(async move {
            while let Some(said) = inlet.recv().await {
                let text = said.get();
                without_blocking(text.len(), || hearing.hear(text, said.about));
            }
            hearing.end();
        });
        peer
    }

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
        let mut sending = self.outlet.send(Outgoing {
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
                        Err(Lost::Broken(why)) if self.outlet.pid().is_some() => {
                            let last = tokio::time::timeout(EXIT_REASON_TIMEOUT, self.over.cancelled());
                            let why = last.await.map_or(why, |()| self.outlet.epitaph());
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
        let members = MessageLimits::default().members;
        let mut params = message::object(params).map_err(unreadable)?;
        let theirs = listener.map(|listener| listener.meta()).unwrap_or_default();
        let text = |(name, value): (&'static str, Value)| (name, value.to_string());
        if !theirs.is_empty() {
            let theirs = theirs.iter();
            let theirs = theirs.map(|(name, value)| (name.as_str(), value.to_string()));
            let merged = params.underlay("_meta", theirs, members);
            merged.map_err(unreadable)?;
        }
        let ours = self.meta(id, listener);
        if !ours.is_empty() {
            let merged = params.extend("_meta", ours.into_iter().map(text), members);
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
                (
                    "io.modelcontextprotocol/clientInfo",
                    crate::opening::handshake::us(),
                ),
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

    /// Returns the client of a session, where it can be told and asked something between its
    /// requests.
    pub(crate) fn client(&self, session: SessionId) -> Option<Arc<dyn Listener>> {
        self.gate.as_ref()?.client(session)
    }

    /// Returns the clients of all sessions that the connection belongs to.
    pub(crate) fn clients(&self) -> Vec<Arc<dyn Listener>> {
        let sessions = self.callers.sessions().into_iter();
        sessions
            .filter_map(|session| self.client(session))
            .collect()
    }

    /// Sends the upstream a notification.
    pub(crate) fn tell(&self, method: &str, params: &str) -> BoxFuture<'static, Result<(), Lost>> {
        self.outlet.send(Outgoing {
            text: dormouse_jsonrpc::notification(method, Some(params)),
            method: Some(method.to_owned()),
            id: None,
            name: None,
            version: self.version(),
        })
    }

    /// Answers a request of the upstream.
    pub(crate) async fn reply(&self, id: &RequestId<'_>, outcome: Result<Answer, (i64, String)>) {
        let text = match outcome {
            // What is text was read as JSON before.
            Ok(answer) => dormouse_jsonrpc::response(id.as_str(), &answer.into_text()),
            Err((code, why)) => dormouse_jsonrpc::error(id.as_str(), code, &why, None),
        };
        let sending = self.outlet.send(Outgoing {
            text,
            method: None,
            id: None,
            name: None,
            version: self.version(),
        });
        if let Err(lost) = sending.await {
            tracing::debug!("server `{}` cannot be answered: {lost}", self.server);
        }
    }

    /// Handles a message, or each one of a batch.
    fn hear(self: &Arc<Self>, text: &str, about: Option<u64>) {
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
                let why = format!("its answer cannot be read: {why}");
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

    /// Returns the listener of the request with this progress token.
    pub(crate) fn listener(&self, token: u64) -> Option<Arc<dyn Listener>> {
        self.pending.lock().waiting.get(&token)?.listener.clone()
    }

    /// Returns the listener that can be asked or told something: that of the request that it is
    /// about, or the last caller's where nothing says what it is about.
    pub(crate) fn whom(
        &self,
        about: Option<u64>,
        wanted: impl Fn(&dyn Listener) -> bool,
    ) -> Result<Arc<dyn Listener>, Nobody> {
        let Some(about) = about else {
            return self.callers.latest(wanted);
        };
        let pending = self.pending.lock();
        let waiting = pending.waiting.get(&about).ok_or(Nobody::GivenUp)?;
        let listener = waiting.listener.clone();
        drop(pending);
        match listener {
            Some(listener) if wanted(listener.as_ref()) => Ok(listener),
            Some(_) => Err(Nobody::Unable),
            // A request of Dormouse's own, for whoever calls.
            None => self.callers.latest(wanted),
        }
    }

    fn end(&self) {
        let why = self.outlet.epitaph();
        let waiting = {
            let mut pending = self.pending.lock();
            pending.ended = Some(why.clone());
            std::mem::take(&mut pending.waiting)
        };
        for (_, one) in waiting {
            let _ = one.answer.send(Err(Lost::Broken(why.clone()).into()));
        }
        for (_, question) in self.asked.lock().drain() {
            question.asking.abort();
        }
        self.over.cancel();
    }

    /// Returns the reason for which there will be no more answers, if so.
    pub(crate) fn ended(&self) -> Option<String> {
        self.pending.lock().ended.clone()
    }

    /// Logs odd behaviour, once.
    pub(crate) fn odd(&self, oddity: Oddity) {
        let bit = 1 << oddity as u32;
        if self.oddities.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            tracing::warn!("server `{}` {}", self.server, oddity.text());
        }
    }

    /// Logs something about the server that it can bring about again and again, unless that has
    /// happened too often of late.
    pub(crate) fn warn(&self, what: &str) {
        if tracing::enabled!(Level::WARN)
            && let Some(what) = self.log.take(&self.secrets.redact(what))
        {
            tracing::warn!("server `{}` {what}", self.server);
        }
    }

    /// Sets the protocol version that is spoken from now on.
    pub(crate) fn speak(&self, version: Option<&str>) {
        *self.version.lock() = version.map(str::to_owned);
    }

    fn version(&self) -> Option<String> {
        self.version.lock().clone()
    }

    /// Whether every request has to name its client.
    pub(crate) fn is_modern(&self) -> bool {
        self.version.lock().as_deref() == Some(MODERN)
    }

    /// Returns the method of a question that the client has not answered yet.
    pub(crate) fn open_question(&self) -> Option<&'static str> {
        self.asked
            .lock()
            .values()
            .find_map(|question| question.method)
    }

    /// Returns the state of the connection in words, for a caller that gives up on it.
    pub(crate) fn epitaph(&self) -> String {
        self.outlet.epitaph()
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
