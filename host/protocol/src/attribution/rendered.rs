//! Text as a client that renders Markdown and HTML shows it.

use std::iter;
use std::str::CharIndices;

/// Longest name of a reference to a character that is read, in bytes. A number may begin with any
/// count of zeros.
const MAX_REFERENCE_NAME_BYTES: usize = 40;

/// Character that stands for any one of HTML's named references: it may be a bracket, a letter or a
/// quote.
const ANY_CHARACTER: char = '「';

/// Checks whether a text has anything that is shown as something else.
pub(super) fn has_markup(text: &str) -> bool {
    text.contains(['&', '<', '\\', '*', '_', '~', '>']) || has_links(text)
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

/// Checks whether a text has tags: what is shown of it then, and in which order, is theirs to say.
pub(super) fn has_tags(text: &str) -> bool {
    let mut ends = Ends::default();
    let mut tags = text.match_indices('<');
    tags.any(|(at, sign)| {
        let after = text.get(at + sign.len()..).unwrap_or_default();
        !after.starts_with("!--") && ends.of_tag(after).is_some()
    })
}

/// Returns the characters that are shown of a text, each with its place and its length in bytes.
/// Tags, comments, signs of emphasis, backslashes before punctuation and the signs of quoted lines
/// are not shown.
pub(super) fn characters(text: &str) -> impl Iterator<Item = (usize, usize, char)> {
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
                '*' | '_' | '~' => 0,
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
#[derive(Default)]
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
    let bytes = after.as_bytes();
    let (radix, start) = match bytes {
        [b'#', b'x' | b'X', ..] => (Some(16), 2),
        [b'#', ..] => (Some(10), 1),
        _ => (None, 0),
    };
    let is_part = |byte: &u8| match radix {
        Some(16) => byte.is_ascii_hexdigit(),
        Some(_) => byte.is_ascii_digit(),
        None => byte.is_ascii_alphanumeric(),
    };
    let most = match radix {
        Some(_) => usize::MAX,
        None => MAX_REFERENCE_NAME_BYTES,
    };
    let parts = bytes.iter().skip(start).take(most);
    let end = start + parts.take_while(|byte| is_part(byte)).count();
    let body = after.get(start..end).filter(|body| !body.is_empty())?;
    let has_end = bytes.get(end) == Some(&b';');
    let c = match radix {
        Some(radix) => char::from_u32(u32::from_str_radix(body, radix).ok()?)?,
        // HTML knows some of these without a semicolon, but none that are a bracket or a quote
        // which Markdown has.
        None if !has_end => return None,
        None => match body {
            "amp" => '&',
            "apos" => '\'',
            "gt" => '>',
            "lt" => '<',
            "nbsp" => ' ',
            "quot" => '"',
            _ => ANY_CHARACTER,
        },
    };
    Some((end + usize::from(has_end), c))
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
            ("&lsqb;a&b&amp;&lt;", "「a&b&<"),
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
            "<a", "<!--", "&#91", "&a", "<a>", "\\", "*", "&#1&#", "<!-->",
        ] {
            let text = |size: usize| what.repeat(size);
            dormouse_tests::growth::is_linear(what, 2_000, text, |text: &String| {
                std::hint::black_box((characters(text).count(), has_tags(text)));
                std::hint::black_box((with_references(text).count(), has_links(text)));
            });
        }
    }
}
