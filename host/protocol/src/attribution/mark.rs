//! The mark of a server's words, and words that look like one.

use std::borrow::Cow;

use dormouse_text::visible::{visible_line, visible_prose};

use super::rendered::{self, ANY_OR_NONE};

mod characters;
mod direction;
mod mark_rest;

use characters::{is_bracket, is_closing, parenthesis};
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
/// looks where Markdown, HTML and maths are rendered. All brackets are replaced where the order of
/// what is shown may be another than that of what is written.
pub(super) fn unmarked(text: &str) -> Cow<'_, str> {
    unmarked_unless(text, direction::may_be_turned)
}

/// Replaces the brackets of what looks like the mark of a server's words to a model, which reads all in
/// the order in which it is written. All other brackets mean something there.
pub(super) fn unmarked_for_model(text: &str) -> Cow<'_, str> {
    unmarked_unless(text, |_| false)
}

/// Does so for marks alone, unless any bracket may be a part of one.
fn unmarked_unless(text: &str, may_be_turned: impl Fn(&str) -> bool) -> Cow<'_, str> {
    // Nothing else is shown as a bracket.
    if !text.contains(|c| matches!(c, '&' | '\\') || is_bracket(c) || is_closing(c)) {
        return Cow::Borrowed(text);
    }
    let mut text = rendered::without_hidden_references(text);
    let rounds = match may_be_turned(&text) {
        true => 0,
        false => MAX_ROUNDS,
    };
    for _ in 0..rounds {
        match once_unmarked(&text) {
            None => return text,
            // What stands there now may be a link, and what it hides no longer there.
            Some(unmarked) => text = Cow::Owned(unmarked),
        }
    }
    match without_any_brackets(&text) {
        None => text,
        Some(unmarked) => Cow::Owned(unmarked),
    }
}

/// Replaces all brackets of a text, and the beginnings of commands of maths, which may show one.
/// Returns none where there are none.
fn without_any_brackets(text: &str) -> Option<String> {
    let has_maths = rendered::has_maths(text);
    // What is in a tag may be shown, too.
    let shown = rendered::with_references(text).filter_map(|(at, length, c)| {
        let behind = text.get(at + length..).unwrap_or_default();
        let is_command =
            || behind.starts_with(|next: char| next.is_ascii_alphabetic() || next == '&');
        let is_replaced = match c {
            '\\' => has_maths && is_command(),
            c => is_bracket(c) || is_closing(c),
        };
        is_replaced.then(|| (at, length, parenthesis(c)))
    });
    let brackets: Vec<_> = shown.collect();
    replaced(text, &brackets)
}

/// Replaces the brackets of marks that are found in a text as it is written, and as it is rendered
/// then. Returns none where there are none.
fn once_unmarked(text: &str) -> Option<String> {
    let written = text.char_indices().map(|(at, c)| (at, c.len_utf8(), c));
    let unmarked = without_brackets(text, written.rev(), MarkRest::default());
    let text = unmarked.as_deref().unwrap_or(text);
    let rest = || match rendered::has_links(text) {
        true => MarkRest::among_links(),
        false => MarkRest::default(),
    };
    let mut rendered = None;
    if rendered::has_markup(text) {
        let shown: Vec<_> = rendered::characters(text).collect();
        rendered = without_brackets(text, shown.into_iter().rev(), rest());
    }
    if rendered.is_none() && rendered::has_maths(text) {
        let shown: Vec<_> = rendered::maths_characters(text).collect();
        rendered = without_brackets(text, shown.into_iter().rev(), rest());
    }
    rendered.or(unmarked)
}

/// Replaces the brackets of marks in a text with these characters, of which the last one comes
/// first, each with its place and its length in bytes. Returns none where there are none.
fn without_brackets(
    text: &str,
    characters: impl Iterator<Item = (usize, usize, char)>,
    mut rest: MarkRest,
) -> Option<String> {
    let mut forged = Vec::new();
    for (at, length, c) in characters {
        if rest.is_of_a_mark() && (is_bracket(c) || c == ANY_OR_NONE) {
            forged.push((at, length, '('));
        }
        rest.begin_with(c);
    }
    forged.reverse();
    replaced(text, &forged)
}

/// Replaces parts of a text, each by its place and its length in bytes. Returns none where there are
/// none.
fn replaced(text: &str, parts: &[(usize, usize, char)]) -> Option<String> {
    if parts.is_empty() {
        return None;
    }
    let mut replaced = String::with_capacity(text.len());
    let mut from = 0;
    for (at, length, c) in parts {
        replaced.push_str(text.get(from..*at).unwrap_or_default());
        replaced.push(*c);
        from = at + length;
    }
    replaced.push_str(text.get(from..).unwrap_or_default());
    Some(replaced)
}

#[cfg(test)]
mod tests;
