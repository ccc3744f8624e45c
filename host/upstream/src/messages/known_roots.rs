//! The roots that clients have named over one connection, so that an upstream that asks for them
//! again and again does not have its client asked each time.

use std::sync::{Arc, Weak};

use dormouse_protocol::{Answer, Listener, SessionId};
use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared, WeakShared};
use parking_lot::Mutex;

/// Longest answer that is kept, in bytes: each session and each server has one.
const MAX_KEPT_BYTES: usize = 16 << 10;

/// An answer, or the code and message of an error.
type RootsOutcome = Result<Answer, (i64, String)>;

/// Open question for roots, which all waiting callers share.
type RootsQuestion = Shared<BoxFuture<'static, RootsOutcome>>;

/// Owner of roots, which decides how long they are known.
#[derive(Clone)]
pub(super) enum RootsOwner {
    /// A session whose client tells when its roots change.
    Session(SessionId),
    /// A call of a client that does not tell.
    Call(Weak<dyn Listener>),
}

impl RootsOwner {
    /// Returns the owner for a call.
    pub(super) fn call(listener: &Arc<dyn Listener>) -> Self {
        Self::Call(Arc::downgrade(listener))
    }

    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Session(one), Self::Session(other)) => one == other,
            (Self::Call(one), Self::Call(other)) => std::ptr::addr_eq(one.as_ptr(), other.as_ptr()),
            _ => false,
        }
    }

    fn is_over(&self) -> bool {
        matches!(self, Self::Call(listener) if listener.strong_count() == 0)
    }
}

enum RootsStage {
    Asking(WeakShared<BoxFuture<'static, RootsOutcome>>),
    Known(Answer),
}

/// Known roots of the clients that use a connection.
#[derive(Default)]
pub(crate) struct KnownRoots(Mutex<KnownRootsState>);

#[derive(Default)]
struct KnownRootsState {
    /// Number of changes of roots. Answers to questions from before the last one are not kept.
    changes: u64,
    known: Vec<(RootsOwner, RootsStage)>,
}

impl KnownRoots {
    /// Returns the answer to a question for roots: the known one, that of a question which is open
    /// already, or that of `asking`. An error is told to all who wait, and not kept.
    pub(super) async fn ask(
        self: &Arc<Self>,
        owner: RootsOwner,
        asking: impl Future<Output = RootsOutcome> + Send + 'static,
    ) -> RootsOutcome {
        let asking = {
            let mut inner = self.0.lock();
            inner.known.retain(|(other, _)| !other.is_over());
            let mut known = inner.known.iter();
            let open = match known.find(|(other, _)| other.is(&owner)) {
                Some((_, RootsStage::Known(answer))) => return Ok(answer.clone()),
                Some((_, RootsStage::Asking(open))) => open.upgrade(),
                None => None,
            };
            match open {
                Some(open) => open,
                None => self.begin(&mut inner, owner, asking),
            }
        };
        asking.await
    }

    fn begin(
        self: &Arc<Self>,
        inner: &mut KnownRootsState,
        owner: RootsOwner,
        asking: impl Future<Output = RootsOutcome> + Send + 'static,
    ) -> RootsQuestion {
        let (roots, of, changes) = (Arc::clone(self), owner.clone(), inner.changes);
        let asking = async move {
            let outcome = asking.await;
            if let Ok(answer) = &outcome {
                roots.learn(of, answer, changes);
            }
            outcome
        };
        let asking = asking.boxed().shared();
        if let Some(open) = asking.downgrade() {
            inner.put(owner, RootsStage::Asking(open));
        }
        asking
    }

    fn learn(&self, owner: RootsOwner, answer: &Answer, changes: u64) {
        let mut inner = self.0.lock();
        // Of more there is no need: whoever asks again has it asked for again.
        let is_short = !matches!(answer, Answer::Verbatim(text) if text.len() > MAX_KEPT_BYTES);
        if is_short && inner.changes == changes && !owner.is_over() {
            inner.put(owner, RootsStage::Known(answer.clone()));
        }
    }

    /// Forgets all roots: some of them are others now.
    pub(crate) fn changed(&self) {
        let mut inner = self.0.lock();
        inner.changes += 1;
        inner.known.clear();
    }

    /// Forgets the roots of a session that has ended.
    pub(crate) fn end_session(&self, session: SessionId) {
        let ended = RootsOwner::Session(session);
        self.0.lock().known.retain(|(owner, _)| !owner.is(&ended));
    }
}

impl KnownRootsState {
    fn put(&mut self, owner: RootsOwner, stage: RootsStage) {
        self.known.retain(|(other, _)| !other.is(&owner));
        self.known.push((owner, stage));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::tests::RecordingListener;

    struct Asked {
        roots: Arc<KnownRoots>,
        count: Arc<AtomicU32>,
    }

    impl Asked {
        fn new() -> Self {
            Self {
                roots: Arc::default(),
                count: Arc::default(),
            }
        }

        async fn ask(&self, owner: &RootsOwner, fails: bool) -> RootsOutcome {
            let count = Arc::clone(&self.count);
            let asking = async move {
                let count = count.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(100)).await;
                match fails {
                    true => Err((-32603, "no".to_owned())),
                    false => Ok(json!({ "roots": [], "count": count }).into()),
                }
            };
            self.roots.ask(owner.clone(), asking).await
        }

        fn count(&self) -> u32 {
            self.count.load(Ordering::Relaxed)
        }
    }

    #[tokio::test]
    async fn a_client_is_asked_once_until_its_roots_change() {
        let asked = Asked::new();
        let [one, other] = [1, 2].map(|id| RootsOwner::Session(SessionId(id)));
        let (first, second) = tokio::join!(asked.ask(&one, false), asked.ask(&one, false));
        assert_eq!(first, second);
        assert_eq!(asked.ask(&one, false).await, first);
        assert_eq!(asked.count(), 1);
        // Another session may have other roots.
        assert_ne!(asked.ask(&other, false).await, first);
        asked.roots.changed();
        assert_ne!(asked.ask(&one, false).await, first);
        assert_eq!(asked.count(), 3);
        // What was asked before the change is no answer to what is asked after it.
        asked.roots.changed();
        let before = asked.ask(&one, false);
        let changes = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            asked.roots.changed();
        };
        let _ = tokio::join!(before, changes);
        asked.ask(&one, false).await.unwrap();
        assert_eq!(asked.count(), 5);
    }

    #[tokio::test]
    async fn errors_are_not_kept_and_roots_of_a_call_end_with_it() {
        let asked = Asked::new();
        let listener: Arc<dyn Listener> = RecordingListener::able(&[]);
        let owner = RootsOwner::call(&listener);
        assert!(asked.ask(&owner, true).await.is_err());
        assert!(asked.ask(&owner, false).await.is_ok());
        assert!(asked.ask(&owner, true).await.is_ok());
        assert_eq!(asked.count(), 2);
        drop(listener);
        let listener: Arc<dyn Listener> = RecordingListener::able(&[]);
        let next = RootsOwner::call(&listener);
        assert!(asked.ask(&next, true).await.is_err());
        assert_eq!(asked.roots.0.lock().known.len(), 1);
    }

    /// Each session and each server would have one, as long as the session is there.
    #[tokio::test]
    async fn a_long_answer_is_not_kept() {
        let roots = Arc::new(KnownRoots::default());
        let owner = RootsOwner::Session(SessionId(1));
        for (bytes, kept) in [(100, 1), (MAX_KEPT_BYTES, 0)] {
            let text = json!({ "roots": [{ "uri": "x".repeat(bytes) }] }).to_string();
            let answer = Answer::read(text).unwrap();
            let asking = std::future::ready(Ok(answer.clone()));
            assert_eq!(roots.ask(owner.clone(), asking).await, Ok(answer));
            let is_known = |(_, stage): &&_| matches!(stage, RootsStage::Known(_));
            let known = roots.0.lock().known.iter().filter(is_known).count();
            assert_eq!(known, kept, "{bytes}");
            roots.changed();
        }
    }
}
