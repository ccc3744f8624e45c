//! The connections of one server: made on first use, one for each session or one
//! for all of the same kind of client, and made again when they have ended.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use dormouse_launch::Launch;
use dormouse_policy::UpstreamLimits;
use dormouse_protocol::{Listener, QuestionLimit, SessionId};
use futures::FutureExt as _;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::callers::{Callers, Calling};
use super::connection::{Connection, Opening};
use super::connection_room::{ConnectionCount, ConnectionPermit, Full, RoomQueue};
use super::idle_connections::{IdleConnection, end_one};
use super::links::{Connecting, Link, Links, Stage};
use super::recent_failures::RecentFailures;
use crate::listing::follow::{FetchTurns, MAX_FETCHING};
use crate::listing::subscriptions::{Subscription, Subscriptions};
use crate::messages::channel::Lost;
use crate::messages::large::without_blocking;
use crate::messages::message;
use crate::messages::message::HEADER_MISMATCH;
use crate::opening::introduction::Introduction;
use crate::status::{Connected, Status};
use crate::{Connector, Failure, UpstreamPolicy};

/// Error of a connection that is to be made and is not configured so any more.
pub const RETIRED: &str = "its configuration has changed since the call began\nhint: call it again";

/// Interval at which a caller checks for room for its connection.
const ROOM_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Time that a connection that was ended may take to be gone, before another one is ended for the
/// same caller.
const MAX_ENDING: Duration = Duration::from_secs(10);

/// A server's upstream, as it is configured.
#[derive(Clone)]
pub struct Setup {
    /// The server's name.
    pub server: String,
    /// Launch of the upstream.
    pub launch: Launch,
    /// Whether all sessions share a connection, as far as their clients introduce themselves in
    /// the same way. Requests of no session always do.
    pub share: bool,
    /// Whether the upstream is not to be stopped for being idle.
    pub is_to_stay: bool,
    /// Time after their last call for which clients without a session keep connections that have
    /// processes running.
    pub sessionless_patience: Duration,
    /// Time that the upstream may take to connect and to say what it offers.
    pub start_timeout: Duration,
    /// Limits of what the upstream may send.
    pub limits: UpstreamLimits,
    /// Limit of its questions that may wait for an answer.
    pub questions: QuestionLimit,
    /// Policy between the upstream and its callers.
    pub gate: Arc<dyn UpstreamPolicy>,
}

/// Upstream of one server.
pub struct Upstream {
    me: Weak<Self>,
    hub: Arc<Connector>,
    setup: Setup,
    state: Mutex<State>,
    subscriptions: Arc<Subscriptions>,
    /// Places of connections that fetch their lists again.
    fetching: Arc<Semaphore>,
    count: ConnectionCount,
    room_queue: RoomQueue,
}

#[derive(Default)]
struct State {
    links: Links,
    failures: RecentFailures,
    server_info: Map<String, Value>,
    /// Whether nothing is to be connected any more.
    is_retired: bool,
}

impl State {
    /// Checks whether something may be connected now.
    ///
    /// # Errors
    /// It may not, or not yet.
    fn may_connect(&self) -> Result<(), Lost> {
        match self.is_retired {
            true => Err(Lost::Broken(RETIRED.to_owned())),
            false => self.failures.may_try(),
        }
    }
}

/// Outcome of ending connections because nobody called.
pub struct StoppedIdle {
    /// Whether no connection is left.
    pub is_all: bool,
    /// Sessions whose connections were ended, and `None` for clients without a session.
    pub users: Vec<Option<SessionId>>,
}

/// A connection for one call, whose caller can be asked something from the moment that
/// it waits for the connection: some servers ask at once.
pub struct ConnectionHandle {
    connection: Arc<Connection>,
    _calling: Option<Calling>,
}

impl ConnectionHandle {
    fn new(connection: Arc<Connection>, calling: Option<Calling>) -> Self {
        Self {
            connection,
            _calling: calling,
        }
    }
}

impl Upstream {
    /// Creates an upstream that nothing is done with until something is asked of it.
    #[must_use]
    pub fn new(hub: Arc<Connector>, setup: Setup) -> Arc<Self> {
        let upstream = Arc::new_cyclic(|me| Self {
            me: me.clone(),
            hub,
            setup,
            state: Mutex::default(),
            subscriptions: Arc::default(),
            fetching: Arc::new(Semaphore::new(MAX_FETCHING)),
            count: ConnectionCount::default(),
            room_queue: RoomQueue::default(),
        });
        upstream.hub.add(Arc::downgrade(&upstream));
        upstream
    }

    /// Returns the connections that no call uses.
    pub(crate) fn idle(&self) -> Vec<IdleConnection> {
        let Some(upstream) = self.me.upgrade() else {
            return Vec::new();
        };
        let state = self.state.lock();
        let idle = state.links.idle();
        let idle = idle.map(|(number, link, connection, since)| IdleConnection {
            upstream: Arc::clone(&upstream),
            number,
            connection: Arc::clone(connection),
            since,
            callers: Arc::clone(&link.callers),
            sessionless_patience: self.setup.sessionless_patience,
            is_to_stay: self.setup.is_to_stay,
        });
        idle.collect()
    }

    /// Ends a connection if no call uses it, and tells its users. False where one does.
    pub(crate) fn end_for_another(&self, number: u64) -> bool {
        let ended = self.state.lock().links.take_idle(&BTreeSet::from([number]));
        self.tell_ended(&ended);
        !ended.is_empty()
    }

    /// Tells the users of connections that these have ended for others.
    fn tell_ended(&self, ended: &[Link]) {
        let server = &self.setup.server;
        for link in ended {
            tracing::info!(
                "there are as many connections as are allowed: that of server `{server}` to an \
                 idle session is ended for another one"
            );
            for user in link.callers.users() {
                let whose = whose_state(user);
                let text = format!(
                    "the connection to server `{server}` was ended, because there are as many \
                     connections as are allowed: what the server has kept in memory for {whose} is \
                     gone\n\
                     hint: `connections` in `[limits]` and in `[servers.{server}.limits]` say how \
                     many"
                );
                self.setup.gate.tell(user, text);
            }
        }
    }

    /// Waits until all changes of lists that the upstream has announced are known.
    pub async fn lists_settled(&self) {
        let open = self.state.lock().links.open();
        let settled = open
            .iter()
            .map(|(_, connection, _)| connection.lists_settled());
        futures::future::join_all(settled).await;
    }

    /// Returns the connection of a caller, if there is one.
    pub fn open(
        &self,
        session: Option<SessionId>,
        caller: &Arc<dyn Listener>,
    ) -> Option<ConnectionHandle> {
        if self.is_waited_for() {
            return None;
        }
        let introduction = Introduction::of(caller.as_ref());
        let state = self.state.lock();
        match &state.links.find(self.key(session), &introduction)?.stage {
            Stage::Open(connection) if connection.ended().is_none() => {
                Some(ConnectionHandle::new(Arc::clone(connection), None))
            }
            _ => None,
        }
    }

    /// Returns the connection of a session, made now if need be. All who wait share one attempt,
    /// which goes on if some of them give up. When it is there, the upstream policy knows what the
    /// upstream offers. Where the upstream wants to know its user first, the user is asked to log
    /// in.
    ///
    /// # Errors
    /// It cannot be made, or is not tried again yet, or nobody has logged in.
    pub async fn connect(
        &self,
        session: Option<SessionId>,
        listener: &Arc<dyn Listener>,
    ) -> Result<ConnectionHandle, Failure> {
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

    /// Asks the user to log in to the upstream.
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
    ) -> Result<ConnectionHandle, Lost> {
        let key = self.key(session);
        let introduction = Introduction::of(listener.as_ref());
        let mut permit = None;
        let (stage, calling) = loop {
            if permit.is_none() && self.is_new(key, &introduction) {
                permit = Some(self.room_for_one().await?);
            }
            let undecided = {
                let mut state = self.state.lock();
                match state.links.undecided(key, &introduction) {
                    Some(connecting) => connecting,
                    None => match self.join(
                        &mut state,
                        session,
                        &introduction,
                        listener,
                        &mut permit,
                    )? {
                        Some(joined) => break joined,
                        // The one that was there has ended meanwhile.
                        None => continue,
                    },
                }
            };
            // Whether it can be shared shows when it is there; if it never is, that is
            // nothing to this caller.
            let _ = undecided.await;
        };
        let connection = match stage {
            Stage::Open(connection) => connection,
            Stage::Connecting(_, connecting) => connecting.await?,
        };
        Ok(ConnectionHandle::new(connection, Some(calling)))
    }

    /// Whether there is no connection, nor one being made, for such a client.
    fn is_new(&self, key: Option<SessionId>, introduction: &Introduction) -> bool {
        let mut state = self.state.lock();
        self.bury(&mut state);
        if self.is_waited_for() {
            // Or one session that calls without a pause would keep it from all others.
            let ended = state.links.take_idle_of(key, introduction);
            let is_new = state.links.find(key, introduction).is_none();
            drop(state);
            self.tell_ended(&ended);
            return is_new;
        }
        state.links.find(key, introduction).is_none()
    }

    /// Adds a caller to those of its connection, which is begun if there is none: that takes the
    /// permit. None where there is neither connection nor permit.
    fn join(
        &self,
        state: &mut State,
        session: Option<SessionId>,
        introduction: &Introduction,
        listener: &Arc<dyn Listener>,
        permit: &mut Option<Arc<ConnectionPermit>>,
    ) -> Result<Option<(Stage, Calling)>, Lost> {
        let key = self.key(session);
        // Servers ask while they are being connected to.
        if let Some(link) = state.links.find(key, introduction) {
            let calling = link.callers.join(session, listener);
            return Ok(Some((link.stage.clone(), calling)));
        }
        state.may_connect()?;
        let Some(permit) = permit.take() else {
            return Ok(None);
        };
        let callers = Arc::<Callers>::default();
        let calling = callers.join(session, listener);
        let number = state.links.number();
        let connecting = self.start(number, introduction.clone(), &callers, permit);
        let stage = Stage::Connecting(introduction.clone(), connecting);
        let link = Link {
            session: key,
            callers,
            stage: stage.clone(),
        };
        state.links.insert(number, link);
        Ok(Some((stage, calling)))
    }

    /// Waits for room for another connection: each may be a process of its own. Where there are as
    /// many as there may be, an idle one is ended ([`end_one`]), and its end waited for.
    ///
    /// # Errors
    /// None has ended in the time that a start may take.
    async fn room_for_one(&self) -> Result<Arc<ConnectionPermit>, Lost> {
        self.state.lock().may_connect()?;
        let end = Instant::now() + self.setup.start_timeout;
        let too_late = |full: Full| Lost::Broken(full.message(&self.setup.server));
        let most = self.setup.limits.connections;
        // Whoever comes first is served first, in the server and in the host.
        let turn = tokio::time::timeout_at(end, self.room_queue.turn()).await;
        let _turn = turn.map_err(|_| too_late(Full::Server(most)))?;
        let room = &self.hub.connection_room;
        let (mut waiting, mut turn_of_host) = (None, None);
        let mut ends_next = Instant::now();
        loop {
            self.state.lock().may_connect()?;
            let taken = match turn_of_host.is_none() && room.queue.has_waiting() {
                true => Err(Full::Host(room.most())),
                false => room.take(&self.count, most),
            };
            let full = match taken {
                Ok(permit) => return Ok(permit),
                Err(full) => full,
            };
            waiting.get_or_insert_with(|| self.room_queue.wait());
            if matches!(full, Full::Host(_)) && turn_of_host.is_none() {
                let turn = tokio::time::timeout_at(end, room.queue.turn()).await;
                let turn = turn.map_err(|_| too_late(full))?;
                turn_of_host = Some((turn, room.queue.wait()));
                continue;
            }
            let now = Instant::now();
            if now >= end {
                return Err(too_late(full));
            }
            // One that has been ended may take a while to be gone.
            if now >= ends_next {
                let idle = match full {
                    Full::Server(_) => self.idle(),
                    Full::Host(_) => self.hub.idle(),
                };
                if end_one(idle).await {
                    ends_next = now + MAX_ENDING;
                }
            }
            tokio::time::sleep(ROOM_POLL_INTERVAL).await;
        }
    }

    /// Whether somebody waits for the room of a connection that no call uses.
    fn is_waited_for(&self) -> bool {
        self.room_queue.has_waiting() || self.hub.connection_room.queue.has_waiting()
    }

    /// Forgets connections that have ended by themselves.
    fn bury(&self, state: &mut State) {
        let State {
            links, failures, ..
        } = state;
        links.retain(|link| {
            let Stage::Open(connection) = &link.stage else {
                return true;
            };
            let Some(why) = connection.ended() else {
                return true;
            };
            tracing::info!("server `{}` has ended: {why}", self.setup.server);
            failures.ended(why, connection.opened.elapsed());
            false
        });
    }

    fn start(
        &self,
        number: u64,
        introduction: Introduction,
        callers: &Arc<Callers>,
        permit: Arc<ConnectionPermit>,
    ) -> Connecting {
        let (me, hub) = (self.me.clone(), Arc::clone(&self.hub));
        let (setup, callers) = (self.setup.clone(), Arc::clone(callers));
        let subscriptions = Arc::clone(&self.subscriptions);
        let turns = FetchTurns {
            places: Arc::clone(&self.fetching),
            patience: setup.start_timeout,
        };
        let task = tokio::spawn(async move {
            let opening = Opening {
                hub: &hub,
                server: &setup.server,
                launch: &setup.launch,
                patience: setup.start_timeout,
                callers,
                questions: setup.questions.clone(),
                gate: Some(Arc::clone(&setup.gate)),
                introduction,
                known: setup.gate.reactions(),
                limits: setup.limits,
                permit: Some(permit),
            };
            let result = match opening.open().await {
                Ok((connection, offered)) => {
                    setup.gate.opened(offered);
                    connection.follow(subscriptions.follower(), turns);
                    // What the first call changes is told already.
                    subscriptions.known().await;
                    Ok(Arc::new(connection))
                }
                Err(lost) => Err(lost),
            };
            if let Some(me) = me.upgrade() {
                me.settle(number, &result);
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

    /// Notes the outcome of an attempt, unless it was stopped meanwhile.
    fn settle(&self, number: u64, result: &Result<Arc<Connection>, Lost>) {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let Some(link) = state.links.get_mut(number) else {
            return;
        };
        match result {
            Ok(connection) => {
                link.stage = Stage::Open(Arc::clone(connection));
                state.failures.connected();
                state.server_info.clone_from(&connection.hello.server_info);
            }
            Err(lost) => {
                state.links.remove(number);
                state.failures.failed(lost.clone());
            }
        }
        drop(guard);
        if let Err(lost) = result
            && *lost != Lost::HostEnds
            && !self.hub.is_closing()
        {
            self.setup.gate.failed(lost);
        }
    }

    /// Sends the upstream a request, over one of its connections. `params` is the text of a JSON
    /// object.
    ///
    /// # Errors
    /// The upstream policy does not let it through, the upstream refuses, or it is lost.
    pub async fn request(
        &self,
        session: Option<SessionId>,
        handle: ConnectionHandle,
        method: &str,
        params: &str,
        listener: &Arc<dyn Listener>,
    ) -> Result<String, Failure> {
        let not = |error| Lost::Broken(format!("the parameters are no JSON object: {error}"));
        // Nothing else of them is made to values, which take many times the memory of their text.
        let members = without_blocking(params.len(), || message::object(params)).map_err(not)?;
        let name = match method {
            "tools/call" | "prompts/get" => Some(message::name(&members).map_err(Lost::Broken)?),
            _ => None,
        };
        let name = name.as_deref();
        drop(members);
        self.admit(&handle.connection, method, name, listener)
            .await?;
        let connection = &handle.connection;
        let mut answer = connection.request(session, listener, method, params).await;
        let mut handle = Some(handle);
        let again = match (&answer, &handle) {
            (Err(Failure::Lost(Lost::Session)), Some(lost)) => {
                self.forget(&lost.connection);
                true
            }
            // It wants other arguments in headers than its list has named, so that has
            // changed since, and whoever sees it anew may ask again (MCP 2026-07-28).
            (Err(Failure::Refused(refusal)), Some(same)) if refusal.code == HEADER_MISMATCH => {
                let offered = same.connection.list().await;
                offered
                    .map(|offered| self.setup.gate.opened(offered))
                    .is_ok()
            }
            // It may let everybody look, and want to know who does something.
            (Err(Failure::Lost(Lost::Auth { challenge })), Some(closed)) => {
                self.shut_out(&closed.connection, challenge);
                // Its place may be the last one that there is.
                handle = None;
                self.authorize(listener, challenge.as_deref()).await?;
                true
            }
            _ => false,
        };
        if again {
            drop(handle.take());
            let next = self.connect(session, listener).await?;
            self.admit(&next.connection, method, name, listener).await?;
            answer = next
                .connection
                .request(session, listener, method, params)
                .await;
            handle = Some(next);
        }
        if let (Err(Failure::Lost(Lost::Auth { challenge })), Some(handle)) = (&answer, &handle) {
            self.shut_out(&handle.connection, challenge);
        }
        let server = &self.setup.server;
        let hint = || format!("call it again, or `dormouse restart {server}` first");
        let answer = answer.map_err(|failure| hinted(failure, hint));
        answer.map(|result| String::from(Box::<str>::from(result)))
    }

    /// Checks whether a request may go out over a connection.
    async fn admit(
        &self,
        connection: &Connection,
        method: &str,
        name: Option<&str>,
        listener: &Arc<dyn Listener>,
    ) -> Result<(), Failure> {
        let admitted = self.setup.gate.admit(method, name, listener).await;
        admitted.map_err(Failure::Barred)?;
        let tool = name.filter(|_| method == "tools/call");
        let Some((tool, why)) = tool.and_then(|tool| Some((tool, connection.withholds(tool)?)))
        else {
            return Ok(());
        };
        self.setup.gate.missed(tool);
        Err(Failure::Barred(why))
    }

    /// Makes the upstream policy hear of changes of a resource, while the upstream is connected.
    /// Nothing is started for that.
    #[must_use]
    pub fn subscribe(&self, uri: &str) -> Subscription {
        self.subscriptions.add(uri)
    }

    /// Tells a session's connections that the session wants to hear other logs. One that is being
    /// made is told when it is there.
    pub async fn level_changed(&self, session: SessionId) {
        let stages = self.state.lock().links.of(self.key(Some(session)), session);
        for stage in stages {
            if let Stage::Open(connection) = stage {
                connection.set_level().await;
            }
        }
    }

    /// Tells a session's connections that the session has other roots. Has to be called inside of a
    /// tokio runtime.
    pub fn roots_changed(&self, session: SessionId) {
        let key = self.key(Some(session));
        let stages = {
            let state = self.state.lock();
            state.links.roots_changed(key, session);
            state.links.of(key, session)
        };
        for stage in stages {
            tokio::spawn(async move {
                let connected = match stage {
                    Stage::Connecting(_, connecting) => connecting.await,
                    Stage::Open(connection) => Ok(connection),
                };
                if let Ok(connection) = connected {
                    connection.roots_changed().await;
                }
            });
        }
    }

    /// Notes that a connection is of no use before its user logs in.
    fn shut_out(&self, connection: &Arc<Connection>, challenge: &Option<String>) {
        self.state.lock().failures.shut_out(challenge.clone());
        self.forget(connection);
    }

    fn forget(&self, gone: &Arc<Connection>) {
        self.state
            .lock()
            .links
            .retain(|link| !matches!(&link.stage, Stage::Open(known) if Arc::ptr_eq(known, gone)));
    }

    /// Whether the connections of a session are done with all that it has asked.
    pub fn is_settled(&self, session: SessionId) -> bool {
        let state = self.state.lock();
        let mut links = state.links.iter();
        let key = self.key(Some(session));
        links.all(|link| link.session != key || link.callers.is_settled())
    }

    /// Whether there is a connection that is a session's own.
    pub fn is_connected(&self, session: SessionId) -> bool {
        let state = self.state.lock();
        let own = Some(session);
        let mut links = state.links.iter().filter(|link| link.session == own);
        links.any(|link| is_there(&link.stage))
    }

    /// Whether there is a connection that a session has a part in: its own, or one that is shared.
    pub fn has_part(&self, session: SessionId) -> bool {
        let stages = self.state.lock().links.of(self.key(Some(session)), session);
        stages.iter().any(is_there)
    }

    /// Whether processes run that the upstream has started since it was connected, over a
    /// connection that a session has a part in. Takes some milliseconds.
    pub fn has_new_processes(&self, session: SessionId) -> bool {
        let stages = self.state.lock().links.of(self.key(Some(session)), session);
        stages.iter().any(|stage| match stage {
            Stage::Open(connection) => connection.has_new_processes(),
            Stage::Connecting(..) => false,
        })
    }

    /// Ends the connections of a session, once no call uses them any more.
    pub fn end_session(&self, session: SessionId) {
        let ended = self.state.lock().links.end_session(session);
        drop(ended);
    }

    /// Makes no connections any more. Those that there are stay.
    pub fn retire(&self) {
        self.state.lock().is_retired = true;
    }

    /// Ends all connections, each once no call uses it any more, and forgets what
    /// has failed: the next request connects at once.
    pub fn stop(&self) {
        let mut state = self.state.lock();
        let links = state.links.take_all();
        state.failures.forget();
        drop(state);
        drop(links);
    }

    /// Ends the connections that no call uses and that have no state that can be seen: processes
    /// that the upstream has started since it was connected, for a session that goes on or a client
    /// without one that may come back.
    pub async fn stop_idle(&self) -> StoppedIdle {
        let open = self.state.lock().links.open();
        let patience = self.setup.sessionless_patience;
        let judged = tokio::task::spawn_blocking(move || {
            let stateless = open.into_iter().filter(|(_, connection, callers)| {
                !callers.may_go_on(patience) || !connection.has_new_processes()
            });
            stateless.map(|(number, ..)| number).collect()
        });
        // Where that cannot be found out, nothing is lost.
        let stateless = judged.await.unwrap_or_default();
        let mut state = self.state.lock();
        let ended = state.links.take_idle(&stateless);
        let is_all = state.links.iter().next().is_none();
        if is_all {
            state.failures.forget();
        }
        drop(state);
        let users = ended.iter().flat_map(|link| link.callers.users());
        StoppedIdle {
            is_all,
            users: users.collect(),
        }
    }

    /// Returns the status of the upstream.
    #[must_use]
    pub fn status(&self) -> Status {
        let state = self.state.lock();
        let mut status = Status {
            server_info: state.server_info.clone(),
            ..Status::default()
        };
        match state.failures.last() {
            Some(Lost::Auth { challenge }) => status.needs_auth = Some(challenge.clone()),
            error => status.error = error.map(ToString::to_string),
        }
        for link in state.links.iter() {
            match &link.stage {
                Stage::Connecting(..) => status.connecting = true,
                Stage::Open(connection) => match connection.ended() {
                    Some(why) => status.error = Some(why),
                    None => status.connections.push(Connected {
                        session: link.session,
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

/// Whether a connection is there, or is being made.
fn is_there(stage: &Stage) -> bool {
    match stage {
        Stage::Open(connection) => connection.ended().is_none(),
        Stage::Connecting(..) => true,
    }
}

/// Returns words for those whose state a server has kept: a session, or clients without one.
pub fn whose_state(user: Option<SessionId>) -> &'static str {
    match user {
        Some(_) => "this client",
        None => "clients without a session",
    }
}

/// Adds a hint to a failure that has lost the connection, where it has none yet.
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
