//! Search for texts that takes the same time whatever they are (that of Rabin and Karp): whoever has
//! a host repeat guesses of a secret could tell by the time how much of a guess is right.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::masker::Mask;
use super::pattern::{Pattern, TextFingerprint};

/// Texts of one length that are looked for.
pub(super) struct TextsOfLength {
    length: usize,
    /// Bytes without a separator behind which they are looked for: the length, rounded down to a power
    /// of two, as how long it takes tells it.
    least_run: usize,
    weight_before: TextFingerprint,
    fingerprints: Vec<TextFingerprint>,
}

/// Search for texts in bytes that come one by one.
pub(super) struct TextSearch {
    /// Fingerprint of all that was read since the last separator.
    read: TextFingerprint,
    /// Fingerprints up to each of the last places before.
    before: VecDeque<TextFingerprint>,
    /// Number of bytes that were read.
    place: u64,
    /// For each length, the place behind the last text of it that was found.
    found_to: Vec<u64>,
}

impl TextsOfLength {
    /// Sorts texts by their lengths.
    pub(super) fn sorted(patterns: &[Arc<Pattern>]) -> Vec<Self> {
        let mut sorted: BTreeMap<usize, Self> = BTreeMap::new();
        for pattern in patterns {
            let of_length = sorted.entry(pattern.len()).or_insert_with(|| Self {
                length: pattern.len(),
                least_run: pattern
                    .len()
                    .checked_ilog2()
                    .map_or(0, |rounded| 1 << rounded),
                weight_before: pattern.weight_before(),
                fingerprints: Vec::new(),
            });
            of_length.fingerprints.push(pattern.fingerprint());
        }
        sorted.into_values().collect()
    }

    /// Whether a fingerprint is that of one of them. All are compared, whichever it is.
    fn has(&self, fingerprint: TextFingerprint) -> bool {
        let all = self.fingerprints.iter();
        all.fold(false, |has, one| has | (*one == fingerprint))
    }
}

impl TextSearch {
    pub(super) fn new(mask: &Mask) -> Self {
        Self {
            read: TextFingerprint::default(),
            before: VecDeque::new(),
            place: 0,
            found_to: vec![0; mask.by_length().len()],
        }
    }

    /// Reads a byte. Returns how many of the last bytes are the longest text that ends in it, but for
    /// those that were found as one of that length before: 0 where none ends there.
    pub(super) fn read(&mut self, mask: &Mask, byte: u8) -> usize {
        self.place += 1;
        if mask.tail().ends_at(byte) {
            self.read = TextFingerprint::default();
            self.before.clear();
            return 0;
        }
        let texts = mask.by_length();
        let longest = texts.last().map_or(0, |of_length| of_length.length);
        self.before.push_back(self.read);
        if self.before.len() > longest {
            self.before.pop_front();
        }
        self.read = self.read.with(byte);
        let run = self.before.len();
        let mut found = None;
        for (of_length, found_to) in texts.iter().zip(&mut self.found_to) {
            if of_length.least_run > run {
                break;
            }
            // Of fewer bytes no text has the fingerprint, whatever is taken to be before them.
            let begin = run.checked_sub(of_length.length);
            let before = begin.and_then(|begin| self.before.get(begin));
            let before = before.copied().unwrap_or_default();
            if of_length.has(self.read.without(before, of_length.weight_before)) {
                found = Some((of_length.length, found_to));
            }
        }
        let Some((length, found_to)) = found else {
            return 0;
        };
        let since = self.place - std::mem::replace(found_to, self.place);
        usize::try_from(since).unwrap_or(usize::MAX).min(length)
    }
}
