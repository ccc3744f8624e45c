//! Admission of requests to an upstream, as it is when they go on.

use std::sync::Arc;
use std::task::Poll;

use dormouse_protocol::Listener;
use tokio::task::unconstrained;

use super::Peer;
use crate::NeededLists;
use crate::connections::callers::RequestSubject;
use crate::listing::list_changes::UnknownLists;

impl Peer {
    /// Checks whether requests may go on, by the upstream policy: `subjects` returns what they are for,
    /// each with the listener of its call. Where that depends on what the upstream offers now, what it
    /// has announced until now is known first.
    ///
    /// # Errors
    /// One of them may not; says why, for its caller.
    pub(crate) async fn check_admitted(
        &self,
        subjects: impl Fn() -> Vec<(Arc<dyn Listener>, RequestSubject)>,
    ) -> Result<(), String> {
        let Some(policy) = &self.policy else {
            return Ok(());
        };
        loop {
            let needed = subjects().into_iter().map(|(caller, subject)| {
                policy.needed_lists(&subject.method, subject.name.as_deref(), &caller)
            });
            let needed = needed.fold(NeededLists::default(), NeededLists::and);
            // An upstream can announce changes without end. Only those that come while a user is
            // asked are waited for, too.
            self.lists_known(needed).await?;
            let mut has_waited = false;
            for (caller, subject) in subjects() {
                let admitting = policy.admit(&subject.method, subject.name.as_deref(), &caller);
                // Only a real wait is one.
                let mut admitting = unconstrained(admitting);
                match futures::poll!(&mut admitting) {
                    Poll::Ready(admitted) => admitted?,
                    Poll::Pending => {
                        has_waited = true;
                        admitting.await?;
                    }
                }
            }
            // While the user was asked about one, others may have changed.
            if !has_waited {
                return Ok(());
            }
        }
    }

    /// Waits until lists are known as of all changes that the upstream has announced until now, as
    /// long as it may take for a start.
    ///
    /// # Errors
    /// It does not tell them; says so, for a caller.
    pub(crate) async fn lists_known(&self, needed: NeededLists) -> Result<(), String> {
        let known = tokio::select! {
            known = self.list_changes.known(needed, self.patience) => known,
            // Nothing reaches it any more.
            () = self.over.cancelled() => Ok(()),
        };
        let server = &self.server;
        known.map_err(|unknown| match unknown {
            UnknownLists::Late => format!(
                "server `{server}` has announced that what it offers has changed, and has not told \
                 within {} s how\n\
                 hint: call it again; `start_timeout` in its table says how long that may take",
                self.patience.as_secs_f64()
            ),
            UnknownLists::Untold => format!(
                "server `{server}` does not tell what it offers now, and this depends on it\n\
                 hint: call it again; if that does not help, `dormouse restart {server}` starts it \
                 anew, and the log says why it does not tell"
            ),
        })
    }
}
