//! Reading bytes as if they were strings of JSON, in which each letter may be written in several ways.

use std::collections::VecDeque;
use std::ops::Range;

use super::kept_tail::KeptTail;
use super::masker::Mask;
use super::text_search::TextSearch;

/// Search for texts in bytes that come in pieces, read as strings of JSON.
pub(super) struct JsonReading {
    /// Search in what is meant.
    search: TextSearch,
    /// Places in all that was read where each of the last ones begins, as far as these are kept back;
    /// of a letter of several bytes, all but the first begin behind it.
    begins: VecDeque<u64>,
    /// Bytes that were read, but for an escape that is not whole yet.
    read: u64,
    tail: KeptTail,
    /// Bytes of an escape that is not whole yet.
    escape: Vec<u8>,
}

/// Meaning of an escape, as far as its bytes are there.
enum JsonEscape {
    /// More bytes decide.
    Begun,
    /// It is none, or one that stands for no letter.
    Nothing,
    Letter(char),
}

impl JsonReading {
    pub(super) fn new(mask: &Mask) -> Self {
        Self {
            search: TextSearch::new(mask),
            begins: VecDeque::new(),
            read: 0,
            tail: mask.tail(),
            escape: Vec::new(),
        }
    }

    /// Reads bytes that begin at a place, and returns the places of texts among all that were read.
    pub(super) fn read(&mut self, mask: &Mask, piece: &[u8], begin: usize) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut end = begin.saturating_sub(self.escape.len());
        for byte in piece {
            if self.escape.is_empty() && *byte != b'\\' {
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
        match meaning(&self.escape) {
            JsonEscape::Begun => {}
            JsonEscape::Letter(letter) => {
                let mut length = std::mem::take(&mut self.escape).len();
                for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                    self.take(mask, byte, std::mem::take(&mut length), end, found);
                }
            }
            JsonEscape::Nothing => {
                // It is what it is up to the next one.
                let escape = std::mem::take(&mut self.escape);
                for (place, byte) in escape.iter().enumerate() {
                    if place > 0 && *byte == b'\\' || !self.escape.is_empty() {
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

/// Returns what bytes are as an escape; the first one is a backslash.
fn meaning(escape: &[u8]) -> JsonEscape {
    let letter = match escape {
        [_] | [_, b'u'] => return JsonEscape::Begun,
        [_, b'u', digits @ ..] => return of_units(digits),
        [_, b'b'] => '\u{8}',
        [_, b'f'] => '\u{c}',
        [_, b'n'] => '\n',
        [_, b'r'] => '\r',
        [_, b't'] => '\t',
        [_, letter @ (b'"' | b'\\' | b'/' | b'\'')] => char::from(*letter),
        _ => return JsonEscape::Nothing,
    };
    JsonEscape::Letter(letter)
}

/// Returns what the digits behind `\u` are: those of a letter, or of two surrogates.
fn of_units(digits: &[u8]) -> JsonEscape {
    let (first, rest) = digits.split_at(digits.len().min(4));
    let Some(high) = unit(first) else {
        return JsonEscape::Nothing;
    };
    if first.len() < 4 {
        return JsonEscape::Begun;
    }
    if let Some(letter) = char::from_u32(high) {
        return JsonEscape::Letter(letter);
    }
    let low = match rest {
        [] | [b'\\'] | [b'\\', b'u'] if high < 0xdc00 => return JsonEscape::Begun,
        [b'\\', b'u', low @ ..] if high < 0xdc00 => low,
        _ => return JsonEscape::Nothing,
    };
    let Some(second) = unit(low) else {
        return JsonEscape::Nothing;
    };
    if low.len() < 4 {
        return JsonEscape::Begun;
    }
    let units = [high, second].map(|unit| u16::try_from(unit).unwrap_or_default());
    let mut letters = char::decode_utf16(units);
    letters
        .next()
        .and_then(Result::ok)
        .map_or(JsonEscape::Nothing, JsonEscape::Letter)
}

/// Returns the number of hexadecimal digits; none where one is none.
fn unit(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |unit, digit| {
        Some(unit << 4 | char::from(*digit).to_digit(16)?)
    })
}

/// Returns the most bytes that are kept back where so many are of what they mean.
#[cfg(test)]
pub(super) fn most_kept(most: usize) -> usize {
    // Each byte as an escape of six, and two escapes that have begun.
    most * 6 + 12
}
