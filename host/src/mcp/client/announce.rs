//! Announcements of changes to a client.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::client_connection::{ClientConnection, Notification};
use crate::mcp::methods::resources::ClientSubscriptions;
use crate::roster::{Changes, Numbers};

/// Time that the first change waits for others, which often come together.
const SETTLE: Duration = Duration::from_millis(20);

/// Least time between two announcements. A plugin that reports changes all the time is announced
/// five times a second at most.
const PAUSE: Duration = Duration::from_millis(200);

/// Most different resources that are remembered between two announcements.
const GATHERED: usize = 1024;

/// Client to be told of changes.
pub(in crate::mcp) trait ChangeSink {
    /// Tells which lists have changed. False when the client is gone.
    async fn lists(&self, changed: ChangedLists) -> bool;
    /// Returns the resources whose changes the client wants to be told.
    fn wanted(&self) -> Vec<String>;
    /// Tells that one of these resources has changed.
    async fn resource(&self, uri: &str) -> bool;
}

/// Set of lists that have changed.
#[derive(Debug, Clone, Copy)]
pub(in crate::mcp) struct ChangedLists {
    pub(in crate::mcp) tools: bool,
    pub(in crate::mcp) prompts: bool,
    pub(in crate::mcp) resources: bool,
}

impl ChangedLists {
    fn between(old: Numbers, new: Numbers) -> Self {
        Self {
            tools: old.tools != new.tools,
            prompts: old.prompts != new.prompts,
            resources: old.resources != new.resources,
        }
    }

    /// Returns a notification for each of the lists.
    pub(in crate::mcp) fn notifications(self) -> impl Iterator<Item = Notification> + Send {
        let tools = self.tools.then(Notification::tools_changed);
        let prompts = self.prompts.then(Notification::prompts_changed);
        let resources = self.resources.then(Notification::resources_changed);
        [tools, prompts, resources].into_iter().flatten()
    }
}

/// Resources that have changed and that the client has not been told of.
#[derive(Default)]
struct Updated {
    uris: BTreeSet<Arc<str>>,
    /// Whether some are not among them, because there were too many.
    missed: bool,
}

impl Updated {
    /// Records a change. False when there will be no more.
    fn note(&mut self, heard: Result<Arc<str>, RecvError>) -> bool {
        match heard {
            Ok(uri) if self.uris.len() < GATHERED => {
                self.uris.insert(uri);
            }
            Ok(_) | Err(RecvError::Lagged(_)) => self.missed = true,
            Err(RecvError::Closed) => return false,
        }
        true
    }

    /// Records changes for some time, so that a flood of changes from one server does not push out
    /// those of others. False when the client is gone.
    async fn gather(
        &mut self,
        resources: &mut Receiver<Arc<str>>,
        time: Duration,
        end: &CancellationToken,
    ) -> bool {
        let mut over = std::pin::pin!(tokio::time::sleep(time));
        loop {
            tokio::select! {
                () = end.cancelled() => return false,
                () = &mut over => return true,
                heard = resources.recv() => if !self.note(heard) { return false },
            }
        }
    }

    /// Returns the resources to tell of, of those that the client wants.
    fn take(&mut self, wanted: &[String]) -> Vec<String> {
        let Self { uris, missed } = std::mem::take(self);
        let wanted = wanted.iter();
        // What is not known to have changed may have.
        let told = wanted.filter(|uri| missed || uris.contains(uri.as_str()));
        told.cloned().collect()
    }
}

/// Changes since this was made.
pub(in crate::mcp) struct ChangeFeed {
    lists: watch::Receiver<Numbers>,
    resources: Receiver<Arc<str>>,
    /// Number of changes of each list when this was made.
    old: Numbers,
}

impl ChangeFeed {
    pub(in crate::mcp) fn of(changes: &Changes) -> Self {
        let mut lists = changes.lists();
        let old = *lists.borrow_and_update();
        Self {
            lists,
            resources: changes.resources(),
            old,
        }
    }
}

/// Announces changes until the client is gone, or `end` is cancelled.
pub(in crate::mcp) async fn announce(
    news: ChangeFeed,
    audience: impl ChangeSink,
    end: CancellationToken,
) {
    let ChangeFeed {
        mut lists,
        mut resources,
        old: mut told,
    } = news;
    let mut updated = Updated::default();
    loop {
        if updated.uris.is_empty() && !updated.missed {
            tokio::select! {
                () = end.cancelled() => return,
                changed = lists.changed() => if changed.is_err() { return },
                heard = resources.recv() => if !updated.note(heard) { return },
            }
            if !updated.gather(&mut resources, SETTLE, &end).await {
                return;
            }
        }
        let now = *lists.borrow_and_update();
        if !audience.lists(ChangedLists::between(told, now)).await {
            return;
        }
        told = now;
        for uri in updated.take(&audience.wanted()) {
            if !audience.resource(&uri).await {
                return;
            }
        }
        if !updated.gather(&mut resources, PAUSE, &end).await {
            return;
        }
    }
}

/// A client of the era with sessions, which hears of every list.
pub(in crate::mcp) struct Legacy {
    pub(in crate::mcp) connection: Arc<dyn ClientConnection>,
    /// The resources that it has subscribed to.
    pub(in crate::mcp) subscriptions: Arc<ClientSubscriptions>,
}

impl ChangeSink for Legacy {
    async fn lists(&self, changed: ChangedLists) -> bool {
        for notification in changed.notifications() {
            if self.connection.notify(notification).await.is_err() {
                return false;
            }
        }
        true
    }

    fn wanted(&self) -> Vec<String> {
        self.subscriptions.list()
    }

    async fn resource(&self, uri: &str) -> bool {
        let updated = Notification::resource_updated(uri);
        self.connection.notify(updated).await.is_ok()
    }
}
