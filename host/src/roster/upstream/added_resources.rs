//! Resources that upstreams have only while they are connected.
//!
//! A resource that an upstream adds may exist for that connection and its client alone, such as a
//! file that a call has made. So it is listed as long as the connection lives, and is not recorded.
//! Resources that exist for all are in the first list of its next connection.

use std::collections::BTreeMap;
use std::sync::Arc;

use dormouse_config::Fingerprint;
use parking_lot::Mutex;
use serde_json::value::RawValue;

use crate::store::KnownUpstream;

/// Most memory for the added resources of one upstream, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// Resources that upstreams have only while they are connected.
#[derive(Default)]
pub(in super::super) struct AddedResources(Mutex<BTreeMap<Fingerprint, OfUpstream>>);

#[derive(Default)]
struct OfUpstream {
    by_connection: BTreeMap<u64, Vec<Box<RawValue>>>,
    /// Knowledge of the upstream as it is recorded, and the same with these resources.
    extended: Option<(Arc<KnownUpstream>, Arc<KnownUpstream>)>,
}

impl AddedResources {
    /// Sets the resources of one connection, or none if all of its upstream would be too large.
    pub(super) fn set(
        &self,
        upstream: &Fingerprint,
        connection: u64,
        mut resources: Vec<Box<RawValue>>,
    ) {
        let mut all = self.0.lock();
        let of_upstream = all.entry(upstream.clone()).or_default();
        of_upstream.by_connection.remove(&connection);
        let others = of_upstream.by_connection.values().flatten();
        let bytes = others.chain(&resources).map(|one| one.get().len());
        if bytes.sum::<usize>() > MAX_BYTES {
            resources.clear();
        }
        if !resources.is_empty() {
            of_upstream.by_connection.insert(connection, resources);
        }
        of_upstream.extended = None;
        if of_upstream.by_connection.is_empty() {
            all.remove(upstream);
        }
    }

    /// Forgets the resources of a connection. Returns whether there were any.
    pub(super) fn forget(&self, upstream: &Fingerprint, connection: u64) -> bool {
        let had = self
            .0
            .lock()
            .get(upstream)
            .is_some_and(|of_upstream| of_upstream.by_connection.contains_key(&connection));
        if had {
            self.set(upstream, connection, Vec::new());
        }
        had
    }

    /// Returns the knowledge of an upstream with these resources.
    pub(in super::super) fn extended(
        &self,
        upstream: &Fingerprint,
        known: Arc<KnownUpstream>,
    ) -> Arc<KnownUpstream> {
        let mut all = self.0.lock();
        let Some(of_upstream) = all.get_mut(upstream) else {
            return known;
        };
        if let Some((kept, extended)) = &of_upstream.extended
            && Arc::ptr_eq(kept, &known)
        {
            return Arc::clone(extended);
        }
        let added = of_upstream.by_connection.values().flatten();
        let extended = Arc::new(known.with_resources(added.map(|one| &**one)));
        of_upstream.extended = Some((known, Arc::clone(&extended)));
        extended
    }
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
        let added = AddedResources::default();
        let upstream = Fingerprint::of(&Launch::Stdio(Stdio::default()));
        assert!(!added.forget(&upstream, 1));
        added.set(&upstream, 1, vec![resource("a:1")]);
        added.set(&upstream, 2, vec![resource("a:2")]);
        let uris = || {
            let all = added.0.lock();
            let all = all
                .get(&upstream)
                .map(|one| one.by_connection.values().flatten());
            all.map_or(0, Iterator::count)
        };
        assert_eq!(uris(), 2);
        // What is too large is none, and costs the others nothing.
        added.set(&upstream, 3, vec![resource(&"a".repeat(MAX_BYTES))]);
        assert_eq!(uris(), 2);
        assert!(added.forget(&upstream, 1) && !added.forget(&upstream, 1));
        assert!(added.forget(&upstream, 2));
        assert!(added.0.lock().is_empty());
    }
}
