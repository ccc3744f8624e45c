//! The connections of one server: made on first use, one for each session or one
//! for all, and made again when they have ended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::callers::{Callers, Calling};
use super::channel::Lost;
use super::connection::{Connection, Opening};
use super::large::without_blocking;
use super::launch::Launch;
use super::message::HEADER_MISMATCH;
use super::peer::lock;
use super::status::{Connected, Status};
use super::subscriptions::{Subscription, Subscriptions};
use super::trouble::Trouble;
use super::{Failure, Gate, Hub};
use crate::runtime::{Listener, QuestionLimit, SessionId};
use crate::sandbox::UpstreamLimits;

/// A server's upstream, as it is configured.
#[derive(Clone)]
pub struct Setup {
    /// The server's name.
    pub server: String,
    /// How the upstream is reached.
    pub launch: Launch,
    /// Whether all sessions share one connection. Requests of no session always do.
    pub share: bool,
    /// How long it may take to connect and to say what it offers.
    pub start_timeout: Duration,
    /// How much it may say.
    pub limits: UpstreamLimits,
    /// How many of its questions may wait for an answer.
    pub questions: QuestionLimit,
    /// What stands between it and its callers.
    pub gate: Arc<dyn Gate>,
}

/// One server's upstream.
pub struct Upstream {
    me: Weak<Self>,
    hub: Arc<Hub>,
    setup: Setup,
    state: Mutex<State>,
    subscriptions: Arc<Subscriptions>,
}

type Connecting = Shared<BoxFuture<'static, Result<Arc<Connection>, Lost>>>;

#[derive(Default)]
struct State {
    links: HashMap<Option<SessionId>, Link>,
    /// Grows with every attempt, so that one from before a stop is known.
    attempt: u64,
    trouble: Trouble,
    server_info: Map<String, Value>,
}

impl State {
    /// The connection that has been idle for longest, and since when, if one is.
    fn longest_idle(&self) -> Option<(Instant, Option<SessionId>)> {
        let links = self.links.iter();
        let idle = links.filter_map(|(key, link)| match &link.stage {
            Stage::Open(connection) if link.callers.is_idle() => {
                Some((link.callers.last_left().unwrap_or(connection.opened), *key))
            }
            _ => None,
        });
        idle.min()
    }

    /// Ends the connection of that server's that has been idle for longest. False where none
    /// is idle.
    fn end_idle(&mut self, server: &str) -> bool {
        let Some((_, key)) = self.longest_idle() else {
            return false;
        };
        tracing::info!(
            "there are as many connections as are allowed: that of server `{server}` to an idle \
             session is ended for another one"
        );
        self.links.remove(&key).is_some()
    }
}

struct Link {
    callers: Arc<Callers>,
    stage: Stage,
}

enum Stage {
    Connecting(u64, Connecting),
    Open(Arc<Connection>),
}

/// A connection for one call, whose caller can be asked something from the moment that
/// it waits for the connection: some servers ask at once.
pub(crate) struct Line {
    connection: Arc<Connection>,
    _calling: Option<Calling>,
}

impl Line {
    fn new(connection: Arc<Connection>, calling: Option<Calling>) -> Self {
        Self {
            connection,
            _calling: calling,
        }
    }
}

impl Upstream {
    /// An upstream that nothing is done with until something is asked of it.
    #[must_use]
    pub fn new(hub: Arc<Hub>, setup: Setup) -> Arc<Self> {
        let upstream = Arc::new_cyclic(|me| Self {
            me: me.clone(),
            hub,
            setup,
            state: Mutex::default(),
            subscriptions: Arc::default(),
        });
        upstream.hub.add(Arc::downgrade(&upstream));
        upstream
    }

    /// How many connections there are.
    pub(super) fn connections(&self) -> usize {
        lock(&self.state).links.len()
    }

    /// Since when the connection is idle that has been for longest, if one is.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        Some(lock(&self.state).longest_idle()?.0)
    }

    /// Ends the connection that has been idle for longest, if one is.
    pub(super) fn end_idle(&self) {
        lock(&self.state).end_idle(&self.setup.server);
    }

    /// The connection of a session, if there is one.
    pub(crate) fn open(&self, session: Option<SessionId>) -> Option<Line> {
        match &lock(&self.state).links.get(&self.key(session))?.stage {
            Stage::Open(connection) if connection.ended().is_none() => {
                Some(Line::new(Arc::clone(connection), None))
            }
            _ => None,
        }
    }

    /// The connection of a session, made now if need be. All who wait share one
    /// attempt, which goes on whoever of them gives up. When it is there, the gate
    /// knows what the upstream offers. Where the upstream wants to know its user
    /// first, they are asked to log in.
    ///
    /// # Errors
    /// It cannot be made, or is not tried again yet, or nobody has logged in.
    pub(crate) async fn connect(
        &self,
        session: Option<SessionId>,
        listener: &Arc<dyn Listener>,
    ) -> Result<Line, Failure> {
        let connected = match self.attempt(session, listener).await {
            Err(Lost::Auth { challenge }) => {
                self.authorize(listener, challenge.as_deref()).await?;
                self.attempt(session, listener).await
            }
            connected => connected,
        };
        let server = &self.setup.server;
        let hint = || format!("set that right; `dormouse restart {server}` then tries at once");
        connected.map_err(|lost| hinted(lost.into(), hint))
    }

    /// Has the user log in to the upstream.
    async fn authorize(
        &self,
        listener: &Arc<dyn Listener>,
        challenge: Option<&str>,
    ) -> Result<(), Failure> {
        let Launch::Http(http) = &self.setup.launch else {
            let why = "it wants a login, which a child process has to see to itself";
            return Err(Failure::Barred(why.to_owned()));
        };
        let login = self.hub.login(&self.setup.server, http);
        let authorized = login.authorize(listener, challenge).await;
        authorized.map_err(Failure::Barred)
    }

    async fn attempt(
        &self,
        session: Option<SessionId>,
        listener: &Arc<dyn Listener>,
    ) -> Result<Line, Lost> {
        let key = self.key(session);
        let is_new = {
            let mut state = lock(&self.state);
            self.bury(&mut state, key);
            !state.links.contains_key(&key)
        };
        if is_new {
            self.hub.make_room()?;
        }
        let (connecting, calling) = {
            let mut state = lock(&self.state);
            let callers = match state.links.get(&key) {
                Some(link) => Arc::clone(&link.callers),
                None => Arc::default(),
            };
            // Servers ask while they are being connected to.
            let calling = callers.join(session, listener);
            let connecting = match state.links.get(&key).map(|link| &link.stage) {
                Some(Stage::Open(connection)) => {
                    return Ok(Line::new(Arc::clone(connection), Some(calling)));
                }
                Some(Stage::Connecting(_, connecting)) => connecting.clone(),
                None => {
                    state.trouble.may_try()?;
                    self.make_room(&mut state)?;
                    state.attempt += 1;
                    let attempt = state.attempt;
                    let connecting = self.start(key, attempt, &callers);
                    let stage = Stage::Connecting(attempt, connecting.clone());
                    state.links.insert(key, Link { callers, stage });
                    connecting
                }
            };
            (connecting, calling)
        };
        Ok(Line::new(connecting.await?, Some(calling)))
    }

    /// Ends the connection that has been idle for longest where there are as many as there may
    /// be: each may be a process of its own.
    ///
    /// # Errors
    /// None of them is idle.
    fn make_room(&self, state: &mut State) -> Result<(), Lost> {
        let most = self.setup.limits.connections;
        if state.links.len() < most {
            return Ok(());
        }
        let server = &self.setup.server;
        match state.end_idle(server) {
            true => Ok(()),
            false => Err(Lost::Broken(format!(
                "it has {most} connections, all of them in use, and no more are allowed\n\
                 hint: end some sessions, or raise `connections` in `[servers.{server}.limits]`"
            ))),
        }
    }

    /// Forgets a connection that has ended by itself.
    fn bury(&self, state: &mut State, key: Option<SessionId>) {
        let Some(Stage::Open(connection)) = state.links.get(&key).map(|link| &link.stage) else {
            return;
        };
        let Some(why) = connection.ended() else {
            return;
        };
        tracing::info!("server `{}` has ended: {why}", self.setup.server);
        let after = connection.opened.elapsed();
        state.trouble.ended(why, after);
        state.links.remove(&key);
    }

    fn start(&self, key: Option<SessionId>, attempt: u64, callers: &Arc<Callers>) -> Connecting {
        let (me, hub) = (self.me.clone(), Arc::clone(&self.hub));
        let (setup, callers) = (self.setup.clone(), Arc::clone(callers));
        let subscriptions = Arc::clone(&self.subscriptions);
        let task = tokio::spawn(async move {
            let opening = Opening {
                hub: &hub,
                server: &setup.server,
                launch: &setup.launch,
                patience: setup.start_timeout,
                callers,
                questions: setup.questions.clone(),
                gate: Some(Arc::clone(&setup.gate)),
                spoke: setup.gate.spoke(),
                limits: setup.limits,
            };
            let result = match opening.open().await {
                Ok((connection, offered)) => {
                    setup.gate.opened(offered);
                    connection.follow(subscriptions.follower());
                    // What the first call changes is told already.
                    subscriptions.known().await;
                    Ok(Arc::new(connection))
                }
                Err(lost) => Err(lost),
            };
            if let Some(me) = me.upgrade() {
                me.settle((key, attempt), &result);
            }
            // From now on it is told at once what a session says.
            if let Ok(connection) = &result {
                connection.set_level().await;
            }
            result
        });
        let failed = |error| Lost::Broken(format!("connecting failed: {error}"));
        async move { task.await.unwrap_or_else(|error| Err(failed(error))) }
            .boxed()
            .shared()
    }

    /// Takes note of how an attempt has ended, unless it was stopped meanwhile.
    fn settle(
        &self,
        (key, attempt): (Option<SessionId>, u64),
        result: &Result<Arc<Connection>, Lost>,
    ) {
        let mut state = lock(&self.state);
        let state = &mut *state;
        let Some(link) = state.links.get_mut(&key) else {
            return;
        };
        if !matches!(link.stage, Stage::Connecting(one, _) if one == attempt) {
            return;
        }
        match result {
            Ok(connection) => {
                link.stage = Stage::Open(Arc::clone(connection));
                state.trouble.connected();
                state.server_info.clone_from(&connection.hello.server_info);
            }
            Err(lost) => {
                state.links.remove(&key);
                state.trouble.failed(lost.clone());
            }
        }
    }

    /// Asks the upstream for something, over a connection of its. `params` is the
    /// text of a JSON object.
    ///
    /// # Errors
    /// The gate does not let it through, the upstream refuses, or it is lost.
    pub(crate) async fn request(
        &self,
        (session, mut line): (Option<SessionId>, Line),
        (method, params): (&str, &str),
        listener: &Arc<dyn Listener>,
    ) -> Result<String, Failure> {
        let not = |error| Lost::Broken(format!("the parameters are no JSON object: {error}"));
        let values: Map<String, Value> =
            without_blocking(params.len(), || serde_json::from_str(params)).map_err(not)?;
        self.admit(&line.connection, (method, &values), listener)
            .await?;
        let caller = (session, listener);
        let mut answer = line.connection.request(caller, method, params).await;
        let again = match &answer {
            Err(Failure::Lost(Lost::Session)) => {
                self.forget(&line.connection);
                true
            }
            // It wants other arguments in headers than its list has named, so that has
            // changed since, and whoever sees it anew may ask again (MCP 2026-07-28).
            Err(Failure::Refused(refusal)) if refusal.code == HEADER_MISMATCH => {
                let offered = line.connection.list().await;
                offered
                    .map(|offered| self.setup.gate.opened(offered))
                    .is_ok()
            }
            // It may let everybody look, and want to know who does something.
            Err(Failure::Lost(Lost::Auth { challenge })) => {
                self.shut_out(&line.connection, challenge);
                self.authorize(listener, challenge.as_deref()).await?;
                true
            }
            _ => false,
        };
        if again {
            line = self.connect(session, listener).await?;
            self.admit(&line.connection, (method, &values), listener)
                .await?;
            answer = line.connection.request(caller, method, params).await;
        }
        if let Err(Failure::Lost(Lost::Auth { challenge })) = &answer {
            self.shut_out(&line.connection, challenge);
        }
        let server = &self.setup.server;
        let hint = || format!("call it again, or `dormouse restart {server}` first");
        let answer = answer.map_err(|failure| hinted(failure, hint));
        answer.map(|result| String::from(Box::<str>::from(result)))
    }

    /// Whether a request may go out over a connection.
    async fn admit(
        &self,
        connection: &Connection,
        (method, params): (&str, &Map<String, Value>),
        listener: &Arc<dyn Listener>,
    ) -> Result<(), Failure> {
        let admitted = self.setup.gate.admit(method, params, listener).await;
        admitted.map_err(Failure::Barred)?;
        let tool = params.get("name").and_then(Value::as_str);
        let tool = tool.filter(|_| method == "tools/call");
        let Some((tool, why)) = tool.and_then(|tool| Some((tool, connection.withholds(tool)?)))
        else {
            return Ok(());
        };
        self.setup.gate.missed(tool);
        Err(Failure::Barred(why))
    }

    /// Has the gate told when a resource is no longer what it was, while the upstream
    /// is connected. Nothing is started for that.
    #[must_use]
    pub fn subscribe(&self, uri: &str) -> Subscription {
        self.subscriptions.add(uri)
    }

    /// Has a session's connection know that the session wants to hear other logs. One
    /// that is being made is told when it is there.
    pub async fn level_changed(&self, session: SessionId) {
        if let Some(line) = self.open(Some(session)) {
            line.connection.set_level().await;
        }
    }

    /// Has a session's connection know that the session has other roots. Has to be
    /// called inside of a tokio runtime.
    pub fn roots_changed(&self, session: SessionId) {
        let connecting = {
            let state = lock(&self.state);
            let link = state.links.get(&self.key(Some(session)));
            match link.map(|link| (&link.stage, &link.callers)) {
                Some((_, callers)) if !callers.sessions().contains(&session) => return,
                Some((Stage::Connecting(_, connecting), _)) => connecting.clone(),
                Some((Stage::Open(connection), _)) => {
                    std::future::ready(Ok(Arc::clone(connection)))
                        .boxed()
                        .shared()
                }
                None => return,
            }
        };
        tokio::spawn(async move {
            if let Ok(connection) = connecting.await {
                connection.roots_changed().await;
            }
        });
    }

    /// Takes note that a connection is of no use before its user logs in.
    fn shut_out(&self, connection: &Arc<Connection>, challenge: &Option<String>) {
        lock(&self.state).trouble.shut_out(challenge.clone());
        self.forget(connection);
    }

    fn forget(&self, gone: &Arc<Connection>) {
        lock(&self.state).links.retain(
            |_, link| !matches!(&link.stage, Stage::Open(known) if Arc::ptr_eq(known, gone)),
        );
    }

    /// Ends the connection of a session, once no call uses it any more.
    pub fn end_session(&self, session: SessionId) {
        if self.setup.share {
            if let Some(link) = lock(&self.state).links.get(&None) {
                link.callers.leave(session);
            }
            return;
        }
        let link = lock(&self.state).links.remove(&Some(session));
        drop(link);
    }

    /// Ends all connections, each once no call uses it any more, and forgets what
    /// has failed: the next request connects at once.
    pub fn stop(&self) {
        let mut state = lock(&self.state);
        let links = std::mem::take(&mut state.links);
        state.trouble.forget();
        drop(state);
        drop(links);
    }

    /// How it is now.
    #[must_use]
    pub fn status(&self) -> Status {
        let state = lock(&self.state);
        let mut status = Status {
            server_info: state.server_info.clone(),
            ..Status::default()
        };
        match state.trouble.last() {
            Some(Lost::Auth { challenge }) => status.needs_auth = Some(challenge.clone()),
            error => status.error = error.map(ToString::to_string),
        }
        for (session, link) in &state.links {
            match &link.stage {
                Stage::Connecting(..) => status.connecting = true,
                Stage::Open(connection) => match connection.ended() {
                    Some(why) => status.error = Some(why),
                    None => status.connections.push(Connected {
                        session: *session,
                        pid: connection.pid(),
                        since: connection.since,
                        protocol: connection.hello.protocol.clone(),
                    }),
                },
            }
        }
        status.connections.sort_by_key(|one| one.session);
        status
    }

    fn key(&self, session: Option<SessionId>) -> Option<SessionId> {
        session.filter(|_| !self.setup.share)
    }
}

/// A loss with what to do about it, where it does not say that already.
fn hinted(failure: Failure, hint: impl FnOnce() -> String) -> Failure {
    match failure {
        Failure::Lost(lost @ (Lost::Broken(_) | Lost::Session)) => {
            let mut why = lost.to_string();
            if !why.contains("\nhint: ") {
                why.push_str("\nhint: ");
                why.push_str(&hint());
            }
            Lost::Broken(why).into()
        }
        other => other,
    }
}
