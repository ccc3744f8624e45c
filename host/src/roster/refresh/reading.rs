//! Reading the components that are new.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use dormouse_catalog::{CatalogEntry, ReadError, ReadRound};

use crate::roster::Roster;

/// Way in which new components are read.
pub(in super::super) enum Reading {
    /// All at once.
    AtOnce,
    /// Some at once, and the others while clients are answered. Whether that is going on.
    WhileAnswering(AtomicBool),
}

impl Reading {
    pub(in super::super) fn while_answering() -> Self {
        Self::WhileAnswering(AtomicBool::new(false))
    }
}

impl Roster {
    /// Returns what is in components, in their order, and begins to read those that there was no
    /// time for.
    pub(super) fn read_components(
        &self,
        components: &[PathBuf],
    ) -> Vec<Result<Arc<CatalogEntry>, ReadError>> {
        let Reading::WhileAnswering(is_going_on) = &self.reading else {
            return self.catalog.entries(components, ReadRound::begin());
        };
        let round = match is_going_on.load(Ordering::Acquire) {
            true => ReadRound::over(),
            false => ReadRound::begin_briefly(),
        };
        let read = self.catalog.entries(components, round);
        self.read_on(is_going_on);
        read
    }

    /// Begins to read the components that there was no time for, if any, unless that is going on
    /// already.
    fn read_on(&self, is_going_on: &AtomicBool) {
        if self.catalog.unread().is_empty() || is_going_on.swap(true, Ordering::AcqRel) {
            return;
        }
        let me = Weak::clone(&self.me);
        let thread = std::thread::Builder::new().name("components".to_owned());
        let reading = thread.spawn(move || {
            let mut before = Vec::new();
            while let Some(roster) = me.upgrade() {
                let unread = roster.catalog.unread();
                let is_stuck = !before.is_empty() && before.iter().all(|it| unread.contains(it));
                if unread.is_empty() || is_stuck {
                    roster.has_read_on();
                    return;
                }
                // Not under the locks of a reload: what a user decides is done meanwhile. Each round
                // is kept, and its servers are shown, before the next one.
                let _ = roster
                    .catalog
                    .entries(&unread, ReadRound::begin_in_background());
                roster.refresh(None);
                roster.save();
                before = unread;
            }
        });
        if let Err(error) = reading {
            is_going_on.store(false, Ordering::Release);
            tracing::warn!("some components are not read: no thread could be started: {error}");
        }
    }

    fn has_read_on(&self) {
        if let Reading::WhileAnswering(is_going_on) = &self.reading {
            is_going_on.store(false, Ordering::Release);
        }
    }
}
