//! Indices that were made last, kept in memory while their tools are the same ones, whatever else changes.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::index::SearchIndex;
use crate::kept_documents::KeptDocuments;
use crate::server_documents::ServerDocuments;

/// Most indices that are kept: profiles have their own.
const MAX_INDICES: usize = 4;

/// Most bytes of memory that they take, but for the one that was made last.
const MAX_BYTES: usize = 64 << 20;

/// Times the memory of servers' tools that an index of them takes, about.
const TIMES_OF_DOCUMENTS: usize = 2;

/// Indices of the tools that were searched last, and what was analysed of these tools.
#[derive(Default)]
pub struct KeptIndices {
    /// Held while an index is made: whoever needs another one waits, so that no two take memory and a
    /// processor at once.
    documents: Mutex<KeptDocuments>,
    /// The one that was asked for last is the last.
    indices: Mutex<Vec<KeptIndex>>,
}

/// An index.
struct KeptIndex {
    /// Hash of the tools that it was made of.
    content: [u8; 32],
    index: Arc<SearchIndex>,
    /// Bytes of memory that it takes, about.
    memory: usize,
}

impl fmt::Debug for KeptIndices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indices = self.indices.lock();
        let indices = indices.iter().map(|kept| kept.index.len());
        write!(f, "KeptIndices({:?})", indices.collect::<Vec<_>>())
    }
}

impl KeptIndices {
    /// Returns the index of tools with that hash. Where none is kept, it is made of servers that `servers`
    /// returns, after those that are being made.
    pub fn of(
        &self,
        content: [u8; 32],
        servers: impl FnOnce(&mut KeptDocuments) -> Vec<Arc<ServerDocuments>>,
    ) -> Arc<SearchIndex> {
        if let Some(index) = self.kept(&content) {
            return index;
        }
        let mut documents = self.documents.lock();
        if let Some(index) = self.kept(&content) {
            return index;
        }
        let servers = servers(&mut documents);
        let memory = servers.iter().map(|server| server.memory());
        let memory = memory.fold(0, usize::saturating_add);
        let memory = memory.saturating_mul(TIMES_OF_DOCUMENTS);
        self.make_room(memory);
        let index = Arc::new(SearchIndex::of_servers(servers.iter().map(Arc::as_ref)));
        documents.end_index();
        self.indices.lock().push(KeptIndex {
            content,
            index: Arc::clone(&index),
            memory,
        });
        index
    }

    fn kept(&self, content: &[u8; 32]) -> Option<Arc<SearchIndex>> {
        let mut indices = self.indices.lock();
        let place = indices.iter().position(|kept| kept.content == *content)?;
        indices.get_mut(place..)?.rotate_left(1);
        Some(Arc::clone(&indices.last()?.index))
    }

    /// Forgets indices, from the one that nobody has asked for for longest on, until there is room for
    /// another one.
    fn make_room(&self, memory: usize) {
        let mut indices = self.indices.lock();
        let of_all = indices.iter().map(|kept| kept.memory);
        let mut all = of_all.fold(memory, usize::saturating_add);
        let mut left = indices.len();
        let mut forgotten = 0;
        while left >= MAX_INDICES || (left > 0 && all > MAX_BYTES) {
            let kept = indices.get(forgotten);
            all = all.saturating_sub(kept.map_or(0, |kept| kept.memory));
            forgotten += 1;
            left -= 1;
        }
        indices.drain(..forgotten);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::ToolDocument;

    fn documents(name: &str) -> ServerDocuments {
        let tool = ToolDocument {
            name,
            own_name: name,
            ..ToolDocument::default()
        };
        ServerDocuments::analyse("server", [tool])
    }

    /// Returns the index of these tools, and whether it was made now.
    fn ask(indices: &KeptIndices, content: u8, name: &str) -> (Arc<SearchIndex>, bool) {
        let mut is_made = false;
        let index = indices.of([content; 32], |kept| {
            is_made = true;
            vec![kept.of([content; 32], || documents(name))]
        });
        (index, is_made)
    }

    #[test]
    fn an_index_is_made_once_while_its_tools_are_the_same() {
        let indices = KeptIndices::default();
        let (first, is_made) = ask(&indices, 1, "tool");
        assert!(is_made);
        let (again, is_made) = ask(&indices, 1, "tool");
        assert!(!is_made && Arc::ptr_eq(&first, &again));
        let others = (2..=4).map(|content| ask(&indices, content, "tool").1);
        assert_eq!(others.collect::<Vec<_>>(), [true; 3]);
        assert!(!ask(&indices, 1, "tool").1);
        // The second one was asked for longest ago.
        assert!(ask(&indices, 5, "tool").1);
        assert_eq!(indices.indices.lock().len(), MAX_INDICES);
        assert!(!ask(&indices, 1, "tool").1);
        assert!(ask(&indices, 2, "tool").1);
    }

    #[test]
    fn large_indices_leave_no_others_and_are_kept() {
        let indices = KeptIndices::default();
        ask(&indices, 1, "tool");
        let long = "n".repeat(MAX_BYTES / 8);
        // Each takes a little more than half of the room.
        for (content, kept) in [(2, 2), (3, 1), (4, 1)] {
            assert!(ask(&indices, content, &long).1);
            assert_eq!(indices.indices.lock().len(), kept, "{content}");
        }
        let longer = "n".repeat(MAX_BYTES);
        assert!(ask(&indices, 5, &longer).1);
        assert!(!ask(&indices, 5, &longer).1);
        assert_eq!(indices.indices.lock().len(), 1);
    }

    #[test]
    fn one_index_is_made_at_a_time() {
        let indices = KeptIndices::default();
        let (making, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let make = |content: u8| {
            indices.of([content; 32], |_| {
                let now = making.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                std::thread::sleep(std::time::Duration::from_millis(5));
                making.fetch_sub(1, Ordering::SeqCst);
                Vec::new()
            });
        };
        std::thread::scope(|scope| {
            for content in 0..6 {
                scope.spawn(move || make(content));
            }
        });
        assert_eq!(most.into_inner(), 1);
    }
}
