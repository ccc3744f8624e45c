//! The mark of a server's words, and words that look like one.

use std::borrow::Cow;

use dormouse_text::visible::{visible_line, visible_prose};

use super::rendered::{self, ANY_OR_NONE};

mod characters;
mod direction;
mod mark_rest;
mod reversed;

use characters::{is_bracket, is_closing, parenthesis};
use mark_rest::MarkRest;
use reversed::reversed;

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
    let text = changed(visible_prose(text), closed_up);
    changed(text, unmarked).into_owned()
}

/// Returns what is made of all of a text, which is not copied where nothing changes.
fn changed<'t>(text: Cow<'t, str>, change: fn(&str) -> Cow<'_, str>) -> Cow<'t, str> {
    let other = match change(&text) {
        Cow::Owned(other) => Some(other),
        Cow::Borrowed(_) => None,
    };
    other.map_or(text, Cow::Owned)
}

/// Removes blank lines, where there are more in a row than a reader would pass over.
fn closed_up(text: &str) -> Cow<'_, str> {
    if !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    let mut closed_up = String::with_capacity(text.len());
    let mut end = "";
    let mut blank = 0;
    for line in text.split('\n') {
        // Lines of nothing but spaces are blank, too.
        blank = match line.trim().is_empty() {
            true => blank + 1,
            false => 0,
        };
        if blank <= MAX_BLANK_LINES {
            closed_up.push_str(end);
            closed_up.push_str(line);
            end = "\n";
        }
    }
    Cow::Owned(closed_up)
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
    let mut unmarked = None;
    let mut from = 0;
    // What is in a tag may be shown, too.
    for (at, length, c) in rendered::with_references(text) {
        let behind = text.get(at + length..).unwrap_or_default();
        let is_command =
            || behind.starts_with(|next: char| next.is_ascii_alphabetic() || next == '&');
        let is_replaced = match c {
            '\\' => has_maths && is_command(),
            c => is_bracket(c) || is_closing(c),
        };
        if is_replaced {
            let unmarked = unmarked.get_or_insert_with(|| String::with_capacity(text.len()));
            unmarked.push_str(text.get(from..at).unwrap_or_default());
            unmarked.push(parenthesis(c));
            from = at + length;
        }
    }
    let mut unmarked = unmarked?;
    unmarked.push_str(text.get(from..).unwrap_or_default());
    Some(unmarked)
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
        let shown = rendered::characters(text);
        rendered = without_brackets(text, reversed(shown), rest());
    }
    if rendered.is_none() && rendered::has_maths(text) {
        let shown = rendered::maths_characters(text);
        rendered = without_brackets(text, reversed(shown), rest());
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
    // The new text, its last character first.
    let mut backwards = None;
    let mut to = text.len();
    for (at, length, c) in characters {
        if rest.is_of_a_mark() && (is_bracket(c) || c == ANY_OR_NONE) {
            let backwards = backwards.get_or_insert_with(|| String::with_capacity(text.len()));
            let behind = text.get(at + length..to).unwrap_or_default();
            backwards.extend(behind.chars().rev());
            backwards.push('(');
            to = at;
        }
        rest.begin_with(c);
    }
    let mut backwards = backwards?;
    backwards.extend(text.get(..to).unwrap_or_default().chars().rev());
    let mut unmarked = String::with_capacity(backwards.len());
    unmarked.extend(backwards.chars().rev());
    Some(unmarked)
}

#[cfg(test)]
mod tests;
