//! Resources that no list has: servers name them in their answers and notifications, or have listed them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::roster::uris::{MAX_URI_BYTES, each_uri, text_of};
use crate::roster::{NamedUris, Roster, Server, Snapshot};

/// Most URIs that are remembered of one server.
const MAX_URIS: usize = 4096;

/// Most bytes of all URIs that are remembered of one server.
const MAX_BYTES: usize = 1 << 20;

/// URIs that each server has named. The limit is one of each server: if one server's URIs displaced
/// those of another, they would change their owners.
#[derive(Debug, Default)]
pub(in super::super) struct NamedResources {
    servers: BTreeMap<String, NamedByServer>,
}

/// URIs that one server has named, as many as are remembered.
#[derive(Debug, Default)]
struct NamedByServer {
    uris: HashMap<Arc<str>, u64>,
    /// The same URIs, by the time at which they were last named.
    order: BTreeMap<u64, Arc<str>>,
    bytes: usize,
    next: u64,
    /// Start of the current [`PERIOD`], and number of updates in it of resources that no client
    /// follows.
    unwanted: Option<(Instant, usize)>,
}

/// Most updates in one [`PERIOD`] of resources that no client follows: finding their owners takes
/// time.
const MAX_UNWANTED: usize = 16;

/// Time in which such updates are counted.
const PERIOD: Duration = Duration::from_secs(1);

impl NamedByServer {
    fn note(&mut self, uri: &str) {
        if uri.len() > MAX_URI_BYTES {
            return;
        }
        self.next += 1;
        let uri: Arc<str> = uri.into();
        self.bytes += uri.len();
        if let Some(before) = self.uris.insert(uri.clone(), self.next) {
            self.order.remove(&before);
            self.bytes -= uri.len();
        }
        self.order.insert(self.next, uri);
        while (self.order.len() > MAX_URIS || self.bytes > MAX_BYTES)
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.uris.remove(&oldest);
            self.bytes -= oldest.len();
        }
    }
}

impl NamedResources {
    fn note(&mut self, server: &str, uri: &str) {
        self.servers.entry(server.to_owned()).or_default().note(uri);
    }

    fn may_name_another(&mut self, server: &str, now: Instant) -> bool {
        let of_server = self.servers.entry(server.to_owned()).or_default();
        let unwanted = of_server.unwanted.get_or_insert((now, 0));
        if now.saturating_duration_since(unwanted.0) >= PERIOD {
            *unwanted = (now, 0);
        }
        unwanted.1 = unwanted.1.saturating_add(1);
        unwanted.1 <= MAX_UNWANTED
    }

    fn servers(&self, uri: &str) -> impl Iterator<Item = &str> {
        let naming = self
            .servers
            .iter()
            .filter(move |(_, named)| named.uris.contains_key(uri));
        naming.map(|(server, _)| server.as_str())
    }
}

impl Roster {
    /// Remembers the resources that the text of an upstream's answer names: an agent that gets one
    /// may read it.
    pub(super) fn note(&self, server: &Server, text: &str) {
        if server.config().bridge().is_none() {
            return;
        }
        let name = &server.config().name;
        each_uri(text, |uri| {
            // That it links to what another lists does not make it its own.
            if let Some(uri) = text_of(uri)
                && !self.is_listed_by_another(&uri, name)
            {
                self.named.lock().note(name, &uri);
            }
        });
    }

    /// Remembers the resources that servers list no longer: agents were shown these, and another connection
    /// may have them still.
    pub(in super::super) fn note_unlisted(
        &self,
        before: &Snapshot,
        now: &BTreeMap<String, Arc<Server>>,
    ) {
        for (name, server) in now {
            let old = before.servers().get(name);
            let old = old.filter(|old| !Arc::ptr_eq(old, server) && server.continues(old.config()));
            let Some(listed) = old.and_then(|old| old.listed()) else {
                continue;
            };
            let still = server.listed();
            if still.is_some_and(|still| Arc::ptr_eq(still, listed)) {
                continue;
            }
            let still = still.into_iter().flat_map(|still| &still.resources);
            let still: HashSet<&str> = still.map(|one| &*one.key).collect();
            let gone = listed.resources.iter().map(|one| &*one.key);
            let mut named = self.named.lock();
            for uri in gone.filter(|uri| !still.contains(uri)) {
                named.note(name, uri);
            }
        }
    }

    /// Remembers a resource that an upstream says has changed. Returns false if it is another
    /// server's, or contested.
    pub(super) fn note_updated(&self, server: &str, uri: &str) -> bool {
        let snapshot = self.snapshot();
        let found = snapshot.servers().get(server);
        if found.is_none_or(|server| server.config().bridge().is_none()) {
            return false;
        }
        // One that nobody has named is named by this.
        self.named.lock().note(server, uri);
        self.resource(uri)
            .is_ok_and(|source| source.server == server)
    }

    /// Checks whether an update of a resource that no client follows is still accepted from a
    /// server.
    pub(super) fn may_name_another(&self, server: &str) -> bool {
        self.named.lock().may_name_another(server, Instant::now())
    }

    /// Returns those of some servers that have named a URI in their answers, or in lists of before.
    pub(super) fn naming(&self, uri: &str, among: &BTreeMap<String, Arc<Server>>) -> Vec<String> {
        // What a server has said that is gone counts for nothing.
        let there = |server: &&str| {
            let server = among.get(*server);
            server.is_some_and(|server| server.config().bridge().is_some())
        };
        let named = self.named.lock();
        named
            .servers(uri)
            .filter(there)
            .map(str::to_owned)
            .collect()
    }

    /// Returns the resources that some servers list, each with those of them that have named it.
    pub(in super::super) fn named_and_listed(
        &self,
        servers: &BTreeMap<String, Arc<Server>>,
    ) -> NamedUris {
        let listed = servers.values().filter_map(|server| server.listed());
        let uris: HashSet<&str> = listed
            .flat_map(|listing| &listing.resources)
            .map(|resource| &*resource.key)
            .collect();
        let named = uris.into_iter().filter_map(|uri| {
            let naming = self.naming(uri, servers);
            (!naming.is_empty()).then(|| (uri.to_owned(), naming))
        });
        named.collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn few_updates_that_nobody_wants_are_listened_to() {
        let mut named = NamedResources::default();
        let begin = Instant::now();
        let mut heard = |server: &str, after: Duration| {
            let times = 0..1000;
            let heard = times.filter(|_| named.may_name_another(server, begin + after));
            heard.count()
        };
        assert_eq!(heard("one", Duration::ZERO), MAX_UNWANTED);
        assert_eq!(heard("one", PERIOD / 2), 0);
        // Another one's are its own.
        assert_eq!(heard("two", PERIOD / 2), MAX_UNWANTED);
        assert_eq!(heard("one", PERIOD), MAX_UNWANTED);
    }

    #[test]
    fn a_server_makes_only_its_own_forgotten() {
        let servers = |named: &NamedResources, uri: &str| -> Vec<String> {
            named.servers(uri).map(str::to_owned).collect()
        };
        let mut named = NamedResources::default();
        named.note("one", "x:first");
        named.note("two", "x:first");
        named.note("two", &"x".repeat(MAX_URI_BYTES + 1));
        assert_eq!(servers(&named, "x:first"), ["one", "two"]);
        for i in 0..MAX_URIS {
            named.note("two", &format!("x:{i}"));
        }
        assert_eq!(servers(&named, "x:first"), ["one"]);
        let two = &named.servers["two"];
        assert_eq!((two.uris.len(), two.order.len()), (MAX_URIS, MAX_URIS));
        // Long ones take the room of many.
        for i in 0..MAX_URIS {
            named.note("two", &format!("{i}:{}", "x".repeat(1024)));
        }
        let two = &named.servers["two"];
        assert!(
            two.bytes <= MAX_BYTES && two.uris.len() < 1024,
            "{}",
            two.uris.len()
        );
        let total: usize = two.order.values().map(|uri| uri.len()).sum();
        assert_eq!(total, two.bytes);
        assert_eq!(servers(&named, "x:first"), ["one"]);
    }

    #[test]
    fn results_are_looked_through_in_linear_time() {
        let link = |uri: &str| json!({ "type": "resource_link", "uri": uri, "name": "x" });
        type Result<'r> = &'r dyn Fn(usize) -> Value;
        let results: [(&str, Result<'_>); 4] = [
            ("links", &|size| {
                let links = (0..size).map(|n| link(&format!("a:{n}")));
                json!({ "content": links.collect::<Vec<_>>() })
            }),
            (
                "one URI",
                &|size| json!({ "contents": vec![link("a:1"); size] }),
            ),
            ("messages", &|size| {
                let message = json!({ "content": [link("a:1"), link("b:2")] });
                json!({ "messages": vec![message; size] })
            }),
            ("long URIs", &|size| {
                let uri = "x".repeat(MAX_URI_BYTES);
                json!({ "content": vec![link(&uri); size / 100] })
            }),
        ];
        for (what, result) in results {
            let answer = |size: usize| result(size).to_string();
            dormouse_tests::growth::is_linear(what, 2_000, answer, |answer: &String| {
                let mut named = NamedResources::default();
                each_uri(answer, |uri| named.note("one", uri));
                assert!(named.servers("a:none").next().is_none());
            });
        }
    }
}
