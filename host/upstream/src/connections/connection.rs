//! Connection to an upstream, from its first request to its last.

mod opening;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use dormouse_protocol::{Listener, SessionId};
use dormouse_text::visible::visible_line;
use serde_json::value::RawValue;
use tokio::time::Instant;

pub(crate) use opening::Opening;

use super::callers::RequestSubject;
use super::connection_room::ConnectionPermit;
use crate::listing::needed_lists::NeededLists;
use crate::listing::subscriptions::Follower;
use crate::listing::{fetch, follow};
use crate::messages::channel::{Lost, MessageSender};
use crate::messages::input_required::InputRequired;
use crate::messages::large::without_blocking;
use crate::messages::level::ToldLogLevel;
use crate::messages::peer::Peer;
use crate::opening::handshake::ServerIntroduction;
use crate::opening::introduction::Introduction;
use crate::stdio::descendants;
use crate::stdio::descendants::StartOrder;
use crate::{Connector, Failure, JudgedItems, Offered};

/// Most times that one request may be answered with questions.
const ROUNDS: usize = 32;

/// Most names of tools that an error lists.
const MAX_NAMES_TOLD: usize = 20;

/// A connection that has been made. It is closed when nobody has it any more.
pub(crate) struct Connection {
    connector: Arc<Connector>,
    sender: Arc<dyn MessageSender>,
    peer: Arc<Peer>,
    pub(super) server_introduction: ServerIntroduction,
    level: ToldLogLevel,
    pub(super) since: SystemTime,
    pub(super) opened: Instant,
    /// Place of the last process that was started before it was opened.
    opened_after: Option<StartOrder>,
    /// Kept until what is behind the connection is gone.
    permit: Option<Arc<ConnectionPermit>>,
}

impl Connection {
    /// Has the upstream policy compare what is offered over it with what is known.
    pub(super) fn compare(&self, offered: Offered) {
        fetch::compare(&self.peer, offered);
    }

    /// Follows changes from now on, for the upstream policy.
    pub(super) fn follow(&self, follower: Follower) {
        if let Some(policy) = self.peer.policy.clone() {
            let (peer, server_introduction) =
                (Arc::clone(&self.peer), self.server_introduction.clone());
            tokio::spawn(follow::follow(peer, server_introduction, policy, follower));
        }
    }

    /// Waits until the changes of lists that the upstream has announced are known.
    pub(super) async fn lists_settled(&self) {
        tokio::select! {
            () = self.peer.list_changes.settled() => {}
            () = self.peer.over.cancelled() => {}
        }
    }

    /// Tells the upstream which logs the sessions of the connection want, if it has not been told
    /// yet.
    pub(super) async fn set_level(&self) {
        self.level.tell(&self.peer, &self.server_introduction).await;
    }

    /// Tells the upstream that a session has other roots now. In the stateless era it asks for them
    /// each time that it needs them.
    pub(super) async fn roots_changed(&self) {
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

    /// Sends a request, for what `name` names, and waits for its result. The caller's client is asked
    /// the questions that the upstream has first.
    pub(super) async fn request(
        &self,
        session: Option<SessionId>,
        listener: &Arc<dyn Listener>,
        (method, name): (&str, Option<&str>),
        params: &str,
    ) -> Result<Box<RawValue>, Failure> {
        let subject = RequestSubject {
            method: method.to_owned(),
            name: name.map(str::to_owned),
        };
        let callers = &self.peer.callers;
        {
            // Its session counts for that already, and nothing else of the call does before it is admitted.
            let _joined = callers.join(session, listener, None);
            self.set_level().await;
        }
        self.admit(&subject, listener).await?;
        let _calling = callers.join(session, listener, Some(subject.clone()));
        // What it does may depend on what it has asked when it was started.
        let has_waited = tokio::select! {
            has_waited = self.peer.early.settled() => has_waited,
            () = self.peer.over.cancelled() => false,
        };
        if has_waited {
            self.admit(&subject, listener).await?;
        }
        let mut params = Cow::Borrowed(params);
        for _ in 0..ROUNDS {
            let answer = self.peer.request(method, &params, Some(listener)).await;
            let answer = answer.map_err(|failure| self.shown(failure))?;
            let bytes = answer.get().len();
            let Some(wanted) = without_blocking(bytes, || InputRequired::read(&answer)) else {
                return Ok(answer);
            };
            let answered = wanted.answer(&self.peer, listener, &params).await;
            params = Cow::Owned(answered.map_err(|failure| self.shown(failure))?);
            // What it is for may be another thing by the time that its questions are answered.
            self.admit(&subject, listener).await?;
        }
        let why = format!("the upstream answered `{method}` with questions {ROUNDS} times");
        Err(Lost::Broken(why).into())
    }

    /// Checks whether a request may go out over it.
    async fn admit(
        &self,
        subject: &RequestSubject,
        listener: &Arc<dyn Listener>,
    ) -> Result<(), Failure> {
        let Some(policy) = &self.peer.policy else {
            return Ok(());
        };
        let patience = Some(self.peer.request_patience());
        let subjects = || vec![(Arc::clone(listener), subject.clone())];
        let admitted = self.peer.check_admitted(patience, subjects).await;
        admitted.map_err(Failure::Barred)?;
        let tool = subject.name.as_deref();
        let tool = tool.filter(|_| subject.method == "tools/call");
        let Some((tool, why)) = tool.and_then(|tool| Some((tool, self.withholds(tool)?))) else {
            return Ok(());
        };
        policy.missed(tool);
        Err(Failure::Barred(why))
    }

    /// Asks for all lists again, for the upstream policy, where that is still needed by the time
    /// that the connection has its turn: of many who want to know, few ask. `is_needed` is given the
    /// time at which the last fetch that was compared was begun. All that takes the time that the
    /// upstream has for a start at most.
    pub(super) async fn learn(
        &self,
        is_needed: impl Fn(Option<Instant>) -> bool,
    ) -> Result<(), Failure> {
        let learning = fetch::fetch_again(&self.peer, &self.server_introduction, is_needed);
        let learnt = tokio::time::timeout(self.peer.patience, learning).await;
        let learnt = learnt.unwrap_or_else(|_| Err(fetch::late(self.peer.patience)));
        learnt.map_err(|failure| self.shown(failure))
    }

    /// Waits until its tools are known as of all changes that the upstream has announced until now, and
    /// `tool`, if there is one, as it is told over this connection.
    ///
    /// # Errors
    /// The upstream does not tell them.
    pub(super) async fn tools_known(&self, tool: Option<&str>) -> Result<(), Failure> {
        let needed = NeededLists {
            tools: true,
            prompts: false,
        };
        let items = JudgedItems {
            tools: tool.into_iter().map(str::to_owned).collect(),
            ..JudgedItems::default()
        };
        let patience = self.peer.request_patience();
        let known = async {
            self.peer.lists_known(needed, patience).await?;
            self.peer.items_known(&items, patience).await
        };
        known.await.map_err(Failure::Barred)
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
    fn withholds(&self, tool: &str) -> Option<String> {
        let tools = self.peer.tools.lock();
        let tools = tools.as_ref().filter(|tools| !tools.contains(tool))?;
        let server = &self.peer.server;
        let policy = self.peer.policy.as_ref();
        let seen = policy.map(|policy| policy.seen_tools()).unwrap_or_default();
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
    pub(super) fn introduction(&self) -> &Introduction {
        &self.peer.introduction
    }

    /// Whether each request says for itself what its client can be asked.
    pub(super) fn is_modern(&self) -> bool {
        self.peer.is_modern()
    }

    /// Returns the reason for which the connection can no longer be used, if so.
    pub(super) fn ended(&self) -> Option<String> {
        self.peer.ended()
    }

    /// Returns the id of the process behind the connection, where there is one.
    pub(super) fn pid(&self) -> Option<u32> {
        self.sender.pid()
    }

    /// Whether its process has started others since the connection was opened that still run: a
    /// browser, a shell. Takes some milliseconds.
    pub(super) fn has_new_processes(&self) -> bool {
        let started = self.pid().zip(self.opened_after);
        started.is_some_and(|(pid, since)| descendants::has_started_since(pid, since))
    }

    /// Ends the connection, and waits until it has ended.
    pub(crate) async fn close(self) {
        self.sender.close().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let (closed, permit) = (self.sender.close(), self.permit.take());
        self.connector.closing(async move {
            closed.await;
            drop(permit);
        });
    }
}
