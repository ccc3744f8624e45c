//! Lines and columns of a text, for people who are told of a place in it.

/// Where the lines of a text begin.
#[derive(Debug, Clone)]
pub(super) struct Lines(Vec<usize>);

impl Lines {
    /// Those of a text.
    pub(super) fn of(text: &str) -> Self {
        let ends = text.match_indices('\n').map(|(end, _)| end + 1);
        Self(std::iter::once(0).chain(ends).collect())
    }

    /// Line and column (in characters) of a byte of that same text, counted from 1.
    pub(super) fn place(&self, text: &str, byte: usize) -> (usize, usize) {
        // A byte lies in the last line that does not begin behind it.
        let line = self.line(byte);
        let begin = line.checked_sub(1).and_then(|line| self.0.get(line));
        let before = begin.and_then(|begin| text.get(*begin..byte));
        let column = before.map_or(0, |before| before.chars().count()) + 1;
        (line, column)
    }

    /// The line of a byte alone, which takes no look at the text.
    pub(super) fn line(&self, byte: usize) -> usize {
        self.0.partition_point(|begin| *begin <= byte)
    }
}
