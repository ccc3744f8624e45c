//! Places for processes that compile components.
//!
//! The author of a component determines how long it compiles. So that a few of them keep no other
//! component waiting, a compile that takes long gives its place to the next, and goes on in one of
//! few places for long compiles.

use parking_lot::{Condvar, Mutex};

/// Most long compiles at once, beside the short ones.
const MAX_LONG: usize = 1;

/// Kind of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// For a compile that has not taken long yet.
    Short,
    /// For a compile that has taken long.
    Long,
}

/// Places of one host.
pub(super) struct CompilePlaces {
    taken: Mutex<TakenCompilePlaces>,
    freed: Condvar,
    max_short: usize,
}

#[derive(Default)]
struct TakenCompilePlaces {
    short: usize,
    long: usize,
}

impl TakenCompilePlaces {
    fn count(&mut self, length: Length) -> &mut usize {
        match length {
            Length::Short => &mut self.short,
            Length::Long => &mut self.long,
        }
    }
}

impl CompilePlaces {
    /// Returns places for `max_short` short compiles at once.
    pub(super) fn new(max_short: usize) -> Self {
        Self {
            taken: Mutex::default(),
            freed: Condvar::new(),
            max_short,
        }
    }

    fn max(&self, length: Length) -> usize {
        match length {
            Length::Short => self.max_short,
            Length::Long => MAX_LONG,
        }
    }

    /// Waits until there is a place.
    pub(super) fn take(&self, length: Length) -> CompilePlace<'_> {
        let is_full = |taken: &mut TakenCompilePlaces| *taken.count(length) >= self.max(length);
        let mut taken = self.taken.lock();
        self.freed.wait_while(&mut taken, is_full);
        *taken.count(length) += 1;
        CompilePlace {
            places: self,
            length,
        }
    }
}

/// A taken place, held while a process compiles.
pub(super) struct CompilePlace<'p> {
    places: &'p CompilePlaces,
    length: Length,
}

impl CompilePlace<'_> {
    /// Checks whether it is a place for short compiles.
    pub(super) fn is_short(&self) -> bool {
        self.length == Length::Short
    }

    /// Exchanges this place for one for long compiles, if one is free. False where none is.
    pub(super) fn leave_for_long(&mut self) -> bool {
        let mut taken = self.places.taken.lock();
        if taken.long >= MAX_LONG {
            return false;
        }
        *taken.count(self.length) -= 1;
        taken.long += 1;
        self.length = Length::Long;
        self.places.freed.notify_all();
        true
    }
}

impl Drop for CompilePlace<'_> {
    fn drop(&mut self) {
        *self.places.taken.lock().count(self.length) -= 1;
        self.places.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_takes_long_leaves_its_place_and_few_do() {
        let places = CompilePlaces::new(1);
        let mut first = places.take(Length::Short);
        assert!(first.leave_for_long());
        let mut second = places.take(Length::Short);
        assert!(!second.leave_for_long() && second.is_short());
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            for length in [Length::Short, Length::Long] {
                let (sender, places) = (sender.clone(), &places);
                scope.spawn(move || {
                    let _place = places.take(length);
                    sender.send(length).unwrap();
                });
            }
            let soon = Duration::from_millis(100);
            assert!(receiver.recv_timeout(soon).is_err());
            drop(second);
            assert_eq!(receiver.recv().unwrap(), Length::Short);
            assert!(receiver.recv_timeout(soon).is_err());
            drop(first);
            assert_eq!(receiver.recv().unwrap(), Length::Long);
        });
    }
}
