//! Sets of positions in a text.

/// Bits of a word.
const WORD_BITS: usize = 64;

/// Positions in a text, its end among them: one bit for each.
#[derive(Debug)]
pub(super) struct Positions(Vec<u64>);

impl Positions {
    /// Returns no position of a text of so many bytes.
    pub(super) fn none(bytes: usize) -> Self {
        Self(vec![0; bytes / WORD_BITS + 1])
    }

    /// Returns one position of a text of so many bytes.
    pub(super) fn one(bytes: usize, position: usize) -> Self {
        let mut positions = Self::none(bytes);
        positions.add(position);
        positions
    }

    /// Adds a position. Positions behind the end of the text are ignored.
    pub(super) fn add(&mut self, position: usize) {
        if let Some(word) = self.0.get_mut(position / WORD_BITS) {
            *word |= 1 << (position % WORD_BITS);
        }
    }

    /// Checks whether a position is one of these.
    pub(super) fn has(&self, position: usize) -> bool {
        let word = self.0.get(position / WORD_BITS);
        word.is_some_and(|word| word >> (position % WORD_BITS) & 1 == 1)
    }
}
