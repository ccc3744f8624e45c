//! Lazily made slot of a server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use dormouse_runtime::{RunningCalls, Slot};
use dormouse_upstream::RETIRED;

/// Slot that is made at most once, and never after this was closed.
#[derive(Debug, Default)]
pub(in crate::roster) struct SlotCell {
    slot: OnceLock<Arc<Slot>>,
    is_closed: AtomicBool,
}

impl SlotCell {
    /// Returns the slot, if it was made.
    pub(super) fn get(&self) -> Option<&Arc<Slot>> {
        self.slot.get()
    }

    /// Returns the slot, made now if need be.
    ///
    /// # Errors
    /// It cannot be made, or none is to be made any more.
    pub(super) fn get_or_make(
        &self,
        make: impl FnOnce() -> Result<Arc<Slot>, String>,
    ) -> Result<&Arc<Slot>, String> {
        let slot = match self.slot.get() {
            Some(slot) => slot,
            None => {
                let made = make()?;
                self.slot.get_or_init(|| made)
            }
        };
        // It may have been closed while the slot was made, by who has seen none yet.
        if self.is_closed.load(Ordering::SeqCst) {
            slot.retire(RunningCalls::End);
            return Err(RETIRED.to_owned());
        }
        Ok(slot)
    }

    /// Whether it was closed.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    /// Retires the slot, and refuses to make one from now on.
    pub(in crate::roster) fn close(&self, calls: RunningCalls) {
        self.is_closed.store(true, Ordering::SeqCst);
        if let Some(slot) = self.slot.get() {
            slot.retire(calls);
        }
    }
}
