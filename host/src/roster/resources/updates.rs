//! Updates of resources that servers announce. Finding out whose a resource is takes time, and
//! servers choose how often, and with which templates: so no server has more than a part of a
//! processor for that.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::runtime::Handle;

use super::{ResourceIdentity, UnresolvedResource, UpdatedResource};
use crate::roster::Roster;

/// Longest URI of a resource that clients can follow, in bytes: it is kept as long as its session.
/// Updates of longer ones are not looked at.
pub const MAX_FOLLOWED_URI_BYTES: usize = 4 << 10;

/// Most updates of a server that wait.
const MAX_WAITING: usize = 1024;

/// Time after which more updates of the server wait.
const MAX_TIME_AT_ONCE: Duration = Duration::from_micros(200);

/// Number of times as long as updates took for which the next ones wait.
const REST: u32 = 4;

/// URIs of updates that wait, by the servers of which one is looked at, each as its server knows
/// it.
#[derive(Default)]
pub(in super::super) struct WaitingUpdates(Mutex<HashMap<String, BTreeSet<String>>>);

impl WaitingUpdates {
    /// Begins to look at an update of a server. Where one of that server's is looked at already, the
    /// update waits instead, and false is returned.
    fn begin(&self, server: &str, uri: &str) -> bool {
        let mut servers = self.0.lock();
        let Some(waiting) = servers.get_mut(server) else {
            servers.insert(server.to_owned(), BTreeSet::new());
            return true;
        };
        if waiting.len() < MAX_WAITING {
            waiting.insert(uri.to_owned());
        } else if !waiting.contains(uri) {
            tracing::debug!("server `{server}` announces more updates than are looked at");
        }
        false
    }

    /// Returns the next update of a server, after one was looked at. Where there is none, the next
    /// one that is announced is looked at at once.
    fn next(&self, server: &str) -> Option<String> {
        let mut servers = self.0.lock();
        let next = servers.get_mut(server).and_then(BTreeSet::pop_first);
        if next.is_none() {
            servers.remove(server);
        }
        next
    }
}

impl Roster {
    /// Tells agents of a resource that a server says has changed, if it is that server's.
    pub(in super::super) fn announce_update(&self, server: &str, uri: String) {
        if uri.len() > MAX_FOLLOWED_URI_BYTES || !self.updates.begin(server, &uri) {
            return;
        }
        let start = Instant::now();
        let mut next = Some(uri);
        while let Some(uri) = next {
            self.tell_update(server, uri);
            if start.elapsed() > MAX_TIME_AT_ONCE
                && let (Ok(runtime), Some(roster)) = (Handle::try_current(), self.me.upgrade())
            {
                runtime.spawn(roster.tell_waiting_updates(server.to_owned(), start.elapsed()));
                return;
            }
            next = self.updates.next(server);
        }
    }

    /// Tells agents of the updates of a server that wait, after ones that took so long.
    async fn tell_waiting_updates(self: Arc<Self>, server: String, mut took: Duration) {
        let roster = Arc::downgrade(&self);
        drop(self);
        loop {
            tokio::time::sleep(took * REST).await;
            let Some(roster) = roster.upgrade() else {
                return;
            };
            let Some(uri) = roster.updates.next(&server) else {
                return;
            };
            let server = server.clone();
            let told = tokio::task::spawn_blocking(move || {
                let start = Instant::now();
                roster.tell_update(&server, uri);
                start.elapsed()
            });
            took = told.await.unwrap_or_default();
        }
    }

    /// Tells agents that a resource has changed that they follow as this server's; and those that
    /// follow its URI without knowing of a server, if it is found out to be this one's.
    fn tell_update(&self, server: &str, uri: String) {
        let resource = ResourceIdentity {
            server: server.into(),
            uri: uri.into(),
        };
        let is_followed = self.changes.is_followed(&resource);
        let is_awaited = self.changes.is_awaited(&resource.uri);
        // Where nobody wants to hear of it, it can be read afterwards, though.
        let is_unique = match is_awaited || !is_followed && self.may_name_another(server) {
            true => self.is_unique(&resource),
            false => false,
        };
        if is_followed || is_unique {
            self.changes.tell_updated(UpdatedResource {
                resource,
                is_unique,
            });
        }
    }

    /// Finds out whether a URI is of no resource but this one, which its server has just named.
    fn is_unique(&self, resource: &ResourceIdentity) -> bool {
        let ResourceIdentity { server, uri } = resource;
        let is_unique = match self.resource(uri) {
            Ok(source) => source.server == **server,
            Err(UnresolvedResource::Contested(_)) => false,
            Err(UnresolvedResource::Unknown) => self.note_updated(server, uri),
        };
        if !is_unique {
            tracing::debug!("server `{server}` has no resource `{uri}` that could change");
        }
        is_unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_wait_for_one_of_their_server_and_are_told_once() {
        let updates = WaitingUpdates::default();
        assert!(updates.begin("one", "a"));
        assert!(updates.begin("two", "a"));
        for uri in ["c", "b", "c", "a"] {
            assert!(!updates.begin("one", uri));
        }
        let told: Vec<_> = std::iter::from_fn(|| updates.next("one")).collect();
        assert_eq!(told, ["a", "b", "c"]);
        assert!(updates.begin("one", "a"));
        assert!(!updates.begin("two", "a"));
    }

    #[test]
    fn so_many_updates_of_a_server_wait() {
        let updates = WaitingUpdates::default();
        updates.begin("one", "");
        for number in 0..2 * MAX_WAITING {
            updates.begin("one", &number.to_string());
        }
        assert_eq!(
            std::iter::from_fn(|| updates.next("one")).count(),
            MAX_WAITING
        );
    }
}
