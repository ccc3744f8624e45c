//! Which resources of an upstream somebody wants to hear of.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::sync::watch;

use super::follow::Wanted;
use super::peer::lock;

/// The resources of one upstream that are wanted, and by how many.
#[derive(Default)]
pub(super) struct Subscriptions {
    counts: Mutex<BTreeMap<String, usize>>,
    wanted: watch::Sender<Wanted>,
}

/// Somebody wants to hear of a resource, until this is dropped.
pub struct Subscription {
    all: Arc<Subscriptions>,
    uri: String,
}

impl Subscriptions {
    pub(super) fn add(self: &Arc<Self>, uri: &str) -> Subscription {
        let mut counts = lock(&self.counts);
        *counts.entry(uri.to_owned()).or_default() += 1;
        self.tell(&counts);
        drop(counts);
        Subscription {
            all: Arc::clone(self),
            uri: uri.to_owned(),
        }
    }

    /// All that are wanted, now and from now on.
    pub(super) fn wanted(&self) -> watch::Receiver<Wanted> {
        self.wanted.subscribe()
    }

    fn tell(&self, counts: &BTreeMap<String, usize>) {
        self.wanted.send_if_modified(|wanted| {
            let changed = !counts.keys().eq(wanted.iter());
            if changed {
                *wanted = counts.keys().cloned().collect();
            }
            changed
        });
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut counts = lock(&self.all.counts);
        let left = counts.get_mut(&self.uri).map(|count| {
            *count -= 1;
            *count
        });
        if left == Some(0) {
            counts.remove(&self.uri);
            self.all.tell(&counts);
        }
    }
}
