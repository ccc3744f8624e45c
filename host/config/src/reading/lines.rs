//! Lines and columns of a text, for people who are told of a place in it.

use std::sync::OnceLock;

/// Distance of the places up to which characters are counted in advance, in bytes: a whole file may
/// be one line with very many places in it.
const STEP: usize = 1024;

/// Beginnings of the lines of a text.
#[derive(Debug, Clone)]
pub(crate) struct LineBeginnings {
    begins: Vec<usize>,
    /// Numbers of the characters that begin before each multiple of `STEP` bytes.
    characters: OnceLock<Vec<usize>>,
}

impl LineBeginnings {
    /// Finds the lines of a text.
    pub(crate) fn of(text: &str) -> Self {
        let ends = text.match_indices('\n').map(|(end, _)| end + 1);
        Self {
            begins: std::iter::once(0).chain(ends).collect(),
            characters: OnceLock::new(),
        }
    }

    /// Returns the line and column (in characters) of a byte of that same text, counted from 1.
    pub(crate) fn place(&self, text: &str, byte: usize) -> (usize, usize) {
        // A byte lies in the last line that does not begin behind it.
        let line = self.line(byte);
        let begin = line.checked_sub(1).and_then(|line| self.begins.get(line));
        let before = begin.map_or(0, |begin| {
            let until = |byte| self.characters_until(text, byte);
            until(byte).saturating_sub(until(*begin))
        });
        (line, before + 1)
    }

    /// Returns the line of a byte alone, which takes no look at the text.
    pub(crate) fn line(&self, byte: usize) -> usize {
        self.begins.partition_point(|begin| *begin <= byte)
    }

    /// Counts the characters that begin before a byte.
    fn characters_until(&self, text: &str, byte: usize) -> usize {
        let begins = |bytes: &[u8]| {
            let first = bytes.iter().filter(|byte| **byte & 0xc0 != 0x80);
            first.count()
        };
        let sums = self.characters.get_or_init(|| {
            let chunks = text.as_bytes().chunks(STEP);
            let sums = chunks.scan(0, |sum, chunk| {
                *sum += begins(chunk);
                Some(*sum)
            });
            std::iter::once(0).chain(sums).collect()
        });
        let byte = byte.min(text.len());
        let step = byte / STEP;
        let rest = text.as_bytes().get(step * STEP..byte);
        sums.get(step).copied().unwrap_or(0) + rest.map_or(0, begins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_and_characters() {
        let long = format!("ä\n{}x", "é".repeat(3000));
        for (text, byte, place) in [
            ("", 0, (1, 1)),
            ("ab\ncd", 4, (2, 2)),
            ("äb\n", 2, (1, 2)),
            ("a\n", 2, (2, 1)),
            (&long, 3, (2, 1)),
            (&long, 3 + 6000, (2, 3001)),
        ] {
            assert_eq!(LineBeginnings::of(text).place(text, byte), place, "{byte}");
        }
    }

    #[test]
    fn many_places_of_one_line_take_linear_time() {
        let line = |letters: usize| "é".repeat(letters);
        dormouse_tests::growth::is_linear("places", 5_000, line, |text| {
            let lines = LineBeginnings::of(text);
            for byte in 0..text.len() {
                std::hint::black_box(lines.place(text, byte));
            }
        });
    }
}
