//! Clients that an upstream may talk to: those whose calls run over its connection, and the
//! sessions that it belongs to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use dormouse_protocol::{Listener, SessionId};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::given_up::{GivenUpRequests, Requester};
use crate::messages::known_roots::KnownRoots;

/// The listeners of the calls that run, or wait for the connection, and the sessions
/// that have called.
#[derive(Default)]
pub(crate) struct Callers {
    inner: Mutex<CallersState>,
    /// Roots that the callers have named.
    pub(crate) roots: Arc<KnownRoots>,
}

#[derive(Default)]
struct CallersState {
    next: u64,
    listeners: BTreeMap<u64, Caller>,
    /// Sessions that have called, until they end.
    sessions: BTreeSet<SessionId>,
    /// Whether a client without a session has called.
    is_of_sessionless: bool,
    given_up: GivenUpRequests,
    /// End of the last call that has ended.
    last_left: Option<Instant>,
}

struct Caller {
    session: Option<SessionId>,
    listener: Arc<dyn Listener>,
    /// Subject of its request; none while it waits for the connection.
    subject: Option<RequestSubject>,
}

/// Subject of a request: its method, and the name or URI of what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestSubject {
    pub(crate) method: String,
    pub(crate) name: Option<String>,
}

/// Caller, until this is dropped.
pub(super) struct Calling {
    callers: Arc<Callers>,
    number: u64,
}

/// Reason for which a question or a notification of an upstream goes to nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Nobody {
    /// No caller's client is able to take it.
    #[error("there is no client here that is able to")]
    Unable,
    /// The agent whose call it is about is not clear.
    #[error(
        "calls of several agents are running, or were given up and not answered yet, and nothing \
         says which of them this is about\n\
         hint: without `share = true`, each session of an agent has a server of its own"
    )]
    Unclear,
    /// The call that it is about was given up.
    #[error("nobody waits for the call that this is about any more")]
    GivenUp,
}

impl Callers {
    pub(super) fn join(
        self: &Arc<Self>,
        session: Option<SessionId>,
        listener: &Arc<dyn Listener>,
        subject: Option<RequestSubject>,
    ) -> Calling {
        let mut inner = self.inner.lock();
        inner.next += 1;
        let number = inner.next;
        let caller = Caller {
            session,
            listener: Arc::clone(listener),
            subject,
        };
        inner.listeners.insert(number, caller);
        inner.sessions.extend(session);
        inner.is_of_sessionless |= session.is_none();
        drop(inner);
        Calling {
            callers: Arc::clone(self),
            number,
        }
    }

    /// Returns the wanted listener that has called last.
    ///
    /// # Errors
    /// There is none, or the message could be about another agent's call.
    pub(crate) fn latest(
        &self,
        wanted: impl Fn(&dyn Listener) -> bool,
    ) -> Result<Arc<dyn Listener>, Nobody> {
        let inner = self.inner.lock();
        let mut callers = inner.listeners.values().rev();
        let latest = callers.find(|caller| wanted(caller.listener.as_ref()));
        let latest = latest.ok_or(Nobody::Unable)?;
        let mut all = inner.listeners.values();
        // Two calls of no session may be two agents'; one can be here twice.
        let clear = all.all(|other| match latest.session {
            Some(_) => other.session == latest.session,
            None => Arc::ptr_eq(&other.listener, &latest.listener),
        });
        match clear && inner.given_up.are_all_of(latest.session, Instant::now()) {
            true => Ok(Arc::clone(&latest.listener)),
            false => Err(Nobody::Unclear),
        }
    }

    /// Returns the sessions that the connection belongs to.
    pub(crate) fn sessions(&self) -> Vec<SessionId> {
        self.inner.lock().sessions.iter().copied().collect()
    }

    /// Returns the users who lose something when the connection ends: its sessions, and `None` for
    /// clients without a session.
    pub(super) fn users(&self) -> Vec<Option<SessionId>> {
        let inner = self.inner.lock();
        let sessions = inner.sessions.iter().copied().map(Some);
        let sessionless = inner.is_of_sessionless.then_some(None);
        sessions.chain(sessionless).collect()
    }

    /// Whether somebody may go on with what calls have begun: a session until it ends, and a client
    /// without one for `patience` after the last call, because nothing tells that it has gone.
    pub(super) fn may_go_on(&self, patience: Duration) -> bool {
        let inner = self.inner.lock();
        let is_patient = inner.last_left.is_none_or(|left| left.elapsed() < patience);
        !inner.sessions.is_empty() || inner.is_of_sessionless && is_patient
    }

    /// Returns the session that the connection is for, if it is for only one: messages over it
    /// cannot be about another agent's calls then.
    pub(crate) fn only_session(&self) -> Option<SessionId> {
        let inner = self.inner.lock();
        let mut sessions = inner.sessions.iter();
        let only = sessions.next().filter(|_| sessions.next().is_none())?;
        // A call that waits for answers can outlive its session.
        let mut callers = inner.listeners.values();
        let only = Some(*only);
        let given_up = &inner.given_up;
        let is_clear = callers.all(|caller| caller.session == only)
            && given_up.are_all_of(only, Instant::now());
        is_clear.then_some(only)?
    }

    /// Remembers a request that nobody waits for any more, until it is answered. `listener` is that
    /// of its call, which still is among the callers; none for a request of Dormouse.
    pub(crate) fn give_up(&self, id: u64, listener: Option<&Arc<dyn Listener>>) {
        let mut inner = self.inner.lock();
        let requester = listener.map_or(Requester::Dormouse, |listener| {
            let mut callers = inner.listeners.values();
            let caller = callers.find(|caller| Arc::ptr_eq(&caller.listener, listener));
            Requester::Client(caller.and_then(|caller| caller.session))
        });
        inner.given_up.add(id, requester, Instant::now());
    }

    /// Whether an answer with this id may be to a request that was given up. Forgets that request.
    pub(crate) fn take_given_up(&self, id: u64) -> bool {
        self.inner.lock().given_up.take(id)
    }

    /// Whether no call runs.
    pub(crate) fn is_idle(&self) -> bool {
        self.inner.lock().listeners.is_empty()
    }

    /// Whether no call runs, nor one that was given up.
    pub(super) fn is_settled(&self) -> bool {
        let inner = self.inner.lock();
        inner.listeners.is_empty() && inner.given_up.are_all_of(None, Instant::now())
    }

    /// Returns the end of the last call that has ended; none where none has.
    pub(super) fn last_left(&self) -> Option<Instant> {
        self.inner.lock().last_left
    }

    /// Whether a listener is that of a caller.
    pub(crate) fn has(&self, listener: &Arc<dyn Listener>) -> bool {
        let inner = self.inner.lock();
        let mut callers = inner.listeners.values();
        callers.any(|caller| is_same(&caller.listener, listener))
    }

    /// Returns the session of a caller, if that has one; none where the listener is no caller's.
    pub(crate) fn session_of(&self, listener: &Arc<dyn Listener>) -> Option<Option<SessionId>> {
        let inner = self.inner.lock();
        let mut callers = inner.listeners.values();
        let caller = callers.find(|caller| is_same(&caller.listener, listener));
        caller.map(|caller| caller.session)
    }

    /// Returns the subjects of the requests that an answer of a listener's may serve, each with the
    /// listener of its call: those of its own calls where `is_its_own` says that it was asked about
    /// one, and else those of all calls of its client.
    pub(crate) fn subjects(
        &self,
        listener: &Arc<dyn Listener>,
        is_its_own: bool,
    ) -> Vec<(Arc<dyn Listener>, RequestSubject)> {
        let inner = self.inner.lock();
        let callers = inner.listeners.values().filter(|caller| {
            let is_of_client = !is_its_own && caller.listener.client() == listener.client();
            is_of_client || is_same(&caller.listener, listener)
        });
        let subjects = callers.filter_map(|caller| {
            let subject = caller.subject.clone()?;
            Some((Arc::clone(&caller.listener), subject))
        });
        subjects.collect()
    }

    /// Removes a session that has ended.
    pub(super) fn leave(&self, session: SessionId) {
        self.inner.lock().sessions.remove(&session);
        self.roots.end_session(session);
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        let mut inner = self.callers.inner.lock();
        inner.listeners.remove(&self.number);
        inner.last_left = Some(Instant::now());
    }
}
/// Whether two listeners are the same.
pub(crate) fn is_same(one: &Arc<dyn Listener>, other: &Arc<dyn Listener>) -> bool {
    std::ptr::addr_eq(Arc::as_ptr(one), Arc::as_ptr(other))
}
