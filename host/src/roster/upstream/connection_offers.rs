//! Offers of upstreams over the connections that are open.
//!
//! A resource that an upstream adds may exist for that connection and its client alone, such as a
//! file that a call has made. So it is listed as long as the connection lives, and is not recorded.
//! Resources that exist for all are in the first list of its next connection.
//!
//! What is recorded of tools and prompts is what the last connection was told, of this process or of
//! another one. Others may be told something else: an older process of a server that was updated.

use std::collections::BTreeMap;
use std::sync::Arc;

use dormouse_config::Fingerprint;
use dormouse_upstream::{JudgedItems, Offered};
use parking_lot::Mutex;
use serde_json::value::RawValue;

use crate::store::{ConnectionOffer, Gated, KnownUpstream};

/// Most memory for the added resources of one upstream, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// Most memory for what decides the caution of one upstream's tools, in bytes. Beyond it, only hints are
/// kept, and nothing where these are too much.
const MAX_CAUTION_BYTES: usize = 8 << 20;

/// Offers of upstreams over the connections that are open.
#[derive(Default)]
pub(in super::super) struct ConnectionOffers(Mutex<BTreeMap<Fingerprint, OfUpstream>>);

#[derive(Default)]
struct OfUpstream {
    by_connection: BTreeMap<u64, OfConnection>,
    /// Knowledge of the upstream as it is recorded, and the same with what is offered over these.
    extended: Option<(Arc<KnownUpstream>, Arc<KnownUpstream>)>,
    /// Number of the changes of `by_connection`, and of them before `extended` was worked out.
    changes: u64,
    extended_after: u64,
}

#[derive(Clone)]
struct OfConnection {
    added: Arc<Vec<Box<RawValue>>>,
    offer: Arc<ConnectionOffer>,
}

impl ConnectionOffers {
    /// Sets the offer over one connection. Of added resources it has none if all of its upstream would
    /// be too large.
    pub(super) fn set(&self, upstream: &Fingerprint, offered: &mut Offered) {
        let connection = offered.connection;
        let mut others = self.of(upstream);
        let before = others.remove(&connection);
        let mut added = std::mem::take(&mut offered.added_resources);
        let others_bytes = others.values().map(|other| bytes(&other.added));
        if others_bytes.sum::<usize>() + bytes(&added) > MAX_BYTES {
            added.clear();
        }
        let added = match before.as_ref().filter(|_| offered.untold.resources) {
            Some(before) => Arc::clone(&before.added),
            None => Arc::new(added),
        };
        let before = before.as_ref().map(|before| &*before.offer);
        let mut offer = ConnectionOffer::of(offered, before);
        let others = distinct(others.into_values().map(|other| other.offer));
        let offer = match others.iter().find(|other| other.is_same(&offer)) {
            Some(same) => Arc::clone(same),
            None => {
                let others = others.iter().map(|other| other.caution_bytes());
                offer.bound_cautions(MAX_CAUTION_BYTES.saturating_sub(others.sum()));
                Arc::new(offer)
            }
        };
        let mut all = self.0.lock();
        let of_upstream = all.entry(upstream.clone()).or_default();
        let offer = OfConnection { added, offer };
        of_upstream.by_connection.insert(connection, offer);
        of_upstream.changes += 1;
    }

    /// Forgets the offer over a connection. Returns whether the upstream was known otherwise for it, or
    /// for another one.
    pub(super) fn forget(&self, upstream: &Fingerprint, connection: u64) -> bool {
        let mut all = self.0.lock();
        let Some(of_upstream) = all.get_mut(upstream) else {
            return false;
        };
        of_upstream.by_connection.remove(&connection);
        of_upstream.changes += 1;
        let extended = of_upstream.extended.as_ref();
        let is_extended = extended.is_some_and(|(known, extended)| !Arc::ptr_eq(known, extended));
        if of_upstream.by_connection.is_empty() {
            all.remove(upstream);
        }
        is_extended
    }

    /// Checks whether items are known as they were offered over a connection.
    pub(super) fn are_known(
        &self,
        upstream: &Fingerprint,
        connection: u64,
        known: &KnownUpstream,
        items: &JudgedItems,
    ) -> bool {
        let all = self.0.lock();
        let of_upstream = all.get(upstream);
        let Some(of) = of_upstream.and_then(|of| of.by_connection.get(&connection)) else {
            return true;
        };
        let tools = items.tools.iter().map(|name| (Gated::Tool, name));
        let prompts = items.prompts.iter().map(|name| (Gated::Prompt, name));
        let mut items = tools.chain(prompts);
        items.all(|(kind, name)| known.is_as_offered(&of.offer, kind, name))
    }

    /// Returns the knowledge of an upstream with what is offered over these connections. One thread at a
    /// time may ask for it.
    pub(in super::super) fn extended(
        &self,
        upstream: &Fingerprint,
        known: Arc<KnownUpstream>,
    ) -> Arc<KnownUpstream> {
        let (before, after, offers) = {
            let all = self.0.lock();
            let Some(of_upstream) = all.get(upstream) else {
                return known;
            };
            let before = of_upstream.extended.clone();
            if let Some((kept, extended)) = &before
                && Arc::ptr_eq(kept, &known)
                && of_upstream.extended_after == of_upstream.changes
            {
                return Arc::clone(extended);
            }
            (
                before,
                of_upstream.changes,
                of_upstream.by_connection.clone(),
            )
        };
        // What an upstream has told may take long to compare.
        let before = before.map(|(_, extended)| extended);
        let (added, offers): (Vec<_>, Vec<_>) =
            offers.into_values().map(|of| (of.added, of.offer)).unzip();
        let offers = distinct(offers.into_iter());
        let mut extended = Arc::clone(&known);
        if let Some(more) = known.with_offers(before.as_deref(), &offers) {
            extended = Arc::new(more);
        }
        if added.iter().any(|added| !added.is_empty()) {
            let added = added.iter().flat_map(|added| &**added);
            extended = Arc::new(extended.with_resources(added.map(|one| &**one)));
        }
        if let Some(of_upstream) = self.0.lock().get_mut(upstream) {
            of_upstream.extended = Some((known, Arc::clone(&extended)));
            of_upstream.extended_after = after;
        }
        extended
    }

    fn of(&self, upstream: &Fingerprint) -> BTreeMap<u64, OfConnection> {
        let all = self.0.lock();
        let of_upstream = all.get(upstream);
        of_upstream.map_or_else(BTreeMap::new, |of| of.by_connection.clone())
    }
}

/// Returns offers, each once of those that several connections share.
fn distinct(offers: impl Iterator<Item = Arc<ConnectionOffer>>) -> Vec<Arc<ConnectionOffer>> {
    let mut offers: Vec<_> = offers.collect();
    offers.sort_unstable_by_key(Arc::as_ptr);
    offers.dedup_by(|one, other| Arc::ptr_eq(one, other));
    offers
}

fn bytes(objects: &[Box<RawValue>]) -> usize {
    objects.iter().map(|one| one.get().len()).sum()
}

#[cfg(test)]
mod tests {
    use dormouse_launch::{Launch, Stdio};

    use super::*;

    fn resource(uri: &str) -> Box<RawValue> {
        let object = serde_json::json!({ "uri": uri, "name": uri });
        serde_json::value::to_raw_value(&object).unwrap()
    }

    #[test]
    fn resources_are_there_as_long_as_their_connection() {
        let offers = ConnectionOffers::default();
        let upstream = Fingerprint::of(&Launch::Stdio(Stdio::default()));
        assert!(!offers.forget(&upstream, 1));
        let set = |connection, uri: &str| {
            let mut offered = Offered {
                connection,
                added_resources: vec![resource(uri)],
                ..Offered::default()
            };
            offers.set(&upstream, &mut offered);
        };
        set(1, "a:1");
        set(2, "a:2");
        let uris = || {
            let added = offers.of(&upstream).into_values();
            added.map(|of| of.added.len()).sum::<usize>()
        };
        assert_eq!(uris(), 2);
        // What is too large is none, and costs the others nothing.
        set(3, &"a".repeat(MAX_BYTES));
        assert_eq!(uris(), 2);
        for (connection, left) in [(1, 1), (3, 1), (2, 0)] {
            offers.forget(&upstream, connection);
            assert_eq!(uris(), left);
        }
        assert!(offers.0.lock().is_empty());
    }
}
