//! Tools that agents have listed last, by the names that their clients give.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use dormouse_catalog::Listing;

/// Listings that one agent has listed, by servers.
type Listings = BTreeMap<String, Arc<Listing>>;

/// Listings that agents have listed last, each with its agent's name, the one that has listed last
/// at the end.
#[derive(Debug, Default)]
pub(super) struct ListingsByClient(VecDeque<(String, Arc<Listings>)>);

/// Agents whose listings are remembered.
const MAX_CLIENTS: usize = 64;

/// Listings that are remembered of all of them, if these are different ones: each can be as large
/// as what upstreams list.
const MAX_LISTINGS: usize = 4;

impl ListingsByClient {
    /// Takes note of what an agent has listed.
    pub(super) fn note(&mut self, client: &str, listings: Listings) {
        let last = self.0.back().map(|(_, last)| last);
        let listings = match last {
            Some(last) if are_same(last, &listings) => Arc::clone(last),
            _ => Arc::new(listings),
        };
        self.0.retain(|(name, _)| name != client);
        self.0.push_back((client.to_owned(), listings));
        while self.0.len() > MAX_CLIENTS || self.different() > MAX_LISTINGS {
            self.0.pop_front();
        }
    }

    /// Returns the number of different listings.
    fn different(&self) -> usize {
        let listings = self.0.iter().map(|(_, listings)| listings);
        listings.map(Arc::as_ptr).collect::<BTreeSet<_>>().len()
    }

    /// A server's tools as that agent has listed them, or else the one that has listed last.
    pub(super) fn of(&self, client: &str, server: &str) -> Option<Arc<Listing>> {
        let mut own = self.0.iter();
        let own = own.find(|(name, _)| name == client);
        let (_, listings) = own.or_else(|| self.0.back())?;
        listings.get(server).cloned()
    }
}

fn are_same(one: &Listings, other: &Listings) -> bool {
    let mut pairs = one.iter().zip(other);
    one.len() == other.len()
        && pairs.all(|((one, its), (other, others))| one == other && Arc::ptr_eq(its, others))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_so_many_clients_and_listings_are_remembered() {
        let listing = || {
            let listing = json!({ "provenance": "front", "mapping": 1, "tools": [] });
            Arc::new(serde_json::from_value::<Listing>(listing).unwrap())
        };
        let of = |listing: &Arc<Listing>| Listings::from([("a".to_owned(), Arc::clone(listing))]);
        let is_of = |listed: &ListingsByClient, client: &str, listing: &Arc<Listing>| {
            Arc::ptr_eq(&listed.of(client, "a").unwrap(), listing)
        };
        let (first, second) = (listing(), listing());
        let mut listed = ListingsByClient::default();
        assert!(listed.of("one", "a").is_none());
        listed.note("one", of(&first));
        listed.note("two", of(&second));
        assert!(is_of(&listed, "one", &first));
        assert!(is_of(&listed, "two", &second));
        assert!(is_of(&listed, "another", &second));
        assert!(listed.of("one", "b").is_none());
        for client in 0..2 * MAX_CLIENTS {
            listed.note(&client.to_string(), of(&second));
        }
        assert_eq!(listed.0.len(), MAX_CLIENTS);
        assert_eq!(listed.different(), 1);
        for _ in 0..2 * MAX_LISTINGS {
            listed.note("one", of(&listing()));
            listed.note("two", of(&listing()));
            for client in 0..MAX_LISTINGS {
                listed.note(&client.to_string(), of(&listing()));
            }
            assert!(listed.different() <= MAX_LISTINGS);
        }
    }
}
