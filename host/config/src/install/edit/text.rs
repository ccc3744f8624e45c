//! Inserting and removing parts of a text, with every other byte left as it is.

use std::ops::Range;

/// Pieces to be put in place of parts of a text.
#[derive(Debug, Default)]
pub(super) struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    /// Replaces a range by `with`.
    pub(super) fn replace(&mut self, range: Range<usize>, with: impl Into<String>) {
        self.0.push((range, with.into()));
    }

    /// Inserts a piece at a place, behind other pieces that were inserted there.
    pub(super) fn insert(&mut self, at: usize, piece: impl Into<String>) {
        self.replace(at..at, piece);
    }

    /// Returns the text with all pieces put in.
    pub(super) fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let mut done = String::with_capacity(text.len() + 512);
        let mut at = 0;
        for (range, piece) in &self.0 {
            // Parts that overlap are only ever parts to be taken out.
            done.push_str(text.get(at..range.start).unwrap_or_default());
            done.push_str(piece);
            at = at.max(range.end);
        }
        done.push_str(text.get(at..).unwrap_or_default());
        done
    }
}

/// Returns the end of line that a text uses: that of its first line.
pub(super) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(end) if text.get(..end).is_some_and(|line| line.ends_with('\r')) => "\r\n",
        _ => "\n",
    }
}

/// Returns the beginning of the line that a byte is in.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rfind('\n').map_or(0, |end| end + 1)
}

/// Returns the beginning of the next line after a byte, or the end of the text.
pub(super) fn next_line(text: &str, at: usize) -> usize {
    let after = text.get(at..).unwrap_or_default();
    after.find('\n').map_or(text.len(), |end| at + end + 1)
}

/// Returns the blanks before a byte, where there is nothing else before it in its line.
pub(super) fn indent(text: &str, at: usize) -> Option<&str> {
    let before = text.get(line_start(text, at)..at)?;
    before
        .trim_matches([' ', '\t'])
        .is_empty()
        .then_some(before)
}

/// Returns the end of the blanks that begin at a byte.
pub(super) fn skip_blanks(text: &str, at: usize) -> usize {
    let after = text.get(at..).unwrap_or_default();
    at + after.len() - after.trim_start_matches([' ', '\t']).len()
}

/// Whether a text has to get the end of a line before another line can be added to it.
pub(super) fn line_end_missing(text: &str) -> bool {
    !text.is_empty() && !text.ends_with('\n')
}
