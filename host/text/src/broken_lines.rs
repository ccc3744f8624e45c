//! Lines that are longer than what shows them: broken here, so that no part of a stranger's line
//! looks like a line of its own.

use std::borrow::Cow;

/// Mark in front of what goes on from the line before.
const CONTINUED: &str = "↪ ";

/// Columns of that mark, each character outside of ASCII counted as two.
const CONTINUED_COLUMNS: usize = 3;

/// Fewest columns that lines are broken to.
const MIN_COLUMNS: usize = 20;

/// Most bytes of a word that goes on to the next line whole.
const MAX_WORD_BYTES: usize = 24;

/// Returns a text without lines of more columns than that: what is longer goes on in the next line,
/// behind a mark that no other line begins with.
#[must_use]
pub fn broken_lines(text: &str, columns: usize) -> Cow<'_, str> {
    let columns = columns.max(MIN_COLUMNS);
    if text.lines().all(|line| width(line) <= columns) {
        return Cow::Borrowed(text);
    }
    let mut broken = String::with_capacity(text.len() + text.len() / columns * CONTINUED.len());
    for line in text.split_inclusive('\n') {
        let (mut begin, mut used) = (0, 0);
        for (at, character) in line.char_indices() {
            let width_here = width_of(character);
            if used + width_here > columns {
                let row = line.get(begin..at).unwrap_or_default();
                let (row, rest) = row.split_at(end_of_row(row));
                broken.push_str(row);
                broken.push('\n');
                broken.push_str(CONTINUED);
                begin = at - rest.len();
                used = CONTINUED_COLUMNS + width(rest);
            }
            used += width_here;
        }
        broken.push_str(line.get(begin..).unwrap_or_default());
    }
    Cow::Owned(broken)
}

/// Returns the end of a row that has to be broken: behind its last space, where that is near.
fn end_of_row(row: &str) -> usize {
    let near = row.ceil_char_boundary(row.len().saturating_sub(MAX_WORD_BYTES));
    let space = row.get(near..).and_then(|end| end.rfind(' '));
    match space.map(|space| near + space + 1) {
        // What is left of it would be its indent alone.
        Some(end) if !row.get(..end).unwrap_or_default().trim().is_empty() => end,
        _ => row.len(),
    }
}

fn width(line: &str) -> usize {
    line.chars().map(width_of).sum()
}

/// Returns the most columns that a character takes: many outside of ASCII take two.
fn width_of(character: char) -> usize {
    match character {
        '\n' => 0,
        _ if character.is_ascii() => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_goes_on_behind_a_mark() {
        let long = "x".repeat(20);
        for (text, expected) in [
            (String::new(), String::new()),
            (format!("{long}\nab\n"), format!("{long}\nab\n")),
            (format!("{long}ab\ncd"), format!("{long}\n↪ ab\ncd")),
            (format!("{long}  - was\n"), format!("{long}\n↪   - was\n")),
            (
                "  a longer word is here".to_owned(),
                "  a longer word is \n↪ here".to_owned(),
            ),
            (format!("  {long}"), format!("  {}\n↪ xx", "x".repeat(18))),
            ("é".repeat(11), format!("{}\n↪ é", "é".repeat(10))),
            (
                "y".repeat(40),
                format!("{}\n↪ {}\n↪ yyy", "y".repeat(20), "y".repeat(17)),
            ),
        ] {
            assert_eq!(broken_lines(&text, 20), expected);
            // There is no narrower place to show it in.
            assert_eq!(broken_lines(&text, 1), expected);
        }
    }

    #[test]
    fn lines_are_broken_in_linear_time() {
        let text = |size: usize| "ab \u{e9}".repeat(size * 100);
        dormouse_tests::growth::is_linear("a line", 300, text, |text: &String| {
            std::hint::black_box(broken_lines(text, 80));
        });
    }
}
