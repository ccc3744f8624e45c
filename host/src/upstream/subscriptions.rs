//! Which resources of an upstream somebody wants to hear of, and whether it knows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::watch;

use super::peer::lock;

/// How long somebody who wants to hear of a resource waits for the upstream to know.
const PATIENCE: Duration = Duration::from_secs(2);

/// The resources of one upstream that are wanted, and by how many.
#[derive(Default)]
pub(super) struct Subscriptions {
    counts: Mutex<BTreeMap<String, usize>>,
    wanted: watch::Sender<Wanted>,
    /// The wish that each connection has told its upstream last.
    told: watch::Sender<BTreeMap<u64, Option<u64>>>,
}

/// The resources that somebody wants to hear of.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    pub(super) uris: BTreeSet<String>,
    /// How often something else was wanted before.
    pub(super) number: u64,
}

/// Somebody wants to hear of a resource, until this is dropped.
pub struct Subscription {
    all: Arc<Subscriptions>,
    uri: String,
}

/// A connection that tells its upstream what is wanted.
pub(super) struct Follower {
    all: Arc<Subscriptions>,
    key: u64,
    pub(super) wanted: watch::Receiver<Wanted>,
}

impl Subscriptions {
    pub(super) fn add(self: &Arc<Self>, uri: &str) -> Subscription {
        let mut counts = lock(&self.counts);
        *counts.entry(uri.to_owned()).or_default() += 1;
        self.want(&counts);
        drop(counts);
        Subscription {
            all: Arc::clone(self),
            uri: uri.to_owned(),
        }
    }

    /// A connection that tells its upstream from now on.
    pub(super) fn follower(self: &Arc<Self>) -> Follower {
        let mut key = 0;
        self.told.send_modify(|told| {
            key = told.last_key_value().map_or(0, |(last, _)| last + 1);
            // It has to be told of lists even where no resource is wanted.
            told.insert(key, None);
        });
        Follower {
            all: Arc::clone(self),
            key,
            wanted: self.wanted.subscribe(),
        }
    }

    /// Waits, but not for long, until every upstream that is connected knows what is
    /// wanted now: what it does next, it does knowing that.
    pub(super) fn known(self: &Arc<Self>) -> BoxFuture<'static, ()> {
        let number = self.wanted.borrow().number;
        let mut told = self.told.subscribe();
        let known = async move {
            let all = |told: &BTreeMap<_, _>| told.values().all(|told| *told >= Some(number));
            // There is always somebody who could still tell.
            let _ = told.wait_for(all).await;
        };
        let known = tokio::time::timeout(PATIENCE, known);
        known.map(drop).boxed()
    }

    fn want(&self, counts: &BTreeMap<String, usize>) {
        self.wanted.send_if_modified(|wanted| {
            let changed = !counts.keys().eq(wanted.uris.iter());
            if changed {
                wanted.uris = counts.keys().cloned().collect();
                wanted.number += 1;
            }
            changed
        });
    }
}

impl Subscription {
    /// Waits, but not for long, until the upstream knows of it, if it is connected.
    #[must_use]
    pub fn known(&self) -> BoxFuture<'static, ()> {
        self.all.known()
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
            self.all.want(&counts);
        }
    }
}

impl Follower {
    /// What is wanted now.
    pub(super) fn wanted(&mut self) -> Wanted {
        self.wanted.borrow_and_update().clone()
    }

    /// Takes note that the upstream knows what was wanted.
    pub(super) fn told(&self, wanted: &Wanted) {
        self.all.told.send_modify(|told| {
            told.insert(self.key, Some(wanted.number));
        });
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.all.told.send_modify(|told| {
            told.remove(&self.key);
        });
    }
}
