//! Connection to an upstream, from its first request to its last.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use dormouse_jsonrpc::{Object, ObjectError};
use dormouse_launch::Launch;
use dormouse_policy::UpstreamLimits;
use dormouse_protocol::{AskError, Listener, QuestionLimit, SessionId, check_size};
use dormouse_text::visible::visible_line;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::callers::Callers;
use super::connection_room::ConnectionPermit;
use crate::listing::follow;
use crate::listing::follow::FetchTurns;
use crate::listing::lists;
use crate::listing::subscriptions::Follower;
use crate::messages::channel::{Lost, MessageSender};
use crate::messages::inbound::{counted_bytes, question};
use crate::messages::level::Level;
use crate::messages::message;
use crate::messages::peer::{Asking, Peer, PeerPolicy};
use crate::opening::first_request::{Beginning, FirstRequest, Reaction, Reactions};
use crate::opening::handshake;
use crate::opening::handshake::ServerIntroduction;
use crate::opening::introduction::Introduction;
use crate::server_secrets::ServerSecrets;
use crate::stdio::descendants;
use crate::stdio::descendants::StartOrder;
use crate::{Connector, Failure, Offered, UpstreamPolicy};

/// Most times that one request may be answered with questions.
const ROUNDS: usize = 32;

/// Most names of tools that an error lists.
const MAX_NAMES_TOLD: usize = 20;

/// A connection that has been made. It is closed when nobody has it any more.
pub(crate) struct Connection {
    hub: Arc<Connector>,
    outlet: Arc<dyn MessageSender>,
    peer: Arc<Peer>,
    pub(crate) hello: ServerIntroduction,
    level: Level,
    pub(crate) since: SystemTime,
    pub(crate) opened: Instant,
    /// Place of the last process that was started before it was opened.
    opened_after: Option<StartOrder>,
    /// Kept until what is behind the connection is gone.
    permit: Option<Arc<ConnectionPermit>>,
}

/// Parameters of a new connection.
pub(crate) struct Opening<'a> {
    pub(crate) hub: &'a Arc<Connector>,
    pub(crate) server: &'a str,
    pub(crate) launch: &'a Launch,
    /// Longest time that opening may take.
    pub(crate) patience: Duration,
    pub(crate) callers: Arc<Callers>,
    pub(crate) questions: QuestionLimit,
    pub(crate) gate: Option<Arc<dyn UpstreamPolicy>>,
    /// Introduction of the client that the connection is made for.
    pub(crate) introduction: Introduction,
    /// Reactions of the upstream to first requests before, as far as they are known.
    pub(crate) known: Reactions,
    /// Limits of what the upstream may send.
    pub(crate) limits: UpstreamLimits,
    /// Place among the connections of its server; none where it is made to look only.
    pub(crate) permit: Option<Arc<ConnectionPermit>>,
}

/// Reason for which a connection could not be made.
struct Unopened {
    lost: Lost,
    /// First requests that the upstream had taken when it was lost: it may have been lost because
    /// of them.
    sent: Vec<FirstRequest>,
}

impl From<Lost> for Unopened {
    fn from(lost: Lost) -> Self {
        Self {
            lost,
            sent: Vec::new(),
        }
    }
}

impl Opening<'_> {
    /// Connects, sends the first request, and asks for all lists.
    ///
    /// A server may end at the first request of an era that it does not know, and is then started
    /// once more with that of the other era. Nobody wants to see a start that fails for another
    /// reason twice, with all that it does before, so this is done only where the server has taken
    /// the request before it ended. Later connections do not send it that request again.
    pub(crate) async fn open(self) -> Result<(Connection, Offered), Lost> {
        let end = Instant::now() + self.patience;
        let may_end = matches!(self.launch, Launch::Stdio(_));
        let era = &self.introduction.era;
        let mut beginning = Beginning::new(era, self.known, self.patience, may_end);
        let secrets = self.hub.secrets(self.server, self.launch);
        let mut failed: Option<(FirstRequest, Lost)> = None;
        loop {
            let unopened = match self.attempt(beginning, end, &secrets).await {
                Ok((connection, mut offered)) => {
                    if let Some((request, _)) = failed {
                        offered.reactions.set(request, Reaction::Fails);
                    }
                    return Ok((connection, offered));
                }
                Err(unopened) => unopened,
            };
            // Then it was ended by that.
            if self.hub.is_closing() {
                return Err(Lost::HostEnds);
            }
            let Unopened { lost, sent } = unopened;
            // What refuses a start may say what it was started with.
            let lost = match lost {
                Lost::Broken(why) => Lost::Broken(secrets.redact(&why)),
                lost => lost,
            };
            let other = beginning.after_end(&sent, self.known);
            let other = other.filter(|_| failed.is_none() && matches!(lost, Lost::Broken(_)));
            let Some(other) = other else {
                return Err(match failed {
                    // The handshake is what its other clients know it by.
                    Some((FirstRequest::Initialize, first)) => first,
                    _ => lost,
                });
            };
            tracing::debug!(
                "server `{}` is begun with in another way ({:?}): {lost}",
                self.server,
                other.first
            );
            failed = Some((other.first.other(), lost));
            beginning = other;
        }
    }

    async fn attempt(
        &self,
        beginning: Beginning,
        end: Instant,
        secrets: &Arc<ServerSecrets>,
    ) -> Result<(Connection, Offered), Unopened> {
        let limit = self.patience.as_secs_f64();
        let late = |what: &str| {
            let hint = "`start_timeout` in its table says how long a start may take";
            Lost::Broken(format!(
                "it did not answer within {limit} s: {what}\nhint: {hint}"
            ))
        };
        let late_peer = |peer: &Peer| match peer.open_question() {
            // It may only wait for that.
            Some(question) => Lost::Broken(format!(
                "it asked its client `{question}` and had no answer within {limit} s\n\
                 hint: a client that is answered `input_required` has to call again with its \
                 answers; call it again"
            )),
            None => late(&peer.epitaph()),
        };
        let opening = self
            .hub
            .open(self.server, self.launch, secrets, &self.limits);
        // Whoever cannot even be started is not started another way.
        let channel = tokio::time::timeout_at(end, opening)
            .await
            .map_err(|_| late("it cannot be reached"))??;
        let (outlet, inlet) = (channel.outlet, channel.inlet);
        let asking = Asking {
            callers: Arc::clone(&self.callers),
            introduction: self.introduction.clone(),
            questions: self.questions.clone(),
        };
        let gate = self.gate.clone();
        let policy = PeerPolicy {
            gate,
            limits: self.limits,
            secrets: Arc::clone(secrets),
            log: self.hub.log_budget(self.server, &self.limits),
        };
        let peer = Peer::new(self.server, Arc::clone(&outlet), inlet, asking, policy);
        let mut connection = Connection {
            hub: Arc::clone(self.hub),
            outlet,
            peer,
            hello: ServerIntroduction::default(),
            level: Level::default(),
            since: SystemTime::now(),
            opened: Instant::now(),
            opened_after: None,
            permit: self.permit.clone(),
        };
        let peer = Arc::clone(&connection.peer);
        let greeting = handshake::greet(&peer, beginning, &self.introduction);
        let hello = tokio::time::timeout_at(end, greeting)
            .await
            .map_err(|_| late_peer(&peer))?
            .map_err(|unmet| {
                let mut sent = unmet.sent;
                if connection.outlet.unheard() {
                    sent.clear();
                }
                Unopened {
                    lost: unmet.failure.into_lost(),
                    sent,
                }
            })?;
        connection.hello = hello;
        let offered = tokio::time::timeout_at(end, lists::all(&peer, &connection.hello))
            .await
            .map_err(|_| late_peer(&peer))?
            .map_err(Failure::into_lost)?;
        connection.opened = Instant::now();
        connection.opened_after = StartOrder::now();
        Ok((connection, offered))
    }
}

impl Connection {
    /// Follows changes from now on, for the upstream policy.
    pub(crate) fn follow(&self, follower: Follower, turns: FetchTurns) {
        if let Some(gate) = self.peer.gate.clone() {
            let (peer, hello) = (Arc::clone(&self.peer), self.hello.clone());
            tokio::spawn(follow::follow(peer, hello, gate, follower, turns));
        }
    }

    /// Waits until the changes of lists that the upstream has announced are known.
    pub(crate) async fn lists_settled(&self) {
        tokio::select! {
            () = self.peer.list_changes.settled() => {}
            () = self.peer.over.cancelled() => {}
        }
    }

    /// Tells the upstream which logs the sessions of the connection want, if it has not been told
    /// yet.
    pub(crate) async fn set_level(&self) {
        self.level.tell(&self.peer, &self.hello).await;
    }

    /// Tells the upstream that a session has other roots now. In the stateless era it asks for them
    /// each time that it needs them.
    pub(crate) async fn roots_changed(&self) {
        if self.peer.is_modern() {
            return;
        }
        let method = "notifications/roots/list_changed";
        if let Err(lost) = self.peer.tell(method, "{}").await {
            tracing::debug!(
                "server `{}` is not told of other roots: {lost}",
                self.peer.server
            );
        }
    }

    /// Sends a request and waits for its result. The caller's client is asked the questions that
    /// the upstream has first.
    pub(crate) async fn request(
        &self,
        session: Option<SessionId>,
        listener: &Arc<dyn Listener>,
        method: &str,
        params: &str,
    ) -> Result<Box<RawValue>, Failure> {
        let _calling = self.peer.callers.join(session, listener);
        self.set_level().await;
        // What it does may depend on what it has asked when it was started.
        tokio::select! {
            () = self.peer.early.settled() => {}
            () = self.peer.over.cancelled() => {}
        }
        let mut params = Cow::Borrowed(params);
        for _ in 0..ROUNDS {
            let answer = self.peer.request(method, &params, Some(listener)).await;
            let answer = answer.map_err(|failure| self.shown(failure))?;
            let Some(wanted) = InputRequired::read(&answer) else {
                return Ok(answer);
            };
            let answered = wanted.answer(&self.peer, listener, &params).await;
            params = Cow::Owned(answered.map_err(|failure| self.shown(failure))?);
        }
        let why = format!("the upstream answered `{method}` with questions {ROUNDS} times");
        Err(Lost::Broken(why).into())
    }

    /// Asks for all lists again.
    pub(crate) async fn list(&self) -> Result<Offered, Failure> {
        let listed = lists::all(&self.peer, &self.hello).await;
        listed.map_err(|failure| self.shown(failure))
    }

    /// Returns a failure as it may be shown: its text may quote a part of an answer.
    fn shown(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Lost(Lost::Broken(why)) => Lost::Broken(self.peer.secrets.redact(&why)).into(),
            // The others have been looked at, or have no words of the upstream's.
            other => other,
        }
    }

    /// Returns the reason for which a tool that the server is known to have cannot be called over
    /// this connection, if so. It names only tools that the user has seen: a model reads this.
    pub(crate) fn withholds(&self, tool: &str) -> Option<String> {
        let tools = self.peer.tools.lock();
        let tools = tools.as_ref().filter(|tools| !tools.contains(tool))?;
        let server = &self.peer.server;
        let gate = self.peer.gate.as_ref();
        let seen = gate.map(|gate| gate.seen_tools()).unwrap_or_default();
        let names: Vec<_> = tools
            .intersection(&seen)
            .take(MAX_NAMES_TOLD)
            .map(|name| format!("`{}`", visible_line(name)))
            .collect();
        let hint = match names.is_empty() {
            true => format!("`dormouse tools {server}` shows what it has"),
            false => format!("by its own names, its tools are {}", names.join(", ")),
        };
        // Whoever shows it says of which tool it is, and takes that out here.
        Some(format!(
            "tool `{tool}` of server `{server}` is not offered here: it is gone, or only there for \
             clients that can be asked more than this one\nhint: {hint}"
        ))
    }

    /// Returns the introduction of the client that the connection was made for.
    pub(crate) fn introduction(&self) -> &Introduction {
        &self.peer.introduction
    }

    /// Whether each request says for itself what its client can be asked.
    pub(crate) fn is_modern(&self) -> bool {
        self.peer.is_modern()
    }

    /// Returns the reason for which the connection can no longer be used, if so.
    pub(crate) fn ended(&self) -> Option<String> {
        self.peer.ended()
    }

    /// Returns the id of the process behind the connection, where there is one.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.outlet.pid()
    }

    /// Whether its process has started others since the connection was opened that still run: a
    /// browser, a shell. Takes some milliseconds.
    pub(crate) fn has_new_processes(&self) -> bool {
        let started = self.pid().zip(self.opened_after);
        started.is_some_and(|(pid, since)| descendants::has_started_since(pid, since))
    }

    /// Ends the connection, and waits until it has ended.
    pub(crate) async fn close(self) {
        self.outlet.close().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let (closed, permit) = (self.outlet.close(), self.permit.take());
        self.hub.closing(async move {
            closed.await;
            drop(permit);
        });
    }
}

/// A result that wants answers first (MCP 2026-07-28).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InputRequired<'a> {
    result_type: String,
    #[serde(borrow, default)]
    input_requests: Option<&'a RawValue>,
    #[serde(borrow, default)]
    request_state: Option<&'a RawValue>,
}

impl<'a> InputRequired<'a> {
    const TYPE: &'static str = "input_required";

    fn read(answer: &'a RawValue) -> Option<Self> {
        // Most answers are none, and some are large.
        let members = answer.get().contains(Self::TYPE).then_some(answer.get())?;
        let wanted: Self = serde_json::from_str(members).ok()?;
        (wanted.result_type == Self::TYPE).then_some(wanted)
    }

    /// Asks all questions. Returns the parameters of the request with the answers in them.
    async fn answer(
        self,
        peer: &Peer,
        listener: &Arc<dyn Listener>,
        params: &str,
    ) -> Result<String, Failure> {
        let unreadable = |error: ObjectError| {
            Lost::Broken(format!("what the upstream asks cannot be read: {error}"))
        };
        let mut params = message::object(params).map_err(unreadable)?;
        let requests = self.input_requests.map_or("{}", RawValue::get);
        let requests = message::object(requests).map_err(unreadable)?;
        let mut responses = Object::new();
        if !requests.is_empty() {
            let unanswered =
                |error| Lost::Broken(format!("what the upstream asks has no answer: {error}"));
            // Before any of them is read: as values they are many times as large.
            let client = listener.client();
            let count = requests.iter().count();
            let counted = peer.questions.take(&peer.server, client, count);
            let _counted = counted.map_err(unanswered)?;
            // Both are kept until there are answers.
            let state = self.request_state.map_or(0, |state| state.get().len());
            let asked = self.input_requests.map_or(0, |asked| asked.get().len());
            let room = peer.room_for(state + asked);
            let _room = room.map_err(|why| unanswered(AskError::Failed(why)))?;
            let mut bytes = 0;
            let mut questions = Vec::new();
            for member in requests.iter() {
                let request = message::object(&member.value).unwrap_or_default();
                let method = request.string("method").unwrap_or_default();
                let asked = request.get("params");
                let asked = asked.filter(|params| *params != "null");
                bytes += counted_bytes(&method, asked.unwrap_or_default());
                check_size(bytes).map_err(unanswered)?;
                let question = question(&peer.server, &peer.secrets, &member.name, &method, asked);
                questions.push(question.map_err(|(_, why)| {
                    Lost::Broken(format!("the upstream asks what cannot be asked: {why}"))
                })?);
            }
            let answers = listener.put(questions).await.map_err(unanswered)?;
            for (member, answer) in requests.iter().zip(answers) {
                responses.set(&member.name, answer.into_text());
            }
        }
        params.set("inputResponses", responses.into_text().into_owned());
        if let Some(state) = self.request_state {
            params.set("requestState", state.get());
        }
        Ok(params.into_text().into_owned())
    }
}
