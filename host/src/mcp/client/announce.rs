//! Announcements of changes to a client.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dormouse_protocol::ListKind;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::task::coop::consume_budget;
use tokio_util::sync::CancellationToken;

use super::client_connection::{ClientConnection, Notification};
use crate::mcp::methods::resources::ClientSubscriptions;
use crate::roster::{
    Changes, FollowedUri, Numbers, ResourceIdentity, Roster, Snapshot, UpdatedResource,
};

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
    fn wanted(&self) -> Vec<FollowedUri>;
    /// Returns the servers that the client sees now.
    fn view(&self) -> Arc<Snapshot>;
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
        let lists = [
            (self.tools, ListKind::Tools),
            (self.prompts, ListKind::Prompts),
            (self.resources, ListKind::Resources),
        ];
        let changed = lists.into_iter().filter(|(is_changed, _)| *is_changed);
        changed.map(|(_, list)| Notification::list_changed(list))
    }
}

/// Removes the resources of servers that a client does not see any more: a profile may have lost them.
fn leave_seen(wanted: &mut Vec<FollowedUri>, snapshot: &Snapshot) {
    wanted.retain(|followed| {
        let resource = followed.resource.as_ref();
        resource.is_none_or(|resource| snapshot.servers().contains_key(&*resource.server))
    });
}

/// Resources that have changed and that the client has not been told of.
#[derive(Default)]
struct Updated {
    resources: BTreeSet<ResourceIdentity>,
    /// URIs of those of them that are the only ones of their URI.
    unique: BTreeSet<Arc<str>>,
    /// Whether some are not among them, because there were too many.
    missed: bool,
}

impl Updated {
    /// Records a change. False when there will be no more.
    fn note(&mut self, heard: Result<UpdatedResource, RecvError>) -> bool {
        match heard {
            Ok(updated) if self.resources.len() < GATHERED => {
                if updated.is_unique {
                    self.unique.insert(Arc::clone(&updated.resource.uri));
                }
                self.resources.insert(updated.resource);
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
        resources: &mut Receiver<UpdatedResource>,
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
    fn take(&mut self, wanted: &[FollowedUri]) -> Vec<Arc<str>> {
        let Self {
            resources,
            unique,
            missed,
        } = std::mem::take(self);
        let is_told = |followed: &&FollowedUri| match &followed.resource {
            // What is not known to have changed may have.
            _ if missed => true,
            Some(resource) => resources.contains(resource),
            None => unique.contains(&followed.uri),
        };
        let told = wanted.iter().filter(is_told);
        told.map(|followed| Arc::clone(&followed.uri)).collect()
    }
}

/// Changes since this was made.
pub(in crate::mcp) struct ChangeFeed {
    lists: watch::Receiver<Numbers>,
    resources: Receiver<UpdatedResource>,
    /// Number of changes of each list when this was made.
    old: Numbers,
}

impl ChangeFeed {
    /// Begins with the changes of what a profile has, or of all where none is named.
    pub(in crate::mcp) fn of(changes: &Changes, profile: Option<&str>) -> Self {
        let mut lists = changes.lists_of(profile);
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
        if updated.resources.is_empty() && !updated.missed {
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
        let mut wanted = audience.wanted();
        if !wanted.is_empty() {
            leave_seen(&mut wanted, &audience.view());
        }
        for uri in updated.take(&wanted) {
            consume_budget().await;
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
    pub(in crate::mcp) roster: Arc<Roster>,
    /// Name of the profile that it has named, if it has.
    pub(in crate::mcp) profile: Option<Arc<str>>,
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

    fn wanted(&self) -> Vec<FollowedUri> {
        self.subscriptions.list()
    }

    fn view(&self) -> Arc<Snapshot> {
        self.roster.view(self.profile.as_deref())
    }

    async fn resource(&self, uri: &str) -> bool {
        let updated = Notification::resource_updated(uri);
        self.connection.notify(updated).await.is_ok()
    }
}
