//! The mark of a server's words, and words that look like one.

use std::borrow::Cow;

use dormouse_text::visible::{visible_line, visible_prose};

use super::rendered::{self, has_markup};

mod characters;
mod mark_rest;

use characters::{is_bracket, is_closing, is_of_right_to_left};
use mark_rest::MarkRest;

/// Start of the mark on a server's words.
const MARK: &str = "[server `";

/// Most times that a text is read once more after something was replaced in it, before all of its
/// brackets are.
const MAX_ROUNDS: usize = 4;

/// Most blank lines that are left between two others.
const MAX_BLANK_LINES: usize = 2;

/// Marks a text that a person is shown as the words of a server.
#[must_use]
pub fn message(server: &str, text: &str) -> String {
    format!("{MARK}{}`] {}", visible_line(server), shown(text))
}

/// Returns a server's words as a person is shown them: nothing is hidden in them, nothing looks
/// like a mark, and no part of them is far away from the others.
pub(super) fn shown(text: &str) -> String {
    let text = visible_prose(text);
    let text = closed_up(&text);
    unmarked(&text).into_owned()
}

/// Removes blank lines, where there are more in a row than a reader would pass over.
fn closed_up(text: &str) -> Cow<'_, str> {
    if !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    let mut blank = 0;
    // Lines of nothing but spaces are blank, too.
    let lines = text.split('\n').filter(|line| {
        blank = match line.trim().is_empty() {
            true => blank + 1,
            false => 0,
        };
        blank <= MAX_BLANK_LINES
    });
    let lines: Vec<&str> = lines.collect();
    Cow::Owned(lines.join("\n"))
}

/// Replaces the brackets of what looks like the mark of a server's words, as it is written and as it
/// looks where Markdown and HTML are rendered.
pub(super) fn unmarked(text: &str) -> Cow<'_, str> {
    // Nothing else is shown as a bracket.
    if !text.contains(|c| c == '&' || is_bracket(c) || is_closing(c)) {
        return Cow::Borrowed(text);
    }
    let mut text = rendered::without_hidden_references(text);
    for _ in 0..MAX_ROUNDS {
        match once_unmarked(&text) {
            Cow::Borrowed(_) => return text,
            // What stands there now may be a link, and what it hides no longer there.
            Cow::Owned(unmarked) => text = Cow::Owned(unmarked),
        }
    }
    Cow::Owned(without_any_brackets(&text))
}

/// Replaces all brackets of a text.
fn without_any_brackets(text: &str) -> String {
    let shown = rendered::with_references(text);
    let shown = shown.filter(|(.., c)| is_bracket(*c) || is_closing(*c));
    let brackets: Vec<_> = shown.map(|(at, length, _)| (at, length)).collect();
    replaced(text, &brackets)
}

/// Replaces the brackets of marks that are found in a text as it is.
fn once_unmarked(text: &str) -> Cow<'_, str> {
    let written = text.char_indices().map(|(at, c)| (at, c.len_utf8(), c));
    let as_written = without_brackets(text, written.clone().rev(), MarkRest::default());
    // In a line from right to left, a mark is the other way round.
    if matches!(as_written, Cow::Borrowed(_)) && text.contains(is_of_right_to_left) {
        let turned = without_brackets(text, written, MarkRest::turned());
        if let Cow::Owned(_) = turned {
            return turned;
        }
    }
    if !has_markup(&as_written) {
        return as_written;
    }
    // Tags may hide what stands in a mark, show it in another order, or look like its quotes.
    if rendered::has_tags(&as_written) {
        let shown = rendered::with_references(&as_written).filter(|(.., c)| is_bracket(*c));
        let brackets: Vec<_> = shown.map(|(at, length, _)| (at, length)).collect();
        return match brackets.is_empty() {
            true => as_written,
            false => Cow::Owned(replaced(&as_written, &brackets)),
        };
    }
    let rendered: Vec<_> = rendered::characters(&as_written).collect();
    let rest = match rendered::has_links(&as_written) {
        true => MarkRest::among_links(),
        false => MarkRest::default(),
    };
    match without_brackets(&as_written, rendered.into_iter().rev(), rest) {
        Cow::Borrowed(_) => as_written,
        Cow::Owned(unmarked) => Cow::Owned(unmarked),
    }
}

/// Replaces the brackets of marks in a text with these characters, of which the last one comes
/// first, each with its place and its length in bytes.
fn without_brackets(
    text: &str,
    characters: impl Iterator<Item = (usize, usize, char)>,
    mut rest: MarkRest,
) -> Cow<'_, str> {
    let mut forged = Vec::new();
    for (at, length, c) in characters {
        if rest.is_of_a_mark() && rest.is_bracket(c) {
            forged.push((at, length));
        }
        rest.begin_with(c);
    }
    if forged.is_empty() {
        return Cow::Borrowed(text);
    }
    forged.sort_unstable();
    Cow::Owned(replaced(text, &forged))
}

/// Replaces brackets in a text, each by its place and its length in bytes.
fn replaced(text: &str, brackets: &[(usize, usize)]) -> String {
    let mut unmarked = String::with_capacity(text.len());
    let mut from = 0;
    for (at, length) in brackets {
        unmarked.push_str(text.get(from..*at).unwrap_or_default());
        unmarked.push('(');
        from = at + length;
    }
    unmarked.push_str(text.get(from..).unwrap_or_default());
    unmarked
}

#[cfg(test)]
mod tests;
