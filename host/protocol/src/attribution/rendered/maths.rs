//! Text as a client that renders maths (TeX) shows it.

use std::iter;

use super::{ANY_OR_NONE, characters};

/// Checks whether a text may have maths.
pub(in crate::attribution) fn has_maths(text: &str) -> bool {
    text.matches('$').nth(1).is_some()
        || ["\\(", "\\[", "\\begin"]
            .iter()
            .any(|start| text.contains(start))
}

/// Returns the characters that are shown of a text, each with its place and its length in bytes.
/// Signs of maths are not shown, nor what is not shown of Markdown and HTML. What a command shows is
/// not known: it may be a bracket, a letter, or nothing but what follows it.
pub(in crate::attribution) fn maths_characters(
    text: &str,
) -> impl Iterator<Item = (usize, usize, char)> + Clone {
    let mut rest = characters(text).peekable();
    iter::from_fn(move || {
        loop {
            let (at, length, c) = rest.next()?;
            if c != '\\' {
                let is_escaped = length == 2 && text.as_bytes().get(at) == Some(&b'\\');
                let is_sign = matches!(c, '$' | '{' | '}');
                if is_sign || is_escaped && !matches!(c, '[' | ']') {
                    continue;
                }
                return Some((at, length, c));
            }
            let start = at + length;
            let mut end = start;
            while let Some((at, length, _)) = rest.next_if(|(.., c)| c.is_ascii_alphabetic()) {
                end = at + length;
            }
            // A matrix has brackets.
            if text.get(start..end) == Some("begin") {
                let is_of_name = |(.., c): &(usize, usize, char)| matches!(c, '{' | 'a'..='z');
                while rest.next_if(is_of_name).is_some() {}
            }
            if end > start {
                return Some((at, end - at, ANY_OR_NONE));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_of_maths_is_found() {
        for (text, shown) in [
            ("$[$a \\(b\\) {c}", "[a b c"),
            ("\\[a\\] \\$ \\{ \\\\ \\ b\\", "[a]     b"),
            ("\\text{a}\\lbrack1 \\\\b", "\u{fffc}a\u{fffc}1 \u{fffc}"),
            ("\\begin{bmatrix*}a\\end{a}", "\u{fffc}a\u{fffc}a"),
            ("ä\\ä&#228;&lbrack;", "äää["),
        ] {
            let all: Vec<_> = maths_characters(text).collect();
            let found: String = all.iter().map(|(_, _, c)| *c).collect();
            assert_eq!(found, shown, "{text}");
            for (at, length, _) in all {
                assert!(text.get(at..at + length).is_some(), "{text}: {at} {length}");
            }
        }
        for (text, is_maths) in [
            ("$a$", true),
            ("\\(", true),
            ("\\begin{a}", true),
            ("$a \\b", false),
        ] {
            assert_eq!(has_maths(text), is_maths, "{text}");
        }
    }
}
