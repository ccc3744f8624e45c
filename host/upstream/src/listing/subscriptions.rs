//! Subscriptions to resources of an upstream, and whether the upstream knows of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::Refusal;

/// Time that a subscriber waits for the upstream to know.
const SUBSCRIBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Most resources of one upstream that are subscribed to at a time. Others are not followed.
const MAX_URIS: usize = 1 << 14;

/// Most bytes of their URIs together. Resources beyond that are not followed, either.
const MAX_BYTES: usize = 4 << 20;

/// Longest message of a refusal that is kept, in bytes.
const MAX_REFUSAL_BYTES: usize = 1 << 10;

/// Resources of one upstream that are subscribed to, and how often.
#[derive(Default)]
pub(crate) struct UpstreamSubscriptions {
    counts: Mutex<SubscriptionCounts>,
    /// Number of changes of the wanted resources. Followers look these up when they come to it:
    /// they may change a thousand times before.
    changes: watch::Sender<u64>,
    /// Number of changes that each connection has told its upstream of last.
    told: watch::Sender<BTreeMap<u64, Option<u64>>>,
    /// Refusals with which the upstream has answered subscriptions.
    refused: Mutex<BTreeMap<Arc<str>, Refusal>>,
}

#[derive(Default)]
struct SubscriptionCounts {
    /// Subscriptions by URI. Connections have the same texts, each in a set of its own.
    by_uri: BTreeMap<Arc<str>, usize>,
    /// Bytes of all URIs together.
    bytes: usize,
    /// Number of changes of the wanted resources.
    number: u64,
}

/// Resources that are subscribed to.
#[derive(Debug, Clone, Default)]
pub(super) struct WantedResources {
    pub(super) uris: BTreeSet<Arc<str>>,
    /// Number of changes of the wanted resources.
    pub(super) number: u64,
}

/// Subscription to a resource, until this is dropped.
pub struct Subscription {
    all: Arc<UpstreamSubscriptions>,
    /// None where there are too many already.
    uri: Option<Arc<str>>,
}

/// Connection that tells its upstream which resources are subscribed to.
pub(crate) struct Follower {
    all: Arc<UpstreamSubscriptions>,
    key: u64,
    pub(super) changes: watch::Receiver<u64>,
    /// Resources for which its upstream has refused the subscription.
    refused: BTreeSet<Arc<str>>,
}

impl UpstreamSubscriptions {
    pub(crate) fn add(self: &Arc<Self>, uri: &str) -> Subscription {
        let mut counts = self.counts.lock();
        let known = counts.by_uri.get_key_value(uri);
        let known = known.map(|(known, _)| Arc::clone(known));
        let has_room = counts.by_uri.len() < MAX_URIS && counts.bytes + uri.len() <= MAX_BYTES;
        let uri = match known {
            Some(known) => Some(known),
            None if has_room => {
                counts.bytes += uri.len();
                self.change(&mut counts);
                Some(uri.into())
            }
            None => None,
        };
        if let Some(uri) = &uri {
            *counts.by_uri.entry(Arc::clone(uri)).or_default() += 1;
        }
        Subscription {
            all: Arc::clone(self),
            uri,
        }
    }

    /// Returns a follower for a connection that tells its upstream from now on.
    pub(crate) fn follower(self: &Arc<Self>) -> Follower {
        let mut key = 0;
        self.told.send_modify(|told| {
            key = told.last_key_value().map_or(0, |(last, _)| last + 1);
            // It has to be told of lists even where no resource is wanted.
            told.insert(key, None);
        });
        Follower {
            all: Arc::clone(self),
            key,
            changes: self.changes.subscribe(),
            refused: BTreeSet::new(),
        }
    }

    /// Waits, but not for long, until every upstream that is connected knows the current
    /// subscriptions: they count for all that it does next.
    pub(crate) fn known(self: &Arc<Self>) -> BoxFuture<'static, ()> {
        let number = *self.changes.borrow();
        let mut told = self.told.subscribe();
        let known = async move {
            let all = |told: &BTreeMap<_, _>| told.values().all(|told| *told >= Some(number));
            // There is always somebody who could still tell.
            let _ = told.wait_for(all).await;
        };
        let known = tokio::time::timeout(SUBSCRIBE_TIMEOUT, known);
        known.map(drop).boxed()
    }

    fn change(&self, counts: &mut SubscriptionCounts) {
        counts.number += 1;
        self.changes.send_replace(counts.number);
    }
}

impl Subscription {
    /// Whether the upstream is told of the subscription: false where there are too many already.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.uri.is_some()
    }

    /// Waits, but not for long, until the upstream knows of the subscription, if it is connected.
    ///
    /// # Errors
    /// The upstream has refused it.
    #[must_use]
    pub fn known(&self) -> BoxFuture<'static, Result<(), Refusal>> {
        let (all, uri) = (Arc::clone(&self.all), self.uri.clone());
        let known = async move {
            all.known().await;
            let refused = uri.and_then(|uri| all.refused.lock().get(&uri).cloned());
            refused.map_or(Ok(()), Err)
        };
        known.boxed()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let Some(uri) = &self.uri else {
            return;
        };
        let mut counts = self.all.counts.lock();
        let left = counts.by_uri.get_mut(uri).map(|count| {
            *count -= 1;
            *count
        });
        if left == Some(0) {
            counts.by_uri.remove(uri);
            counts.bytes -= uri.len();
            self.all.change(&mut counts);
        }
    }
}

impl Follower {
    /// Returns the resources that are subscribed to now.
    pub(super) fn wanted(&mut self) -> WantedResources {
        self.changes.borrow_and_update();
        let counts = self.all.counts.lock();
        WantedResources {
            uris: counts.by_uri.keys().cloned().collect(),
            number: counts.number,
        }
    }

    /// Notes what the upstream has answered to a subscription.
    pub(super) fn answered(&mut self, uri: &Arc<str>, refusal: Option<Refusal>) {
        let mut all = self.all.refused.lock();
        let Some(mut refusal) = refusal else {
            all.remove(uri);
            return;
        };
        let end = refusal.message.floor_char_boundary(MAX_REFUSAL_BYTES);
        refusal.message.truncate(end);
        refusal.data = None;
        all.insert(Arc::clone(uri), refusal);
        self.refused.insert(Arc::clone(uri));
    }

    /// Forgets a resource that nobody wants any more. Returns whether the upstream has refused the
    /// subscription, so that there is none to end.
    pub(super) fn forget(&mut self, uri: &Arc<str>) -> bool {
        let was_refused = self.refused.remove(uri);
        if was_refused {
            self.all.refused.lock().remove(uri);
        }
        was_refused
    }

    /// Notes that the upstream knows of these subscriptions.
    pub(super) fn told(&self, wanted: &WantedResources) {
        self.all.told.send_modify(|told| {
            told.insert(self.key, Some(wanted.number));
        });
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.all.told.send_modify(|told| {
            told.remove(&self.key);
            // The next connection is asked anew.
            if told.is_empty() {
                self.all.refused.lock().clear();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One client may want to hear of a thousand at once, and of others the moment after.
    #[test]
    fn many_are_added_and_removed_in_linear_time_and_have_a_number() {
        let uris = |count: usize| (0..count).map(|number| format!("x:{number}")).collect();
        dormouse_tests::growth::is_linear("subscriptions", 1_000, uris, |uris: &Vec<String>| {
            let all = Arc::new(UpstreamSubscriptions::default());
            let mut follower = all.follower();
            let held: Vec<_> = uris.iter().map(|uri| all.add(uri)).collect();
            assert_eq!(follower.wanted().uris.len(), uris.len().min(MAX_URIS));
            drop(held);
            assert!(follower.wanted().uris.is_empty());
        });
    }

    #[tokio::test]
    async fn a_refusal_is_kept_short_and_for_as_long_as_its_resource_is_wanted() {
        let all = Arc::new(UpstreamSubscriptions::default());
        let (mut follower, held) = (all.follower(), all.add("x"));
        let refusal = Refusal {
            code: -32602,
            message: "ä".repeat(1 << 20),
            data: Some("x".repeat(1 << 20)),
        };
        let told = |follower: &mut Follower| {
            let wanted = follower.wanted();
            follower.told(&wanted);
            held.known().now_or_never().unwrap()
        };
        let uri: Arc<str> = "x".into();
        follower.answered(&uri, Some(refusal.clone()));
        let kept = told(&mut follower).unwrap_err();
        assert_eq!((kept.message.len(), kept.data), (MAX_REFUSAL_BYTES, None));
        assert!(follower.forget(&uri) && !follower.forget(&uri));
        assert_eq!(told(&mut follower), Ok(()));
        // Another connection is asked anew.
        follower.answered(&uri, Some(refusal));
        assert!(told(&mut follower).is_err());
        drop(follower);
        assert_eq!(held.known().await, Ok(()));
    }

    #[test]
    fn uris_have_a_size_together() {
        let all = Arc::new(UpstreamSubscriptions::default());
        let long = "x".repeat(MAX_BYTES / 4 - 1);
        let held: Vec<_> = (0..4).map(|one| all.add(&format!("{one}{long}"))).collect();
        assert!(held.iter().all(Subscription::has_room));
        assert!(!all.add("y").has_room());
        // What is known already takes no more room.
        assert!(all.add(&format!("0{long}")).has_room());
        drop(held);
        assert!(all.add("y").has_room());
        assert_eq!(all.counts.lock().bytes, 0);
    }
}
