//! Changes on their way to agents.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dormouse_protocol::ListKind;
use parking_lot::Mutex;
use tokio::sync::{broadcast, watch};

use super::resources::{FollowedUri, ResourceIdentity, UpdatedResource};

/// Most updates of resources that may wait for an agent. One that falls further behind misses some.
const WAITING: usize = 256;

/// Channels of changes.
#[derive(Debug)]
pub struct Changes {
    numbers: watch::Sender<Numbers>,
    /// Numbers of changes of what profiles have, by the names of those that somebody listens to.
    of_profiles: Mutex<BTreeMap<String, watch::Sender<Numbers>>>,
    updated: broadcast::Sender<UpdatedResource>,
    wanted: Arc<FollowedResources>,
}

/// Resources that clients follow, each with the number of its followers.
#[derive(Debug, Default)]
struct FollowedResources(Mutex<HashMap<FollowedKey, usize>>);

/// Resource that clients follow.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum FollowedKey {
    /// A server's.
    Known(ResourceIdentity),
    /// One of which no server was known, by its URI.
    Unknown(Arc<str>),
}

/// One client's interest in a resource, until this is dropped.
#[derive(Debug)]
pub(super) struct WantedResource {
    key: FollowedKey,
    all: Arc<FollowedResources>,
}

impl Drop for WantedResource {
    fn drop(&mut self) {
        let mut counts = self.all.0.lock();
        if let Some(count) = counts.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.key);
            }
        }
    }
}

/// Number of times that each list has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "named after the lists")]
pub struct Numbers {
    pub tools: u64,
    pub prompts: u64,
    pub resources: u64,
    /// Number of times that the rules of profiles have changed: of those who name none, no list has.
    pub profiles: u64,
}

impl Numbers {
    fn count(&mut self, list: ListKind) {
        *match list {
            ListKind::Tools => &mut self.tools,
            ListKind::Prompts => &mut self.prompts,
            ListKind::Resources => &mut self.resources,
        } += 1;
    }
}

impl Default for Changes {
    fn default() -> Self {
        Self {
            numbers: watch::Sender::default(),
            of_profiles: Mutex::default(),
            updated: broadcast::Sender::new(WAITING),
            wanted: Arc::default(),
        }
    }
}

impl Changes {
    /// Returns the number of changes of each list, which can be waited for. Several changes before
    /// the next look count as one.
    pub fn lists(&self) -> watch::Receiver<Numbers> {
        self.numbers.subscribe()
    }

    /// Returns the same number of the lists of a profile: what it does not have changes nothing of these.
    pub fn lists_of(&self, profile: Option<&str>) -> watch::Receiver<Numbers> {
        let Some(profile) = profile else {
            return self.lists();
        };
        let mut all = self.of_profiles.lock();
        all.entry(profile.to_owned()).or_default().subscribe()
    }

    /// Returns the profiles whose changes somebody waits for, and forgets the others.
    pub(super) fn heard_profiles(&self) -> Vec<String> {
        let mut all = self.of_profiles.lock();
        all.retain(|_, numbers| numbers.receiver_count() > 0);
        all.keys().cloned().collect()
    }

    /// Counts a follower of a resource, until the returned value is dropped.
    pub(super) fn want(&self, followed: &FollowedUri) -> WantedResource {
        let key = match &followed.resource {
            Some(resource) => FollowedKey::Known(resource.clone()),
            None => FollowedKey::Unknown(Arc::clone(&followed.uri)),
        };
        *self.wanted.0.lock().entry(key.clone()).or_default() += 1;
        WantedResource {
            key,
            all: Arc::clone(&self.wanted),
        }
    }

    /// Checks whether any client follows a server's resource.
    pub(super) fn is_followed(&self, resource: &ResourceIdentity) -> bool {
        let key = FollowedKey::Known(resource.clone());
        self.wanted.0.lock().contains_key(&key)
    }

    /// Checks whether any client follows a URI of which no server was known.
    pub(super) fn is_awaited(&self, uri: &Arc<str>) -> bool {
        let key = FollowedKey::Unknown(Arc::clone(uri));
        self.wanted.0.lock().contains_key(&key)
    }

    /// Returns the resources that change and are followed, or awaited.
    pub fn resources(&self) -> broadcast::Receiver<UpdatedResource> {
        self.updated.subscribe()
    }

    /// Checks whether any agent waits for changes of lists.
    pub(super) fn is_heard(&self) -> bool {
        self.numbers.receiver_count() > 0
    }

    pub(super) fn tell_changed(&self, list: ListKind) {
        self.numbers.send_modify(|numbers| numbers.count(list));
    }

    /// Tells whoever looks after all profiles that the rules of some have changed.
    pub(super) fn tell_profiles_changed(&self) {
        self.numbers.send_modify(|numbers| numbers.profiles += 1);
    }

    /// Tells those who have named a profile.
    pub(super) fn tell_changed_in(&self, profile: &str, list: ListKind) {
        if let Some(numbers) = self.of_profiles.lock().get(profile) {
            numbers.send_modify(|numbers| numbers.count(list));
        }
    }

    pub(super) fn tell_updated(&self, updated: UpdatedResource) {
        // That nobody listens is no error.
        drop(self.updated.send(updated));
    }
}
