//! Admission of requests to an upstream, as it is when they go on.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use dormouse_protocol::Listener;
use tokio::task::unconstrained;

use super::Peer;
use crate::JudgedItems;
use crate::connections::callers::RequestSubject;
use crate::listing::list_changes::UnknownLists;
use crate::listing::needed_lists::NeededLists;

/// Longest time for which a request waits for lists. One that handles one message at a time tells them
/// only once it is done with the call before.
const MAX_REQUEST_PATIENCE: Duration = Duration::from_secs(20);

impl Peer {
    /// Returns the time for which a request waits for lists.
    pub(crate) fn request_patience(&self) -> Duration {
        self.patience.min(MAX_REQUEST_PATIENCE)
    }

    /// Checks whether requests may go on, by the upstream policy: `subjects` returns what they are for,
    /// each with the listener of its call. Where that depends on what the upstream offers now, what it
    /// has announced until now is known first, or they may not go on after `patience`; without a
    /// `patience`, they are judged by what is known.
    ///
    /// # Errors
    /// One of them may not; says why, for its caller.
    pub(crate) async fn check_admitted(
        &self,
        patience: Option<Duration>,
        subjects: impl Fn() -> Vec<(Arc<dyn Listener>, RequestSubject)>,
    ) -> Result<(), String> {
        let Some(policy) = &self.policy else {
            return Ok(());
        };
        loop {
            let items = subjects().into_iter().map(|(caller, subject)| {
                policy.judged_items(&subject.method, subject.name.as_deref(), &caller)
            });
            let items = items.fold(JudgedItems::default(), JudgedItems::and);
            // An upstream can announce changes without end. Only those that come while a user is
            // asked are waited for, too.
            if let Some(patience) = patience {
                self.items_known(&items, patience).await?;
            }
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
            if has_waited {
                continue;
            }
            return match patience.is_none() || self.is_recorded(&items) {
                true => Ok(()),
                false => Err(self.told_otherwise()),
            };
        }
    }

    /// Waits until items are known, as of all changes that the upstream has announced until now, as it
    /// has told them over this connection, for `patience` at most from when their lists are asked for.
    /// Where another connection has told something else since, the lists are fetched once more: what
    /// goes over this one is judged by what this one tells.
    ///
    /// # Errors
    /// It does not tell them, or another connection tells something else again; says so, for a caller.
    pub(crate) async fn items_known(
        &self,
        items: &JudgedItems,
        patience: Duration,
    ) -> Result<(), String> {
        self.lists_known(items.lists(), patience).await?;
        if self.is_recorded(items) {
            return Ok(());
        }
        self.list_changes.note();
        self.lists_known(items.lists(), patience).await?;
        match self.is_recorded(items) {
            true => Ok(()),
            false => Err(self.told_otherwise()),
        }
    }

    /// Whether requests are judged by items as they were told over this connection. Nothing reaches one
    /// that has ended.
    fn is_recorded(&self, items: &JudgedItems) -> bool {
        let policy = self.policy.as_ref();
        self.ended().is_some()
            || policy.is_none_or(|policy| policy.is_recorded(self.connection, items))
    }

    fn told_otherwise(&self) -> String {
        let server = &self.server;
        format!(
            "server `{server}` offers something else here than over another connection of it that is \
             used at the same time, and this depends on it\n\
             hint: call it again; if that does not help, `dormouse restart {server}` starts it anew, \
             here and wherever else another version of it still runs"
        )
    }

    /// Waits until lists are known as of all changes that the upstream has announced until now, for
    /// `patience` at most from when they are asked for.
    ///
    /// # Errors
    /// It does not tell them; says so, for a caller.
    pub(crate) async fn lists_known(
        &self,
        needed: NeededLists,
        patience: Duration,
    ) -> Result<(), String> {
        // Nothing reaches one that has ended, and a request to it fails and says why.
        let has_ended = || self.ended().is_some();
        if has_ended() {
            return Ok(());
        }
        let known = tokio::select! {
            known = self.list_changes.known(needed, patience) => known,
            () = self.over.cancelled() => Ok(()),
        };
        let Err(unknown) = known else { return Ok(()) };
        if has_ended() {
            return Ok(());
        }
        let server = &self.server;
        Err(match unknown {
            UnknownLists::Late => format!(
                "server `{server}` has announced that what it offers has changed, and has not told \
                 within {} s how\n\
                 hint: call it again; `start_timeout` in its table says how long that may take, {} s \
                 at most",
                patience.as_secs_f64(),
                MAX_REQUEST_PATIENCE.as_secs()
            ),
            UnknownLists::Untold => format!(
                "server `{server}` does not tell what it offers now, and this depends on it\n\
                 hint: call it again; if that does not help, `dormouse restart {server}` starts it \
                 anew, and the log says why it does not tell"
            ),
        })
    }
}
