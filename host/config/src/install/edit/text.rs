//! Putting text into a text, and taking text out, with every other byte left as it
//! is.

use std::ops::Range;

/// Pieces to be put in place of parts of a text.
#[derive(Debug, Default)]
pub(super) struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    /// Puts `with` in place of what is there.
    pub(super) fn replace(&mut self, range: Range<usize>, with: impl Into<String>) {
        self.0.push((range, with.into()));
    }

    /// Puts a piece in at a place, behind other pieces that were put in there.
    pub(super) fn insert(&mut self, at: usize, piece: impl Into<String>) {
        self.replace(at..at, piece);
    }

    /// The text with all of it done.
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

/// How a text ends its lines: as its first line does.
pub(super) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(end) if text.get(..end).is_some_and(|line| line.ends_with('\r')) => "\r\n",
        _ => "\n",
    }
}

/// Where the line begins that a byte is in.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rfind('\n').map_or(0, |end| end + 1)
}

/// Where the next line begins after a byte, or the end of the text.
pub(super) fn next_line(text: &str, at: usize) -> usize {
    let after = text.get(at..).unwrap_or_default();
    after.find('\n').map_or(text.len(), |end| at + end + 1)
}

/// The blanks before a byte, where there is nothing else before it in its line.
pub(super) fn indent(text: &str, at: usize) -> Option<&str> {
    let before = text.get(line_start(text, at)..at)?;
    before
        .trim_matches([' ', '\t'])
        .is_empty()
        .then_some(before)
}

/// Where the blanks end that begin at a byte.
pub(super) fn skip_blanks(text: &str, at: usize) -> usize {
    let after = text.get(at..).unwrap_or_default();
    at + after.len() - after.trim_start_matches([' ', '\t']).len()
}

/// A text as it has to end before another line can be added to it: with the end of
/// a line, unless it is empty.
pub(super) fn line_end_missing(text: &str) -> bool {
    !text.is_empty() && !text.ends_with('\n')
}
