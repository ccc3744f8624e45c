//! Link between a running call and the request that listens to it now.

use std::sync::Arc;

use dormouse_protocol::{
    Answer, AskError, Awaited, Capability, ClientEra, ClientKey, DeclaredCapabilities, Listener,
    Notice, Question,
};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use rmcp::model::ClientCapabilities;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::relay::Relay;
use crate::mcp::client::session_client;
use crate::mcp::client::session_client::can;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::request_context::RequestContext;
use crate::roster::Roster;

/// Route of the notifications and questions of a call to the request that it belongs to at that
/// moment: a call that asks a stateless client something outlives several requests.
pub(in crate::mcp) struct CallListener {
    roster: Arc<Roster>,
    client: ClientKey,
    server: String,
    asks: mpsc::UnboundedSender<CallQuestions>,
    may_ask: bool,
    /// Cancelled when no request waits for the call any longer.
    cancel: CancellationToken,
    state: Mutex<CallListenerState>,
}

#[derive(Default)]
struct CallListenerState {
    relay: Option<Arc<Relay>>,
    capabilities: ClientCapabilities,
    /// Whether the client's answers are those of this host's user.
    may_decide: bool,
    /// Capabilities of the client to be asked, as it has declared and written them.
    declared: Map<String, Value>,
    era: ClientEra,
    /// The request's `_meta` for the server that answers it.
    meta: Map<String, Value>,
    /// Capabilities that the call has asked for and the client lacks.
    lacked: Vec<Capability>,
    /// Watch of the instance that the call uses, where other calls may wait for that.
    holds: Option<Awaited>,
}

/// Questions of a call, with the channel for the answers.
pub(in crate::mcp) struct CallQuestions {
    pub(in crate::mcp) questions: Vec<Question>,
    pub(in crate::mcp) answers: oneshot::Sender<Result<Vec<Answer>, AskError>>,
}

impl CallListener {
    pub(in crate::mcp) fn new(
        roster: Arc<Roster>,
        (client, (server, may_ask)): (ClientKey, (&str, bool)),
        cancel: CancellationToken,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<CallQuestions>) {
        let (asks, receiver) = mpsc::unbounded_channel();
        let line = Self {
            roster,
            client,
            server: server.to_owned(),
            asks,
            may_ask,
            cancel,
            state: Mutex::default(),
        };
        (Arc::new(line), receiver)
    }

    /// Returns the server that is called.
    pub(in crate::mcp) fn server(&self) -> &str {
        &self.server
    }

    /// Connects the call to another request, which is first sent the notifications since the last
    /// request was answered.
    pub(in crate::mcp) fn attach(&self, relay: &Arc<Relay>, context: &RequestContext<'_>) {
        let mut state = self.state.lock();
        if let Some(earlier) = state.relay.replace(Arc::clone(relay)) {
            relay.follow(&earlier);
        }
        state.capabilities = context.capabilities.clone();
        state.may_decide = context.may_decide;
        state.declared = session_client::declared(&context.capabilities, &context.client_era);
        state.era = context.client_era.clone();
        state.meta = context.meta.clone();
    }

    /// Keeps the notifications of the call until another request goes on with it.
    pub(in crate::mcp) fn suspend(&self) {
        let mut state = self.state.lock();
        state.relay = state
            .relay
            .take()
            .map(|relay| Arc::new(relay.while_suspended()));
    }

    /// Returns MCP's answer to a call that has failed after it asked for something that its client
    /// lacks (2026-07-28, `MissingRequiredClientCapability`).
    pub(in crate::mcp) fn missing_capability(&self) -> Option<ErrorObject> {
        let state = self.state.lock();
        if state.lacked.is_empty() {
            return None;
        }
        // A part of `sampling` has that around it.
        let lacks = |one: Capability| match one {
            Capability::Sampling => state.lacked.iter().any(|it| it.method() == one.method()),
            one => state.lacked.contains(&one),
        };
        let lacked = DeclaredCapabilities::with(lacks).into_members();
        let lacked = serde_json::from_value(lacked.into()).unwrap_or_default();
        Some(ErrorObject::missing_required_client_capability(lacked))
    }

    /// Returns the watch of the instance that the call uses, where other calls may wait.
    pub(in crate::mcp) fn held(&self) -> Option<Awaited> {
        self.state.lock().holds.clone()
    }

    fn relay(&self) -> Option<Arc<Relay>> {
        self.state.lock().relay.clone()
    }
}

impl Listener for CallListener {
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        if let Some(relay) = self.relay() {
            relay.progress(progress, total, message);
        }
    }

    fn preparing(&self, what: String) {
        if let Some(relay) = self.relay() {
            relay.preparing(what);
        }
    }

    fn log(&self, level: &'static str, logger: Option<String>, data: Value) {
        if let Some(relay) = self.relay() {
            relay.log(level, logger, data);
        }
    }

    fn page_done(&self, id: &str) -> bool {
        self.relay().is_some_and(|relay| relay.page_done(id))
    }

    fn client(&self) -> ClientKey {
        self.client.clone()
    }

    fn era(&self) -> ClientEra {
        self.state.lock().era.clone()
    }

    fn declared(&self) -> Map<String, Value> {
        self.state.lock().declared.clone()
    }

    fn supports(&self, capability: Capability) -> bool {
        self.may_ask && can(&self.state.lock().capabilities, capability)
    }

    fn may_decide(&self) -> bool {
        self.state.lock().may_decide
    }

    fn lacks(&self, lacked: &[Capability]) -> String {
        if !self.may_ask {
            return "nobody can be asked while an argument is completed".to_owned();
        }
        let mut state = self.state.lock();
        for capability in lacked {
            if !state.lacked.contains(capability) {
                state.lacked.push(*capability);
            }
        }
        session_client::lacks(lacked)
    }

    fn ask(&self, questions: Vec<Question>) -> BoxFuture<'static, Result<Vec<Answer>, AskError>> {
        let (answers, answered) = oneshot::channel();
        let cancel = self.cancel.clone();
        let gone = move || match cancel.is_cancelled() {
            // Nobody is to be bothered again with what they have given up.
            true => AskError::Failed("the call was cancelled".into()),
            false => AskError::Over,
        };
        if self
            .asks
            .send(CallQuestions { questions, answers })
            .is_err()
        {
            return std::future::ready(Err(gone())).boxed();
        }
        answered
            .map(move |answers| answers.unwrap_or_else(|_| Err(gone())))
            .boxed()
    }

    fn holds(&self, awaited: Awaited) {
        self.state.lock().holds = Some(awaited);
    }

    fn notify(&self, notice: Notice) {
        self.roster.notify(&self.server, notice);
    }

    fn level(&self) -> Option<&'static str> {
        self.relay()?.level()
    }

    fn meta(&self) -> Map<String, Value> {
        self.state.lock().meta.clone()
    }
}
