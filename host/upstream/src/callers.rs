//! Clients that an upstream may talk to: those whose calls run over its connection, and the
//! sessions that it belongs to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dormouse_protocol::{Listener, SessionId};
use tokio::time::Instant;

use super::given_up::{GivenUpRequests, Requester};
use super::known_roots::KnownRoots;

/// The listeners of the calls that run, or wait for the connection, and the sessions
/// that have called.
#[derive(Default)]
pub(super) struct Callers {
    inner: Mutex<Inner>,
    /// The roots that they have named.
    pub(super) roots: Arc<KnownRoots>,
}

#[derive(Default)]
struct Inner {
    next: u64,
    listeners: BTreeMap<u64, (Option<SessionId>, Arc<dyn Listener>)>,
    /// Until they end.
    sessions: BTreeSet<SessionId>,
    /// Whether somebody has called who has no session.
    is_of_sessionless: bool,
    given_up: GivenUpRequests,
    /// When a call has ended last.
    last_left: Option<Instant>,
}

/// Among the callers until dropped.
pub(super) struct Calling {
    callers: Arc<Callers>,
    number: u64,
}

/// Why what an upstream asks or says is for nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Nobody {
    /// Nobody calls whose client is able to.
    #[error("there is no client here that is able to")]
    Unable,
    /// Nothing says whose call it is about.
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
    ) -> Calling {
        let mut inner = self.inner();
        inner.next += 1;
        let number = inner.next;
        let caller = (session, Arc::clone(listener));
        inner.listeners.insert(number, caller);
        inner.sessions.extend(session);
        inner.is_of_sessionless |= session.is_none();
        drop(inner);
        Calling {
            callers: Arc::clone(self),
            number,
        }
    }

    /// The one who has called last, of those who are wanted.
    ///
    /// # Errors
    /// There is none, or it could be about another agent's call.
    pub(super) fn latest(
        &self,
        wanted: impl Fn(&dyn Listener) -> bool,
    ) -> Result<Arc<dyn Listener>, Nobody> {
        let inner = self.inner();
        let mut callers = inner.listeners.values().rev();
        let latest = callers.find(|(_, listener)| wanted(listener.as_ref()));
        let (session, listener) = latest.ok_or(Nobody::Unable)?;
        let mut all = inner.listeners.values();
        // Two calls of no session may be two agents'; one can be here twice.
        let clear = all.all(|(other, its)| match session {
            Some(_) => other == session,
            None => Arc::ptr_eq(its, listener),
        });
        match clear && inner.given_up.are_all_of(*session, Instant::now()) {
            true => Ok(Arc::clone(listener)),
            false => Err(Nobody::Unclear),
        }
    }

    /// The sessions whose connection it is.
    pub(super) fn sessions(&self) -> Vec<SessionId> {
        self.inner().sessions.iter().copied().collect()
    }

    /// Those who lose something when the connection ends: its sessions, and none in the place of
    /// one for clients that have none.
    pub(super) fn users(&self) -> Vec<Option<SessionId>> {
        let inner = self.inner();
        let sessions = inner.sessions.iter().copied().map(Some);
        let sessionless = inner.is_of_sessionless.then_some(None);
        sessions.chain(sessionless).collect()
    }

    /// Whether somebody may go on with what calls have begun: a session until it ends, and a client
    /// that has none for so long after the last call, because nothing tells that it has gone.
    pub(super) fn may_go_on(&self, patience: Duration) -> bool {
        let inner = self.inner();
        let is_patient = inner.last_left.is_none_or(|left| left.elapsed() < patience);
        !inner.sessions.is_empty() || inner.is_of_sessionless && is_patient
    }

    /// The one session that the connection is for, if it is for one: what is said and
    /// asked over it cannot be about another agent's doing then.
    pub(super) fn only_session(&self) -> Option<SessionId> {
        let inner = self.inner();
        let mut sessions = inner.sessions.iter();
        let only = sessions.next().filter(|_| sessions.next().is_none())?;
        // A call that waits for answers can outlive its session.
        let mut callers = inner.listeners.values();
        let only = Some(*only);
        let given_up = &inner.given_up;
        let is_clear =
            callers.all(|(other, _)| *other == only) && given_up.are_all_of(only, Instant::now());
        is_clear.then_some(only)?
    }

    /// Remembers a request of a caller's that nobody waits for any more, until it is answered.
    /// `listener` is that of the call, which still is among the callers.
    pub(super) fn give_up(&self, id: u64, listener: Option<&Arc<dyn Listener>>) {
        let mut inner = self.inner();
        let requester = listener.map_or(Requester::Dormouse, |listener| {
            let mut callers = inner.listeners.values();
            let caller = callers.find(|(_, its)| Arc::ptr_eq(its, listener));
            Requester::Client(caller.and_then(|(session, _)| *session))
        });
        inner.given_up.add(id, requester, Instant::now());
    }

    /// Whether an answer to that id may be one to a request that was given up. That is over then.
    pub(super) fn take_given_up(&self, id: u64) -> bool {
        self.inner().given_up.take(id)
    }

    /// Whether no call runs.
    pub(super) fn is_idle(&self) -> bool {
        self.inner().listeners.is_empty()
    }

    /// Whether no call runs, nor one that was given up.
    pub(super) fn is_settled(&self) -> bool {
        let inner = self.inner();
        inner.listeners.is_empty() && inner.given_up.are_all_of(None, Instant::now())
    }

    /// When a call has ended last; none where none has.
    pub(super) fn last_left(&self) -> Option<Instant> {
        self.inner().last_left
    }

    /// Whether somebody who listens is one of those whose calls run.
    pub(super) fn has(&self, listener: &Arc<dyn Listener>) -> bool {
        let inner = self.inner();
        let mut callers = inner.listeners.values();
        callers.any(|(_, its)| is_same(its, listener))
    }

    /// A session has ended.
    pub(super) fn leave(&self, session: SessionId) {
        self.inner().sessions.remove(&session);
        self.roots.end_session(session);
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Nothing that is done under this lock can be left half done.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        let mut inner = self.callers.inner();
        inner.listeners.remove(&self.number);
        inner.last_left = Some(Instant::now());
    }
}
/// Whether two listeners are one.
pub(super) fn is_same(one: &Arc<dyn Listener>, other: &Arc<dyn Listener>) -> bool {
    std::ptr::addr_eq(Arc::as_ptr(one), Arc::as_ptr(other))
}
