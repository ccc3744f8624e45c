//! JSON-RPC with one upstream: requests that wait for their answers, and incoming messages.

mod admission;
mod incoming;
mod notifications;
mod open_questions;
mod questions;
mod requests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use dormouse_jsonrpc::{RequestId, member};
use dormouse_policy::{LogBudget, UpstreamLimits};
use dormouse_protocol::{Answer, Listener, QuestionLimit, SessionId};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Level;

pub(crate) use requests::SEND_TIMEOUT;

use open_questions::OpenQuestions;
use requests::PendingRequests;

use super::asked_pages::AskedPages;
use super::channel::{Lost, MessageSender, Outgoing, ReceivedMessage};
use super::large::{SHOWING_TIMES, is_large, without_blocking};
use super::oddity::Oddity;
use crate::UpstreamPolicy;
use crate::connections::callers::{Callers, Nobody};
use crate::listing::fetch_turns::FetchTurns;
use crate::listing::list_changes::ListChanges;
use crate::opening::early_questions::EarlyQuestions;
use crate::opening::introduction::{Introduction, MODERN};
use crate::server_secrets::ServerSecrets;

/// Most requests of an upstream that may wait for our answer.
const REPLIES: usize = 64;

/// Other side of one connection.
pub(crate) struct Peer {
    pub(crate) server: String,
    /// Number of the connection, which no other one of this process has had.
    pub(crate) connection: u64,
    sender: Arc<dyn MessageSender>,
    pub(crate) callers: Arc<Callers>,
    /// Introduction of the client that the connection was made for.
    pub(crate) introduction: Introduction,
    /// Upstream policy; none where an upstream is only asked what it offers.
    pub(crate) policy: Option<Arc<dyn UpstreamPolicy>>,
    pending: Mutex<PendingRequests>,
    /// The protocol version that is spoken.
    version: Mutex<Option<String>>,
    /// Names of the tools that it has listed last; none before that.
    pub(crate) tools: Mutex<Option<BTreeSet<String>>>,
    /// URIs of the resources that it has listed first over this connection; none before that.
    pub(crate) first_resources: Mutex<Option<BTreeSet<String>>>,
    /// Changes of its lists that it has announced.
    pub(crate) list_changes: ListChanges,
    /// Turns of its server's connections at fetching lists.
    pub(crate) fetch_turns: FetchTurns,
    /// Turn of the connection at fetching its lists again, with the time at which the last fetch was
    /// begun that was compared with what is known; none before one was.
    pub(crate) fetched: tokio::sync::Mutex<Option<Instant>>,
    /// Time that it may take to tell what it offers.
    pub(crate) patience: Duration,
    /// Notified when it acknowledges a request for announcements.
    pub(crate) acknowledged: Notify,
    /// Requests of it that have no answer yet.
    asked: Mutex<OpenQuestions>,
    /// Pages that it has asked clients to open.
    pages: Mutex<AskedPages>,
    /// Questions that it has asked before the first call.
    pub(crate) early: Arc<EarlyQuestions>,
    replies: Arc<Semaphore>,
    /// Room for its requests, in bytes.
    room: Arc<Semaphore>,
    pub(crate) limits: UpstreamLimits,
    /// Secrets that it knows, and may repeat.
    pub(crate) secrets: Arc<ServerSecrets>,
    /// Budget of what is logged about it.
    log: Arc<LogBudget>,
    pub(super) questions: QuestionLimit,
    oddities: AtomicU32,
    /// Cancelled when the upstream can say nothing more.
    pub(crate) over: CancellationToken,
}

/// Limits of a connection, and the policy for what passes over it.
pub(crate) struct PeerPolicy {
    pub(crate) policy: Option<Arc<dyn UpstreamPolicy>>,
    pub(crate) limits: UpstreamLimits,
    pub(crate) secrets: Arc<ServerSecrets>,
    pub(crate) log: Arc<LogBudget>,
    pub(crate) fetch_turns: FetchTurns,
    /// Time that the upstream may take to tell what it offers.
    pub(crate) patience: Duration,
}

/// Clients that an upstream may ask, and how much at once.
pub(crate) struct AskableClients {
    pub(crate) callers: Arc<Callers>,
    pub(crate) introduction: Introduction,
    pub(crate) questions: QuestionLimit,
}

impl Peer {
    /// Creates a peer that handles incoming messages until no more come.
    pub(crate) fn new(
        server: &str,
        sender: Arc<dyn MessageSender>,
        mut incoming: mpsc::Receiver<ReceivedMessage>,
        asking: AskableClients,
        policy: PeerPolicy,
    ) -> Arc<Self> {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        let peer = Arc::new(Self {
            server: server.to_owned(),
            connection: CONNECTIONS.fetch_add(1, Ordering::Relaxed),
            sender,
            callers: asking.callers,
            introduction: asking.introduction,
            questions: asking.questions,
            policy: policy.policy,
            pending: Mutex::default(),
            version: Mutex::default(),
            tools: Mutex::default(),
            first_resources: Mutex::default(),
            list_changes: ListChanges::default(),
            fetch_turns: policy.fetch_turns,
            fetched: tokio::sync::Mutex::default(),
            patience: policy.patience,
            acknowledged: Notify::new(),
            asked: Mutex::default(),
            pages: Mutex::default(),
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
            while let Some(said) = incoming.recv().await {
                let text = said.get();
                // Only questions and messages are shown, and an answer waits for none of them.
                let is_shown = without_blocking(text.len(), || {
                    text.starts_with('[') || member(text, "method").is_some()
                });
                let times = if is_shown { SHOWING_TIMES } else { 1 };
                let bytes = text.len().saturating_mul(times);
                let _turn = match is_shown && is_large(bytes) {
                    true => hearing.questions.reading().await,
                    false => None,
                };
                without_blocking(bytes, || hearing.hear(text, said.about));
            }
            hearing.end();
        });
        peer
    }

    /// Returns the client of a session, where it can be told and asked something between its
    /// requests.
    pub(super) fn client(&self, session: SessionId) -> Option<Arc<dyn Listener>> {
        self.policy.as_ref()?.client(session)
    }

    /// Returns the clients of all sessions that the connection belongs to.
    pub(super) fn clients(&self) -> Vec<Arc<dyn Listener>> {
        let sessions = self.callers.sessions().into_iter();
        sessions
            .filter_map(|session| self.client(session))
            .collect()
    }

    /// Sends the upstream a notification.
    pub(crate) fn tell(&self, method: &str, params: &str) -> BoxFuture<'static, Result<(), Lost>> {
        self.sender.send(Outgoing {
            text: dormouse_jsonrpc::notification(method, Some(params)),
            method: Some(method.to_owned()),
            version: self.version(),
            ..Outgoing::default()
        })
    }

    /// Answers a request of the upstream.
    async fn reply(&self, id: &RequestId<'_>, outcome: Result<Answer, (i64, String)>) {
        let text = match outcome {
            // What is text was read as JSON before.
            Ok(answer) => dormouse_jsonrpc::response(id.as_str(), &answer.into_text()),
            Err((code, why)) => dormouse_jsonrpc::error(id.as_str(), code, &why, None),
        };
        let sending = self.sender.send(Outgoing {
            text,
            version: self.version(),
            ..Outgoing::default()
        });
        if let Err(lost) = sending.await {
            tracing::debug!("server `{}` cannot be answered: {lost}", self.server);
        }
    }

    /// Returns the listener of the request with this progress token.
    fn listener(&self, token: u64) -> Option<Arc<dyn Listener>> {
        self.pending.lock().waiting.get(&token)?.listener.clone()
    }

    /// Returns the listener that can be asked or told something: that of the request that it is
    /// about, or the last caller's where nothing says what it is about.
    fn whom(
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
        let why = self.sender.end_reason();
        let waiting = {
            let mut pending = self.pending.lock();
            pending.ended = Some(why.clone());
            std::mem::take(&mut pending.waiting)
        };
        for (_, one) in waiting {
            let _ = one.answer.send(Err(Lost::Broken(why.clone()).into()));
        }
        self.asked.lock().cancel_all();
        self.over.cancel();
    }

    /// Returns the reason for which there will be no more answers, if so.
    pub(crate) fn ended(&self) -> Option<String> {
        self.pending.lock().ended.clone()
    }

    /// Logs odd behaviour, once.
    fn odd(&self, oddity: Oddity) {
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
        self.asked.lock().method()
    }

    /// Returns the state of the connection in words, for a caller that gives up on it.
    pub(crate) fn end_reason(&self) -> String {
        self.sender.end_reason()
    }
}
