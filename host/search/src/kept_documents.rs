//! Analysed tools of servers, kept in memory for the next index.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use crate::server_documents::ServerDocuments;

/// Most bytes of memory that they take.
const MAX_BYTES: usize = 48 << 20;

/// Most indices that are made without a server's tools before these are forgotten. Profiles have indices of
/// their own.
const MAX_UNUSED: u64 = 4;

/// Servers' tools as they were analysed last, by the hashes of all that they were made of.
#[derive(Debug, Default)]
pub struct KeptDocuments {
    servers: HashMap<[u8; 32], KeptServer>,
    /// Number of indices that were made.
    made: u64,
}

/// A server's tools.
#[derive(Debug)]
struct KeptServer {
    documents: Arc<ServerDocuments>,
    /// Index for which they were kept first, by its number.
    since: u64,
    /// Index for which they were used last.
    used: u64,
}

impl KeptDocuments {
    /// Returns a server's tools, analysed: those that are kept of the same
    /// [content](ServerDocuments::content_hash), else those that are read or made now.
    pub fn of(
        &mut self,
        content: [u8; 32],
        make: impl FnOnce() -> ServerDocuments,
    ) -> Arc<ServerDocuments> {
        let made = self.made;
        let kept = self.servers.entry(content).or_insert_with(|| KeptServer {
            documents: Arc::new(make()),
            since: made,
            used: made,
        });
        kept.used = made;
        Arc::clone(&kept.documents)
    }

    /// Forgets what has been of no use for a while and what is too much, once an index is made. Where all
    /// of its servers are too much, those stay that were there before: each index finds the same ones.
    pub(crate) fn end_index(&mut self) {
        let made = self.made;
        let mut servers: Vec<_> = self.servers.drain().collect();
        servers.retain(|(_, kept)| made - kept.used <= MAX_UNUSED);
        servers.sort_by_key(|(content, kept)| (Reverse(kept.used), kept.since, *content));
        let mut room = MAX_BYTES;
        servers.retain(|(_, kept)| {
            let left = room.checked_sub(kept.documents.memory());
            room = left.unwrap_or(room);
            left.is_some()
        });
        self.servers.extend(servers);
        self.servers.shrink_to_fit();
        self.made += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ToolDocument;

    /// Returns a number of bytes' worth of tools, and whether they had to be made.
    fn ask(kept: &mut KeptDocuments, content: u8, bytes: usize) -> bool {
        let mut is_made = false;
        kept.of([content; 32], || {
            is_made = true;
            let name = "n".repeat(bytes / 2);
            let tool = ToolDocument {
                name: &name,
                own_name: &name,
                ..ToolDocument::default()
            };
            ServerDocuments::analyse("server", [tool])
        });
        is_made
    }

    #[test]
    fn servers_are_kept_while_they_are_of_use() {
        let mut kept = KeptDocuments::default();
        assert!(ask(&mut kept, 1, 100));
        assert!(ask(&mut kept, 2, 100));
        kept.end_index();
        for _ in 0..=MAX_UNUSED {
            assert!(!ask(&mut kept, 1, 100));
            kept.end_index();
        }
        assert!(!ask(&mut kept, 1, 100));
        assert!(ask(&mut kept, 2, 100));
    }

    #[test]
    fn more_than_is_kept_leaves_the_same_ones_each_time() {
        let mut kept = KeptDocuments::default();
        let all = |kept: &mut KeptDocuments, contents: std::ops::Range<u8>| {
            let made = contents.map(|content| usize::from(ask(kept, content, MAX_BYTES / 3)));
            let made: usize = made.sum();
            kept.end_index();
            let memory = kept.servers.values().map(|kept| kept.documents.memory());
            assert!(memory.sum::<usize>() <= MAX_BYTES);
            made
        };
        assert_eq!(all(&mut kept, 0..5), 5);
        // Two of them have room.
        assert_eq!(all(&mut kept, 0..5), 3);
        assert_eq!(all(&mut kept, 0..5), 3);
        // Others take their places.
        assert_eq!(all(&mut kept, 10..12), 2);
        assert_eq!(all(&mut kept, 10..12), 0);
    }
}
