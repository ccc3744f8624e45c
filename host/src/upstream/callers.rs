//! Whom an upstream can talk to: the calls that run over its connection, and the
//! sessions that it is theirs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use crate::runtime::{Capability, Listener, SessionId};

/// The listeners of the calls that run, or wait for the connection, and the sessions
/// that have called.
#[derive(Default)]
pub(super) struct Callers(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    next: u64,
    listeners: BTreeMap<u64, (SessionId, Arc<dyn Listener>)>,
    /// Until they end.
    sessions: BTreeSet<SessionId>,
}

/// Among the callers until dropped.
pub(super) struct Calling {
    callers: Arc<Callers>,
    number: u64,
}

impl Callers {
    pub(super) fn join(
        self: &Arc<Self>,
        session: SessionId,
        listener: &Arc<dyn Listener>,
    ) -> Calling {
        let mut inner = self.inner();
        inner.next += 1;
        let number = inner.next;
        let caller = (session, Arc::clone(listener));
        inner.listeners.insert(number, caller);
        inner.sessions.insert(session);
        drop(inner);
        Calling {
            callers: Arc::clone(self),
            number,
        }
    }

    /// The one who has called last, of those who are wanted. What an upstream asks
    /// does not say which call it is about: nobody, if it could be about another
    /// agent's.
    pub(super) fn latest(
        &self,
        wanted: impl Fn(&dyn Listener) -> bool,
    ) -> Option<Arc<dyn Listener>> {
        let inner = self.inner();
        let mut callers = inner.listeners.values().rev();
        let (session, listener) = callers.find(|(_, listener)| wanted(listener.as_ref()))?;
        let mut others = inner.listeners.values();
        others
            .all(|(other, _)| other == session)
            .then(|| Arc::clone(listener))
    }

    /// The sessions whose connection it is.
    pub(super) fn sessions(&self) -> Vec<SessionId> {
        self.inner().sessions.iter().copied().collect()
    }

    /// The one session that the connection is for, if it is for one: what is said and
    /// asked over it cannot be about another agent's doing then.
    pub(super) fn only_session(&self) -> Option<SessionId> {
        let inner = self.inner();
        let mut sessions = inner.sessions.iter();
        let only = sessions.next().filter(|_| sessions.next().is_none())?;
        // A call that waits for answers can outlive its session.
        let mut callers = inner.listeners.values();
        callers.all(|(other, _)| other == only).then_some(*only)
    }

    /// Whether no call runs.
    pub(super) fn is_idle(&self) -> bool {
        self.inner().listeners.is_empty()
    }

    /// A session has ended.
    pub(super) fn leave(&self, session: SessionId) {
        self.inner().sessions.remove(&session);
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Nothing that is done under this lock can be left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        self.callers.inner().listeners.remove(&self.number);
    }
}

/// Everything that a client can be asked, for finding out what an upstream offers:
/// some have tools that they only show to those who can be asked.
pub(super) fn all_capabilities() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} })
}

/// What an upstream is told that it may ask: what the caller's client can do.
pub(super) fn capabilities(listener: Option<&dyn Listener>) -> Value {
    let can = |capability| listener.is_some_and(|listener| listener.supports(capability));
    let mut capabilities = Map::new();
    let mut elicitation = Map::new();
    if can(Capability::ElicitationForm) {
        elicitation.insert("form".into(), json!({}));
    }
    if can(Capability::ElicitationUrl) {
        elicitation.insert("url".into(), json!({}));
    }
    if !elicitation.is_empty() {
        capabilities.insert("elicitation".into(), Value::Object(elicitation));
    }
    if can(Capability::Sampling) {
        capabilities.insert("sampling".into(), json!({}));
    }
    if can(Capability::Roots) {
        capabilities.insert("roots".into(), json!({}));
    }
    Value::Object(capabilities)
}

/// The same, for an upstream that is told once, when it is greeted: it may rely on
/// being told of other roots, too, where the client tells of them.
pub(super) fn lasting_capabilities(listener: Option<&dyn Listener>) -> Value {
    let mut capabilities = capabilities(listener);
    let tells = listener.is_some_and(Listener::tells_roots);
    if let (true, Some(roots)) = (tells, capabilities.pointer_mut("/roots")) {
        *roots = json!({ "listChanged": true });
    }
    capabilities
}
