//! Known secrets, removed from the words of a server.

use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::HIDDEN;
use super::unescaped::{Unescaped, may_have_escapes};

mod builder;
mod json;
mod patterns;

use patterns::MAX_PIECE_BYTES;

pub use builder::{HiddenTextsBuilder, basic_credentials};

/// Most bytes of such a piece as it may be written, with each of its characters escaped.
pub const MAX_WRITTEN_PIECE_BYTES: usize = 6 * MAX_PIECE_BYTES;

/// Bytes of a text that are looked at together.
const WINDOW_BYTES: usize = 64 << 10;

/// Bytes behind a window in which a secret may end that begins in it, with escapes of escapes.
const OVERLAP_BYTES: usize = 8 << 10;

/// Secrets that a text must not have in it. Looking for them takes the same time, however many
/// there are: whoever runs a server decides how much it says.
#[derive(Debug)]
pub struct HiddenTexts {
    is_empty: bool,
    /// None where there is more to look for than can be, so that nothing is shown.
    automaton: Option<AhoCorasick>,
    /// Number of texts that are looked for as they are written. The others are Base64.
    written: usize,
}

/// A part of a text that is hidden.
struct HiddenPart {
    range: Range<usize>,
    is_base64: bool,
}

impl HiddenTexts {
    /// Whether all secrets are looked for. Otherwise nothing is shown at all.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.automaton.is_some()
    }

    /// Removes the secrets from a text.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        self.redact_beginning(text, text.len())
    }

    /// Returns the beginning of a text without the secrets, up to byte `end` or the end of the
    /// character there. A secret that goes on behind it is left out, too, where the text has
    /// [`MAX_WRITTEN_PIECE_BYTES`] more.
    #[must_use]
    pub fn redact_beginning(&self, text: &str, end: usize) -> String {
        self.without(text, 0..end, |_| true)
    }

    /// Returns the end of a text without the secrets, from byte `start` or the end of the character
    /// there. A secret that begins before it is left out, too, where the text has
    /// [`MAX_WRITTEN_PIECE_BYTES`] before it.
    #[must_use]
    pub fn redact_end(&self, text: &str, start: usize) -> String {
        self.without(text, start..text.len(), |_| true)
    }

    /// Returns a part of a text without those secrets for which `is_hidden` is true.
    fn without(&self, text: &str, part: Range<usize>, is_hidden: impl Fn(&str) -> bool) -> String {
        let start = text.ceil_char_boundary(part.start.min(text.len()));
        let end = text.ceil_char_boundary(part.end.min(text.len()));
        let part = text.get(start..end).unwrap_or_default();
        if self.is_empty || part.is_empty() {
            return part.to_owned();
        }
        let Some(automaton) = &self.automaton else {
            return HIDDEN.to_owned();
        };
        let mut shown = String::with_capacity(part.len());
        // Where the last hidden part ends, and the last one of all that were found: what is found
        // within Base64 is not walked through once more for each place.
        let mut hidden_until = None;
        let mut found_until = 0;
        let mut from = 0;
        while from < end {
            let next = text.ceil_char_boundary(from + WINDOW_BYTES);
            let window_end = text.ceil_char_boundary(next + OVERLAP_BYTES);
            let window = text.get(from..window_end).unwrap_or_default();
            for part in self.parts(automaton, window) {
                let mut range = from + part.range.start..from + part.range.end;
                if range.start >= next.min(end) {
                    break;
                }
                if range.end <= found_until
                    || !is_hidden(text.get(range.clone()).unwrap_or_default())
                {
                    continue;
                }
                if part.is_base64 {
                    range = whole_base64(text, range, found_until);
                }
                found_until = range.end.max(found_until);
                if range.end <= start {
                    continue;
                }
                let shown_until = hidden_until.unwrap_or(start);
                if range.start > shown_until || hidden_until.is_none() {
                    shown.push_str(text.get(shown_until..range.start).unwrap_or_default());
                    shown.push_str(HIDDEN);
                }
                hidden_until = Some(range.end.max(shown_until));
            }
            from = next;
        }
        shown.push_str(
            text.get(hidden_until.unwrap_or(start)..end)
                .unwrap_or_default(),
        );
        shown
    }

    /// Finds the parts of a text that are hidden, sorted by where they begin.
    fn parts(&self, automaton: &AhoCorasick, text: &str) -> Vec<HiddenPart> {
        let part = |range: Range<usize>, pattern: usize| HiddenPart {
            range: text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end),
            is_base64: pattern >= self.written,
        };
        let mut parts: Vec<_> = automaton
            .find_iter(text)
            .map(|found| part(found.range(), found.pattern().as_usize()))
            .collect();
        if may_have_escapes(text) {
            let unescaped = Unescaped::of(text);
            let found = automaton.find_iter(unescaped.bytes());
            parts.extend(found.map(|found| {
                let range = unescaped.part_of_text(&found.range());
                part(range, found.pattern().as_usize())
            }));
            parts.sort_by_key(|part| part.range.start);
        }
        parts
    }
}

/// Extends a part of a text to all of the Base64 around it, but to nothing before byte `from`: the
/// letters around a secret have bits of it, too.
fn whole_base64(text: &str, part: Range<usize>, from: usize) -> Range<usize> {
    let before = text.get(from..part.start).unwrap_or_default();
    let is_before = |letter: char| letter.is_ascii_alphanumeric() || letter == '+';
    let before = before.len() - before.trim_end_matches(is_before).len();
    let after = text.get(part.end..).unwrap_or_default();
    let is_after = |letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/' | '-' | '_' | '=')
    };
    let after = after.len() - after.trim_start_matches(is_after).len();
    part.start - before..part.end + after
}

#[cfg(test)]
mod tests;
