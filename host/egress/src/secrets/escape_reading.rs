//! Reading bytes as a notation has them in which each letter may be written in several ways.

use std::collections::VecDeque;
use std::ops::Range;

use super::kept_tail::KeptTail;
use super::masker::Mask;
use super::notation::{Escape, Notation};
use super::text_search::TextSearch;

/// Search for texts in bytes that come in pieces, read with the escapes of one notation.
pub(super) struct EscapeReading {
    /// Search in what is meant.
    search: TextSearch,
    /// Places in all that was read where each of the last ones begins, as far as these are kept back;
    /// of a letter of several bytes, all but the first begin behind it.
    begins: VecDeque<u64>,
    /// Bytes that were read, but for an escape that is not whole yet.
    read: u64,
    tail: KeptTail,
    notation: Notation,
    /// Bytes of an escape that is not whole yet.
    escape: Vec<u8>,
    /// Whether an escape has come since the last separator. Without one, what is meant is what is
    /// written, where texts are looked for anyway.
    has_escapes: bool,
}

impl EscapeReading {
    pub(super) fn new(mask: &Mask, notation: Notation) -> Self {
        Self {
            search: TextSearch::new(mask),
            begins: VecDeque::new(),
            read: 0,
            tail: mask.tail(),
            notation,
            escape: Vec::new(),
            has_escapes: false,
        }
    }

    /// Reads bytes from a place on, of which those before it that are kept back were read. Returns the
    /// places of texts among all of them.
    pub(super) fn read(
        &mut self,
        mask: &Mask,
        bytes: &VecDeque<u8>,
        begin: usize,
    ) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut end = begin.saturating_sub(self.escape.len());
        for (place, byte) in (begin..).zip(bytes.range(begin..)) {
            if !self.has_escapes {
                if *byte != self.notation.begin() {
                    continue;
                }
                self.has_escapes = true;
                let before = bytes.range(..place).rev().take(self.tail.most());
                let run = before.take_while(|byte| !self.tail.ends_at(**byte)).count();
                end = place.saturating_sub(run);
                for byte in bytes.range(end..place) {
                    self.take(mask, *byte, 1, &mut end, &mut found);
                }
            }
            if self.escape.is_empty() && *byte != self.notation.begin() {
                self.take(mask, *byte, 1, &mut end, &mut found);
                continue;
            }
            self.escape.push(*byte);
            self.take_escape(mask, &mut end, &mut found);
        }
        found
    }

    /// Takes what has become of an escape with its last byte.
    fn take_escape(&mut self, mask: &Mask, end: &mut usize, found: &mut Vec<Range<usize>>) {
        match self.notation.meaning(&self.escape) {
            Escape::Begun => {}
            Escape::Letter(letter) => {
                let mut length = std::mem::take(&mut self.escape).len();
                for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                    self.take(mask, byte, std::mem::take(&mut length), end, found);
                }
            }
            Escape::Byte(byte) => {
                let length = std::mem::take(&mut self.escape).len();
                self.take(mask, byte, length, end, found);
            }
            Escape::Nothing => {
                // It is what it is up to the next one.
                let escape = std::mem::take(&mut self.escape);
                for (place, byte) in escape.iter().enumerate() {
                    if place > 0 && *byte == self.notation.begin() || !self.escape.is_empty() {
                        self.escape.push(*byte);
                        self.take_escape(mask, end, found);
                    } else {
                        self.take(mask, *byte, 1, end, found);
                    }
                }
            }
        }
    }

    /// Takes a byte of what is meant, and the number of bytes in which it was written.
    fn take(
        &mut self,
        mask: &Mask,
        byte: u8,
        length: usize,
        end: &mut usize,
        found: &mut Vec<Range<usize>>,
    ) {
        *end += length;
        self.begins.push_back(self.read);
        self.read += length as u64;
        if self.begins.len() > self.tail.most() {
            self.begins.pop_front();
        }
        let text = self.search.read(mask, byte);
        if text > 0 {
            found.push(end.saturating_sub(self.written(text))..*end);
        }
        if self.tail.ends_at(byte) {
            self.begins.clear();
            // One that is written as an escape ends a text to this reading alone.
            self.has_escapes &= length > 1;
        }
    }

    /// Returns the number of bytes in which so many of the last ones were written.
    fn written(&self, bytes: usize) -> usize {
        let begin = self.begins.len().checked_sub(bytes);
        let begin = begin.and_then(|place| self.begins.get(place));
        let begin = begin.copied().unwrap_or(self.read);
        usize::try_from(self.read - begin).unwrap_or(usize::MAX)
    }

    /// Returns the number of the last bytes that are kept back, whatever the texts are.
    pub(super) fn wanted(&self) -> usize {
        let begin = self.begins.front().copied().unwrap_or(self.read);
        let run = usize::try_from(self.read - begin).unwrap_or(usize::MAX);
        run.saturating_add(self.escape.len())
    }
}

/// Returns the most bytes that are kept back where so many are of what they mean.
#[cfg(test)]
pub(super) fn most_kept(most: usize) -> usize {
    // Each byte as an escape, and two escapes that have begun.
    (most + 2) * super::notation::MAX_ESCAPE
}
