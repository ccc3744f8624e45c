//! Prose that is shown to a person: of characters that show nothing by themselves, those stay
//! that belong to the spelling of a word or to an emoji.

use std::borrow::Cow;

use icu_properties::props::{
    Emoji, EmojiModifier, ExtendedPictographic, GeneralCategory, IndicSyllabicCategory, JoiningType,
};
use icu_properties::{CodePointMapData, CodePointSetData};

use super::is_hidden;

/// Most characters of the region that the tags of a flag name (`gbeng`).
const MAX_FLAG_TAGS: usize = 7;

/// The flag that tags stand behind.
const BLACK_FLAG: char = '\u{1f3f4}';

/// The last tag of a flag.
const CANCEL_TAG: char = '\u{e007f}';

/// Way in which a character of prose is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShownCharacter {
    /// As it is.
    Unchanged,
    /// Not at all, as a part of the line break behind it.
    LineBreak,
    /// Not at all: a mark of direction, which the letters around it have themselves.
    LeftOut,
    /// By its escape.
    Escaped,
}

/// Makes prose safe to show: messages, titles and values, but no names. Line breaks and tabs stay,
/// and so do hidden characters whose effect on their neighbours is seen. Marks of direction are
/// left out.
#[must_use]
pub fn visible_prose(text: &str) -> Cow<'_, str> {
    if is_unchanged(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for (c, how) in characters(text) {
        match how {
            ShownCharacter::Unchanged => shown.push(c),
            ShownCharacter::Escaped => shown.extend(c.escape_default()),
            ShownCharacter::LineBreak | ShownCharacter::LeftOut => {}
        }
    }
    Cow::Owned(shown)
}

/// Whether a text has characters in it that nobody would see.
#[must_use]
pub fn hides_something(text: &str) -> bool {
    !is_unchanged(text)
        && characters(text)
            .any(|(_, how)| matches!(how, ShownCharacter::LeftOut | ShownCharacter::Escaped))
}

fn is_unchanged(text: &str) -> bool {
    !text.contains(|c| !matches!(c, '\n' | '\t') && is_hidden(c))
}

/// Returns the characters of a text, each with the way in which it is shown.
fn characters(text: &str) -> impl Iterator<Item = (char, ShownCharacter)> + '_ {
    // Where the tags end of the flag that has been read.
    let mut flag_end = 0;
    text.char_indices().map(move |(at, c)| {
        if c == BLACK_FLAG {
            let start = at + c.len_utf8();
            flag_end = start + flag_tags(text.get(start..).unwrap_or_default());
        }
        let in_flag = at < flag_end && is_tag(c);
        let how = match in_flag || matches!(c, '\n' | '\t') || !is_hidden(c) {
            true => ShownCharacter::Unchanged,
            false => {
                let before = text.get(..at).unwrap_or_default();
                let behind = text.get(at + c.len_utf8()..).unwrap_or_default();
                hidden(c, before, behind, at == flag_end)
            }
        };
        (c, how)
    })
}

/// Decides how a character is shown that shows nothing by itself.
fn hidden(c: char, before: &str, behind: &str, is_behind_flag: bool) -> ShownCharacter {
    let next = behind.chars().next();
    let is_seen = match c {
        '\r' if next == Some('\n') => return ShownCharacter::LineBreak,
        '\u{200e}' | '\u{200f}' | '\u{61c}' => return ShownCharacter::LeftOut,
        '\u{fe0e}' | '\u{fe0f}' => chooses_a_picture(before, behind),
        '\u{200d}' if next.is_some_and(is_picture) => {
            is_behind_flag && before.ends_with(CANCEL_TAG) || ends_with_a_picture(before)
        }
        '\u{200c}' | '\u{200d}' => {
            ends_with_a_joining_letter(before) && next.is_some_and(is_joining)
        }
        // Variants of Mongolian letters, and what separates their vowels.
        '\u{180b}'..='\u{180f}' => before.ends_with(is_mongolian),
        '\u{ad}' => before.ends_with(is_letter) && next.is_some_and(is_letter),
        _ => category(c) == GeneralCategory::PrivateUse,
    };
    match is_seen {
        true => ShownCharacter::Unchanged,
        false => ShownCharacter::Escaped,
    }
}

/// Returns the length of the tags at the start of what follows a flag, in bytes; 0 if they name no
/// region.
fn flag_tags(behind: &str) -> usize {
    let mut bytes = 0;
    for (count, tag) in behind.chars().take(MAX_FLAG_TAGS + 1).enumerate() {
        bytes += tag.len_utf8();
        match tag {
            CANCEL_TAG if count > 0 => return bytes,
            '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}' => {}
            _ => return 0,
        }
    }
    0
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0020}'..=CANCEL_TAG)
}

/// Whether a selector of variants chooses between the pictures of the character before it.
fn chooses_a_picture(before: &str, behind: &str) -> bool {
    match before.chars().next_back() {
        // Of these there is a picture only as a key.
        Some('#' | '*' | '0'..='9') => behind.starts_with('\u{20e3}'),
        Some(base) => is_emoji(base),
        None => false,
    }
}

/// Whether a text ends with a picture that can be joined to another, in whatever colour.
fn ends_with_a_picture(before: &str) -> bool {
    let mut back = before.chars().rev();
    match back.next() {
        Some('\u{fe0e}' | '\u{fe0f}') => back.next().is_some_and(is_picture),
        Some(last) => is_picture(last) || CodePointSetData::new::<EmojiModifier>().contains(last),
        None => false,
    }
}

fn is_emoji(c: char) -> bool {
    !is_hidden(c) && CodePointSetData::new::<Emoji>().contains(c)
}

fn is_picture(c: char) -> bool {
    !is_hidden(c) && CodePointSetData::new::<ExtendedPictographic>().contains(c)
}

/// Whether a text ends with a letter and its marks, in a script whose spelling says which letters
/// are joined.
fn ends_with_a_joining_letter(before: &str) -> bool {
    let mut back = before.chars().rev();
    let is_mark = |c: &char| {
        category(*c) == GeneralCategory::NonspacingMark && !is_hidden(*c) && !is_joining(*c)
    };
    back.find(|c| !is_mark(c)).is_some_and(is_joining)
}

/// Whether a letter or a mark is joined to its neighbours, as in Arabic, or is a part of
/// syllables that are written as one, as in Devanagari.
fn is_joining(c: char) -> bool {
    let is_joined = || {
        let joining = CodePointMapData::<JoiningType>::new().get(c);
        !matches!(joining, JoiningType::NonJoining | JoiningType::Transparent)
    };
    let is_indic = || {
        let place = CodePointMapData::<IndicSyllabicCategory>::new().get(c);
        place != IndicSyllabicCategory::Other
    };
    !c.is_ascii() && !is_hidden(c) && is_letter_or_mark(c) && (is_joined() || is_indic())
}

fn is_mongolian(c: char) -> bool {
    matches!(c, '\u{1820}'..='\u{18aa}') && is_letter_or_mark(c)
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !is_hidden(c)
}

fn is_letter_or_mark(c: char) -> bool {
    c.is_alphabetic()
        || matches!(
            category(c),
            GeneralCategory::NonspacingMark | GeneralCategory::SpacingMark
        )
}

fn category(c: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(c)
}

#[cfg(test)]
mod tests;
