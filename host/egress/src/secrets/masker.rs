//! Hiding known texts in bytes that come in pieces, in time that grows with their number.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};

use super::json_reading::JsonReading;
use super::kept_tail::{KeptTail, Separators};

/// Byte in place of each byte of a secret.
const HIDDEN: u8 = b'*';

/// Value in place of one that is none without its secret, which cannot be.
const HIDDEN_HEADER: HeaderValue = HeaderValue::from_static("*");

/// Text that is looked for (Knuth, Morris and Pratt).
pub(super) struct Pattern {
    bytes: Vec<u8>,
    /// For each beginning of the text, the length of the longest shorter beginning that it ends in.
    borders: Vec<usize>,
    separators: Separators,
}

/// Texts that are hidden in a response.
#[derive(Clone, Default)]
pub(crate) struct Mask(Arc<[Arc<Pattern>]>);

/// Hides texts in bytes, and keeps the last ones back, as a text may begin there.
pub(super) struct Masker {
    mask: Mask,
    progress: Vec<TextMatchProgress>,
    /// The same bytes, read as strings of JSON.
    json: JsonReading,
    tail: KeptTail,
    /// Number of the last bytes that are kept as they are written.
    run: usize,
    kept: VecDeque<u8>,
}

/// Progress of a text at the end of the bytes that were read.
#[derive(Clone, Default)]
struct TextMatchProgress {
    /// Bytes of the text that the read ones end in.
    matched: usize,
    /// Bytes since its last place, which need not be hidden once more.
    since: usize,
}

impl Pattern {
    /// Prepares the search for a text; none for an empty one.
    pub(super) fn new(text: &str) -> Option<Arc<Self>> {
        let mut pattern = Self {
            bytes: text.as_bytes().to_vec(),
            borders: vec![0],
            separators: Separators::not_in(text),
        };
        for byte in text.bytes().skip(1) {
            let last = pattern.borders.last().copied().unwrap_or_default();
            let border = pattern.advanced(last, byte);
            pattern.borders.push(border);
        }
        (!text.is_empty()).then(|| Arc::new(pattern))
    }

    /// Returns the length of the text, in bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the separators that the text has not.
    pub(super) fn separators(&self) -> Separators {
        self.separators
    }

    /// Returns the length of the longest beginning of the text, shorter than that many bytes of it,
    /// that these end in.
    pub(super) fn border(&self, matched: usize) -> usize {
        let border = matched
            .checked_sub(1)
            .and_then(|last| self.borders.get(last));
        border.copied().unwrap_or_default()
    }

    /// Returns how many bytes of the text the read ones end in after one more.
    pub(super) fn advanced(&self, mut matched: usize, byte: u8) -> usize {
        while self.bytes.get(matched) != Some(&byte) {
            let Some(border) = matched
                .checked_sub(1)
                .and_then(|last| self.borders.get(last))
            else {
                return 0;
            };
            matched = *border;
        }
        matched + 1
    }

    fn is_whole(&self, matched: usize) -> bool {
        matched == self.bytes.len()
    }
}

impl Mask {
    /// Returns the mask of these texts.
    pub(super) fn new(patterns: Vec<Arc<Pattern>>) -> Self {
        Self(patterns.into())
    }

    /// Returns the texts.
    pub(super) fn patterns(&self) -> &[Arc<Pattern>] {
        &self.0
    }

    /// Whether nothing is hidden.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
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
        let texts = self.0.iter().map(|pattern| &pattern.bytes);
        let lower = texts.map(|bytes| String::from_utf8_lossy(bytes).to_ascii_lowercase());
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
        let tail = KeptTail::of(mask.patterns());
        Self {
            progress: vec![TextMatchProgress::default(); mask.0.len()],
            json: JsonReading::new(&mask, tail),
            tail,
            run: 0,
            mask,
            kept: VecDeque::new(),
        }
    }

    /// Hides these texts from now on. What was shown is shown, and a new text that has begun there is
    /// not found; what was kept back is read anew.
    pub(super) fn replace(&mut self, mask: Mask) {
        let old = self.mask.0.iter().zip(&self.progress);
        let old: Vec<_> = old
            .map(|(pattern, is)| (Arc::as_ptr(pattern), is.clone()))
            .collect();
        let kept = self.kept.make_contiguous().to_vec();
        self.progress.clear();
        for pattern in mask.0.iter() {
            let known = old.iter().find(|(one, _)| *one == Arc::as_ptr(pattern));
            let mut progress = known.map_or_else(TextMatchProgress::default, |(_, is)| is.clone());
            if known.is_none() {
                progress.read(pattern, &kept, 0, &mut self.kept);
            }
            self.progress.push(progress);
        }
        self.tail = KeptTail::of(mask.patterns());
        self.run = self.tail.after(0, &kept);
        self.json = JsonReading::new(&mask, self.tail);
        self.mask = mask;
        self.hide_in_json(&kept, 0);
    }

    /// Takes the next bytes, and returns those that can be shown. How many these are, no text decides,
    /// neither by where one may have begun nor by where one was hidden.
    pub(super) fn push(&mut self, piece: &[u8]) -> Bytes {
        let before = self.kept.len();
        self.kept.extend(piece);
        for (pattern, progress) in self.mask.0.iter().zip(&mut self.progress) {
            progress.read(pattern, piece, before, &mut self.kept);
        }
        self.hide_in_json(piece, before);
        self.run = self.tail.after(self.run, piece);
        let wanted = self.run.max(self.json.wanted());
        let shown = self.kept.len().saturating_sub(wanted);
        self.kept.drain(..shown).collect()
    }

    /// Hides the texts in bytes that begin at that place of those that are kept, and before them,
    /// wherever their letters are written as strings of JSON may have them.
    fn hide_in_json(&mut self, piece: &[u8], begin: usize) {
        for place in self.json.read(&self.mask, piece, begin) {
            hide(&mut self.kept, place);
        }
    }

    /// Returns the bytes that were kept back, as no more come.
    pub(super) fn finish(&mut self) -> Bytes {
        self.progress.clear();
        self.run = 0;
        self.json = JsonReading::new(&Mask::default(), self.tail);
        self.kept.drain(..).collect()
    }

    /// Returns the number of bytes that are kept back.
    pub(super) fn kept_bytes(&self) -> usize {
        self.kept.len()
    }
}

impl TextMatchProgress {
    /// Reads bytes, which begin at that place of those that are kept, and hides the text there.
    fn read(&mut self, pattern: &Pattern, piece: &[u8], begin: usize, kept: &mut VecDeque<u8>) {
        for (index, byte) in piece.iter().enumerate() {
            self.matched = pattern.advanced(self.matched, *byte);
            self.since = self.since.saturating_add(1);
            if pattern.is_whole(self.matched) {
                let end = begin + index + 1;
                let hidden = pattern.bytes.len().min(self.since);
                hide(kept, end.saturating_sub(hidden)..end);
                self.since = 0;
            }
        }
    }
}

fn hide(bytes: &mut VecDeque<u8>, range: Range<usize>) {
    let range = range.start..range.end.min(bytes.len());
    bytes.range_mut(range).for_each(|byte| *byte = HIDDEN);
}

#[cfg(test)]
mod tests;
