//! Changes on their way to agents.

use std::collections::HashMap;
use std::sync::Arc;

use dormouse_protocol::{ListKind, Notice};
use parking_lot::Mutex;
use tokio::sync::{broadcast, watch};

/// Most updates of resources that may wait for an agent. One that falls further behind misses some.
const WAITING: usize = 256;

/// Channels of changes.
#[derive(Debug)]
pub struct Changes {
    numbers: watch::Sender<Numbers>,
    updated: broadcast::Sender<Arc<str>>,
    wanted: Arc<FollowedResources>,
}

/// Resources that clients follow, each with the number of its followers.
#[derive(Debug, Default)]
struct FollowedResources(Mutex<HashMap<Arc<str>, usize>>);

/// One client's interest in a resource, until this is dropped.
#[derive(Debug)]
pub(super) struct WantedResource {
    uri: Arc<str>,
    all: Arc<FollowedResources>,
}

impl Drop for WantedResource {
    fn drop(&mut self) {
        let mut counts = self.all.0.lock();
        if let Some(count) = counts.get_mut(&self.uri) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.uri);
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
}

impl Default for Changes {
    fn default() -> Self {
        Self {
            numbers: watch::Sender::default(),
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

    /// Counts a follower of a resource, until the returned value is dropped.
    pub(super) fn want(&self, uri: &str) -> WantedResource {
        let mut counts = self.wanted.0.lock();
        let uri = match counts.get_key_value(uri) {
            Some((known, _)) => Arc::clone(known),
            None => uri.into(),
        };
        *counts.entry(Arc::clone(&uri)).or_default() += 1;
        WantedResource {
            uri,
            all: Arc::clone(&self.wanted),
        }
    }

    /// Checks whether any client follows a resource.
    pub(super) fn is_wanted(&self, uri: &str) -> bool {
        self.wanted.0.lock().contains_key(uri)
    }

    /// Returns the URIs of resources that change and are [wanted](Self::is_wanted).
    pub fn resources(&self) -> broadcast::Receiver<Arc<str>> {
        self.updated.subscribe()
    }

    /// Checks whether any agent waits for changes of lists.
    pub(super) fn is_heard(&self) -> bool {
        self.numbers.receiver_count() > 0
    }

    pub(super) fn tell(&self, notice: Notice) {
        match notice {
            // That nobody listens is no error.
            Notice::Updated(uri) => drop(self.updated.send(uri.into())),
            Notice::Changed(catalog) => self.numbers.send_modify(|numbers| {
                *match catalog {
                    ListKind::Tools => &mut numbers.tools,
                    ListKind::Prompts => &mut numbers.prompts,
                    ListKind::Resources => &mut numbers.resources,
                } += 1;
            }),
        }
    }
}
