//! What agents are to be told of, on its way to them.

use std::sync::Arc;

use tokio::sync::{broadcast, watch};

use crate::runtime::{Catalog, Notice};

/// How many updates of resources may wait for an agent. One that falls further
/// behind misses some.
const WAITING: usize = 256;

/// Tells of changes.
#[derive(Debug)]
pub struct Changes {
    numbers: watch::Sender<Numbers>,
    updated: broadcast::Sender<Arc<str>>,
}

/// How often each list has changed.
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
        }
    }
}

impl Changes {
    /// Sees new numbers whenever a list changes. Several changes that nobody has
    /// looked at yet are one.
    pub fn lists(&self) -> watch::Receiver<Numbers> {
        self.numbers.subscribe()
    }

    /// Hears the URI of every resource that changes.
    pub fn resources(&self) -> broadcast::Receiver<Arc<str>> {
        self.updated.subscribe()
    }

    /// Whether anybody wants to know of lists.
    pub(super) fn is_heard(&self) -> bool {
        self.numbers.receiver_count() > 0
    }

    pub(super) fn tell(&self, notice: Notice) {
        match notice {
            // That nobody listens is no error.
            Notice::Updated(uri) => drop(self.updated.send(uri.into())),
            Notice::Changed(catalog) => self.numbers.send_modify(|numbers| {
                *match catalog {
                    Catalog::Tools => &mut numbers.tools,
                    Catalog::Prompts => &mut numbers.prompts,
                    Catalog::Resources => &mut numbers.resources,
                } += 1;
            }),
        }
    }
}
