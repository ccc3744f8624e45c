//! Hiding known texts in bytes that come in pieces, in time that grows with their number.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};

use super::escape_reading::EscapeReading;
use super::kept_tail::KeptTail;
use super::notation::Notation;
use super::pattern::Pattern;
use super::text_search::{TextSearch, TextsOfLength};

/// Byte in place of each byte of a secret.
const HIDDEN: u8 = b'*';

/// Value in place of one that is none without its secret, which cannot be.
const HIDDEN_HEADER: HeaderValue = HeaderValue::from_static("*");

/// Texts that are hidden in a response.
#[derive(Clone)]
pub(crate) struct Mask(Arc<MaskedTexts>);

struct MaskedTexts {
    patterns: Vec<Arc<Pattern>>,
    by_length: Vec<TextsOfLength>,
    tail: KeptTail,
}

/// Hides texts in bytes, and keeps the last ones back, as a text may begin there.
pub(super) struct Masker {
    mask: Mask,
    search: TextSearch,
    /// The same bytes, read with escapes.
    escaped: [EscapeReading; 3],
    /// Number of the last bytes that are kept as they are written.
    run: usize,
    /// Bytes that are kept back, without what is hidden.
    kept: VecDeque<u8>,
    /// The same bytes as they have come.
    as_read: VecDeque<u8>,
}

impl Default for Mask {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Mask {
    /// Returns the mask of these texts.
    pub(super) fn new(patterns: Vec<Arc<Pattern>>) -> Self {
        Self(Arc::new(MaskedTexts {
            by_length: TextsOfLength::sorted(&patterns),
            tail: KeptTail::of(&patterns),
            patterns,
        }))
    }

    /// Returns the texts, by their lengths.
    pub(super) fn by_length(&self) -> &[TextsOfLength] {
        &self.0.by_length
    }

    /// Returns the rule of what is kept back.
    pub(super) fn tail(&self) -> KeptTail {
        self.0.tail
    }

    /// Whether nothing is hidden.
    pub(super) fn is_empty(&self) -> bool {
        self.0.patterns.is_empty()
    }

    /// Whether all texts are of ASCII alone.
    pub(crate) fn is_ascii(&self) -> bool {
        let mut patterns = self.0.patterns.iter();
        patterns.all(|pattern| pattern.bytes().is_ascii())
    }

    /// Hides the texts in the values of headers, and leaves out headers whose names have one.
    pub(crate) fn hide_in_headers(&self, headers: &mut HeaderMap) {
        if self.is_empty() {
            return;
        }
        let in_names = self.in_lower_case();
        let names = headers.keys();
        let hidden: Vec<_> = names
            .filter(|name| in_names.hidden_in(name.as_str().as_bytes()).is_some())
            .cloned()
            .collect();
        for name in hidden {
            headers.remove(name);
        }
        for value in headers.values_mut() {
            if let Some(hidden) = self.hidden_in(value.as_bytes()) {
                *value = HeaderValue::from_bytes(&hidden).unwrap_or(HIDDEN_HEADER);
            }
        }
    }

    /// Returns the mask of the texts as a header's name would have them.
    fn in_lower_case(&self) -> Self {
        let texts = self.0.patterns.iter().map(|pattern| pattern.bytes());
        let lower = texts.map(<[u8]>::to_ascii_lowercase);
        Self::new(lower.filter_map(|text| Pattern::new(&text)).collect())
    }

    /// Returns bytes without the texts; none where no text is in them.
    pub(super) fn hidden_in(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut masker = Masker::new(self.clone());
        let mut shown = masker.push(bytes).to_vec();
        shown.extend(masker.finish());
        (shown != bytes).then_some(shown)
    }
}

impl Masker {
    pub(super) fn new(mask: Mask) -> Self {
        Self {
            search: TextSearch::new(&mask),
            escaped: readings(&mask),
            mask,
            run: 0,
            kept: VecDeque::new(),
            as_read: VecDeque::new(),
        }
    }

    /// Hides these texts from now on. What was shown is shown, and a new text that has begun there is
    /// not found; what was kept back is read anew.
    pub(super) fn replace(&mut self, mask: Mask) {
        self.search = TextSearch::new(&mask);
        self.escaped = readings(&mask);
        self.run = 0;
        self.mask = mask;
        let kept = self.as_read.make_contiguous().to_vec();
        self.read(&kept, 0);
    }

    /// Takes the next bytes, and returns those that can be shown. How many these are, no text decides,
    /// neither by where one may have begun nor by where one was hidden.
    pub(super) fn push(&mut self, piece: &[u8]) -> Bytes {
        let before = self.kept.len();
        self.kept.extend(piece);
        self.as_read.extend(piece);
        self.read(piece, before);
        let escaped = self.escaped.iter().map(EscapeReading::wanted);
        let wanted = escaped.fold(self.run, usize::max);
        let shown = self.kept.len().saturating_sub(wanted);
        self.as_read.drain(..shown);
        self.kept.drain(..shown).collect()
    }

    /// Reads bytes that begin at that place of those that are kept, and hides the texts there, and
    /// before them, also with escapes.
    fn read(&mut self, piece: &[u8], begin: usize) {
        let mut end = begin;
        for byte in piece {
            end += 1;
            let found = self.search.read(&self.mask, *byte);
            if found > 0 {
                hide(&mut self.kept, end.saturating_sub(found)..end);
            }
        }
        for reading in &mut self.escaped {
            for place in reading.read(&self.mask, &self.as_read, begin) {
                hide(&mut self.kept, place);
            }
        }
        self.run = self.mask.tail().after(self.run, piece);
    }

    /// Returns the bytes that were kept back, as no more come.
    pub(super) fn finish(&mut self) -> Bytes {
        let kept = std::mem::take(&mut self.kept);
        *self = Self::new(Mask::default());
        kept.into_iter().collect()
    }

    /// Returns the number of bytes that are kept back.
    pub(super) fn kept_bytes(&self) -> usize {
        self.kept.len()
    }
}

fn readings(mask: &Mask) -> [EscapeReading; 3] {
    Notation::ALL.map(|notation| EscapeReading::new(mask, notation))
}

fn hide(bytes: &mut VecDeque<u8>, range: Range<usize>) {
    let range = range.start..range.end.min(bytes.len());
    bytes.range_mut(range).for_each(|byte| *byte = HIDDEN);
}

#[cfg(test)]
mod tests;
