//! Text as a client that renders Markdown and HTML shows it.

use std::borrow::Cow;
use std::iter;
use std::str::CharIndices;

use dormouse_text::visible::visible_prose;

mod maths;

pub(super) use maths::{has_maths, maths_characters};

/// Character that stands for one that is not known: it may be a bracket, a letter or a quote.
const ANY_CHARACTER: char = '「';

/// Character that stands for what is not known at all: it may be any character, or nothing that is
/// shown. As it is, it would not be seen, and no text has it.
pub(super) const ANY_OR_NONE: char = '\u{fffc}';

/// Checks whether a text has anything that is shown as something else.
pub(super) fn has_markup(text: &str) -> bool {
    text.contains(['&', '<', '\\', '>']) || text.contains(is_of_emphasis) || has_links(text)
}

/// Whether a character is a sign of emphasis: in some kinds of Markdown, words are highlighted, shown
/// as inserted, higher or not at once.
fn is_of_emphasis(c: char) -> bool {
    matches!(c, '*' | '_' | '~' | '=' | '+' | '^' | '|')
}

/// Checks whether a text may have links or images in Markdown, of which no bracket is shown.
pub(super) fn has_links(text: &str) -> bool {
    ["](", "][", "]:"].iter().any(|link| text.contains(link))
}

/// Returns the characters of a text with its references to characters read and all else as it is
/// written, each with its place and its length in bytes: what is in a tag may be shown too, as the
/// text in place of an image.
pub(super) fn with_references(text: &str) -> impl Iterator<Item = (usize, usize, char)> {
    let mut rest = text.char_indices();
    iter::from_fn(move || {
        let (at, c) = rest.next()?;
        let read = (c == '&').then(|| reference(rest.as_str())).flatten();
        let Some((length, c)) = read else {
            return Some((at, c.len_utf8(), c));
        };
        skip(&mut rest, length);
        Some((at, 1 + length, c))
    })
}

/// Returns a text in which no reference stands for a character that nobody would see: each is written
/// as such a character itself would be.
pub(super) fn without_hidden_references(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut seen = String::new();
    let mut from = 0;
    for (at, length, c) in with_references(text) {
        let written = text.get(at..at + length).unwrap_or_default();
        if !written.starts_with('&') || length == 1 || !may_be_hidden(c) {
            continue;
        }
        let c = c.to_string();
        let shown = visible_prose(&c);
        if shown != c {
            let before = text.get(from..at).unwrap_or_default();
            seen.push_str(before);
            // What stands around one that is left out may be another reference then.
            let is_of_reference = |c: char| c.is_ascii_alphanumeric() || c == '#';
            match shown.is_empty() && before.trim_end_matches(is_of_reference).ends_with('&') {
                true => seen.extend(c.chars().flat_map(char::escape_default)),
                false => seen.push_str(&shown),
            }
            from = at + length;
        }
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    seen.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(seen)
}

/// Whether a character may be one that nobody sees. White space is seen as what it is.
fn may_be_hidden(c: char) -> bool {
    !c.is_ascii_graphic() && !c.is_whitespace()
}

/// Checks whether a text has tags or comments: what is shown of it then, and in which order, is
/// theirs to say. Where a comment ends, and whether it is one, readers of Markdown and of HTML do not
/// agree on.
pub(super) fn has_tags(text: &str) -> bool {
    let mut ends = Ends::default();
    let mut tags = text.match_indices('<');
    tags.any(|(at, sign)| {
        let after = text.get(at + sign.len()..).unwrap_or_default();
        after.starts_with("!--") || ends.of_tag(after).is_some()
    })
}

/// Returns the characters that are shown of a text, each with its place and its length in bytes.
/// Tags, comments, signs of emphasis, backslashes before punctuation and the signs of quoted lines
/// are not shown.
pub(super) fn characters(text: &str) -> impl Iterator<Item = (usize, usize, char)> + Clone {
    let mut rest = text.char_indices();
    let mut ends = Ends::default();
    let mut begins_line = false;
    iter::from_fn(move || {
        loop {
            let (at, c) = rest.next()?;
            let after = rest.as_str();
            begins_line = c == '\n' || begins_line && matches!(c, ' ' | '\t' | '>');
            if begins_line && c == '>' {
                continue;
            }
            let skipped = match c {
                c if is_of_emphasis(c) => 0,
                // A break of the line.
                '\\' if after.starts_with(['\n', '\r']) => 0,
                '\\' if after.starts_with(|next: char| next.is_ascii_punctuation()) => {
                    let (_, next) = rest.next()?;
                    return Some((at, 1 + next.len_utf8(), next));
                }
                '<' => match ends.of_tag(after) {
                    Some(end) => end,
                    None => return Some((at, 1, c)),
                },
                '&' => {
                    let Some((length, c)) = reference(after) else {
                        return Some((at, 1, c));
                    };
                    skip(&mut rest, length);
                    return Some((at, 1 + length, c));
                }
                _ => return Some((at, c.len_utf8(), c)),
            };
            skip(&mut rest, skipped);
        }
    })
}

fn skip(rest: &mut CharIndices<'_>, bytes: usize) {
    let before = rest.as_str().len();
    while before - rest.as_str().len() < bytes && rest.next().is_some() {}
}

/// Ends of tags and comments. What has none is searched for its end once in a text.
#[derive(Default, Clone)]
struct Ends {
    has_no_tag: bool,
    has_no_comment: bool,
}

impl Ends {
    /// Returns the length of a tag or comment after its `<`.
    fn of_tag(&mut self, after: &str) -> Option<usize> {
        if after.starts_with("!--") {
            return Self::end(after, "-->", &mut self.has_no_comment);
        }
        let begins = |c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?');
        match after.starts_with(begins) {
            true => Self::end(after, ">", &mut self.has_no_tag),
            false => None,
        }
    }

    fn end(after: &str, end: &str, has_none: &mut bool) -> Option<usize> {
        if *has_none {
            return None;
        }
        let found = after.find(end).map(|at| at + end.len());
        *has_none = found.is_none();
        found
    }
}

/// Reads a reference to a character after its `&`. Returns its length and the character.
fn reference(after: &str) -> Option<(usize, char)> {
    let Some(number) = after.strip_prefix('#') else {
        return named(after);
    };
    let (radix, start) = match number.starts_with(['x', 'X']) {
        true => (16, 2),
        false => (10, 1),
    };
    // It may begin with any count of zeros.
    let digits = after.get(start..)?;
    let length = digits.find(|c: char| !c.is_digit(radix));
    let digits = digits.get(..length.unwrap_or(digits.len()))?;
    let c = match u32::from_str_radix(digits, radix).ok()? {
        // In HTML these are characters of Windows, quotes among them.
        0x80..=0x9f => ANY_CHARACTER,
        number => char::from_u32(number)?,
    };
    let end = start + digits.len();
    let has_end = after.get(end..).is_some_and(|rest| rest.starts_with(';'));
    Some((end + usize::from(has_end), c))
}

/// Reads a named reference as HTML does, to which the longest name counts, and some do without a
/// semicolon. Markdown knows fewer, and shows the `&` of others, which no mark has.
fn named(after: &str) -> Option<(usize, char)> {
    let mut name = vec![b'&'];
    let letters = after.bytes().take(htmlize::ENTITY_MAX_LENGTH);
    name.extend(letters.take_while(u8::is_ascii_alphanumeric));
    if after.as_bytes().get(name.len() - 1) == Some(&b';') {
        name.push(b';');
    }
    while name.len() > 1 {
        if let Some(shown) = htmlize::ENTITIES.get(name.as_slice()) {
            let shown = std::str::from_utf8(shown).ok()?;
            return Some((name.len() - 1, shown.chars().next()?));
        }
        name.pop();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_found() {
        for (text, shown) in [
            ("a &#91;b&#93; &#x5B;c", "a [b] [c"),
            ("&#91b", "[b"),
            ("&#x;&#;&;&", "&#x;&#;&;&"),
            ("&lsqb;a&b&amp;&lt;&lbrack;", "[a&b&<["),
            ("&quotb&quot &shyserver; &notin;", "\"b\" \u{ad}server; ∉"),
            ("&#145;b&#x92; &nothing;", "「b「 ¬hing;"),
            ("a\\\nb\\\r\nc", "a\nb\r\nc"),
            ("&#999999999999;&#xd800;", "&#999999999999;&#xd800;"),
            ("<b>a</b> < b <3 <c", "a < b <3 <c"),
            ("a<!-- <b> > -->b<!-- c", "ab<!-- c"),
            ("**a** _b_ ~~c~~ \\[d\\] \\e", "a b c [d] \\e"),
            ("ä&#228;\\", "ää\\"),
            ("a > b\n> c\n >> d", "a > b\n c\n  d"),
        ] {
            let all: Vec<_> = characters(text).collect();
            let found: String = all.iter().map(|(_, _, c)| *c).collect();
            assert_eq!(found, shown, "{text}");
            for (at, length, _) in all {
                assert!(text.get(at..at + length).is_some(), "{text}: {at} {length}");
            }
        }
    }

    #[test]
    fn markup_is_read_in_linear_time() {
        for what in [
            "<a",
            "<!--",
            "&#91",
            "&a",
            "&aaaaaaaaaa",
            "<a>",
            "\\",
            "*",
            "&#1&#",
            "<!-->",
        ] {
            let text = |size: usize| what.repeat(size);
            dormouse_tests::growth::is_linear(what, 2_000, text, |text: &String| {
                std::hint::black_box((characters(text).count(), has_tags(text)));
                std::hint::black_box((with_references(text).count(), has_links(text)));
            });
        }
    }
}
