//! Making the connections of an upstream: one attempt for all who wait for it.

use std::sync::Arc;

use dormouse_launch::Launch;
use dormouse_protocol::{Listener, SessionId};
use futures::FutureExt as _;

use super::Upstream;
use super::state::UpstreamState;
use crate::Failure;
use crate::auth::NotLoggedIn;
use crate::connections::callers::{Callers, Calling};
use crate::connections::connection::{Connection, Opening};
use crate::connections::connection_handle::ConnectionHandle;
use crate::connections::connection_room::ConnectionPermit;
use crate::connections::links::{Connecting, Link, LinkStage};
use crate::messages::channel::Lost;
use crate::opening::introduction::Introduction;

impl Upstream {
    /// Returns the connection of a caller, if there is one.
    pub fn open(
        &self,
        session: Option<SessionId>,
        caller: &Arc<dyn Listener>,
    ) -> Option<ConnectionHandle> {
        if self.is_waited_for() || !self.setup.policy.is_known() {
            return None;
        }
        let introduction = Introduction::of(caller.as_ref());
        let state = self.state.lock();
        match &state.links.find(self.key(session), &introduction)?.stage {
            LinkStage::Open(connection) if connection.ended().is_none() => {
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
        connected.map_err(|lost| Failure::from(lost).with_hint(hint))
    }

    /// Asks the user to log in to the upstream.
    pub(super) async fn authorize(
        &self,
        listener: &Arc<dyn Listener>,
        challenge: Option<&str>,
    ) -> Result<(), NotLoggedIn> {
        let Launch::Http(http) = &self.setup.launch else {
            let why = "it wants a login, which a child process has to see to itself";
            return Err(NotLoggedIn::new(why));
        };
        let login = self.connector.login(&self.setup.server, http);
        login.authorize(listener, challenge).await
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
            LinkStage::Open(connection) => {
                let policy = &self.setup.policy;
                if !policy.is_known() {
                    let learnt = connection.learn(|_| !policy.is_known()).await;
                    learnt.map_err(Failure::into_lost)?;
                }
                connection
            }
            LinkStage::Connecting(_, connecting) => connecting.await?,
        };
        Ok(ConnectionHandle::new(connection, Some(calling)))
    }

    /// Whether there is no connection, nor one being made, for such a client.
    fn is_new(&self, key: Option<SessionId>, introduction: &Introduction) -> bool {
        let mut state = self.state.lock();
        state.forget_ended(&self.setup.server);
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
        state: &mut UpstreamState,
        session: Option<SessionId>,
        introduction: &Introduction,
        listener: &Arc<dyn Listener>,
        permit: &mut Option<Arc<ConnectionPermit>>,
    ) -> Result<Option<(LinkStage, Calling)>, Lost> {
        let key = self.key(session);
        // Servers ask while they are being connected to.
        if let Some(link) = state.links.find(key, introduction) {
            let calling = link.callers.join(session, listener, None);
            return Ok(Some((link.stage.clone(), calling)));
        }
        state.may_connect()?;
        let Some(permit) = permit.take() else {
            return Ok(None);
        };
        let callers = Arc::<Callers>::default();
        let calling = callers.join(session, listener, None);
        let number = state.links.number();
        let connecting = self.start(number, introduction.clone(), &callers, permit);
        let stage = LinkStage::Connecting(introduction.clone(), connecting);
        let link = Link {
            session: key,
            callers,
            stage: stage.clone(),
        };
        state.links.insert(number, link);
        Ok(Some((stage, calling)))
    }

    fn start(
        &self,
        number: u64,
        introduction: Introduction,
        callers: &Arc<Callers>,
        permit: Arc<ConnectionPermit>,
    ) -> Connecting {
        let (me, connector) = (self.me.clone(), Arc::clone(&self.connector));
        let (setup, callers) = (self.setup.clone(), Arc::clone(callers));
        let subscriptions = Arc::clone(&self.subscriptions);
        let fetch_turns = self.fetch_turns.clone();
        let task = tokio::spawn(async move {
            let opening = Opening {
                connector: &connector,
                server: &setup.server,
                launch: &setup.launch,
                patience: setup.start_timeout,
                callers,
                questions: setup.questions.clone(),
                policy: Some(Arc::clone(&setup.policy)),
                introduction,
                known: setup.policy.reactions(),
                limits: setup.limits,
                permit: Some(permit),
                fetch_turns,
            };
            let result = match opening.open().await {
                Ok(opened) => {
                    let connection = opened.connection;
                    connection.compare(opened.offered);
                    drop(opened.fetch_turn);
                    connection.follow(subscriptions.follower());
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
                link.stage = LinkStage::Open(Arc::clone(connection));
                state.failures.connected();
                state
                    .server_info
                    .clone_from(&connection.server_introduction.server_info);
            }
            Err(lost) => {
                state.links.remove(number);
                state.failures.failed(lost.clone());
            }
        }
        drop(guard);
        if let Err(lost) = result
            && *lost != Lost::HostEnds
            && !self.connector.is_closing()
        {
            self.setup.policy.failed(lost);
        }
    }
}
