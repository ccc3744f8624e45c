//! Expressions of URI templates: those of RFC 6570, and those that libraries of servers have beside.

use std::fmt;

use super::is_taken;
use super::positions::Positions;

/// An expression of a template, with the URIs' parts that it may stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expression {
    text: String,
    span: Span,
}

/// Part of a URI that an expression may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Span {
    /// Something before the next `/`, `?` or `#`: `{x}`, `{a,b}`, `{x:3}`.
    Segment,
    /// Something: `{+x}`, `{x*}`.
    Some,
    /// Nothing, or what begins with one of these bytes: `{?a,b}`, `{/x*}`, `{#x}`.
    Led(&'static [u8]),
    /// Anything or nothing: what is not understood.
    Any,
}

impl Expression {
    /// Reads the text between two braces.
    pub(super) fn of(text: &str) -> Self {
        // What `&` leads goes on with a query, and begins one where that has nothing.
        let operators: [(char, &[u8]); 6] = [
            ('?', b"?&"),
            ('&', b"?&"),
            ('/', b"/"),
            ('#', b"#"),
            ('.', b"."),
            (';', b";"),
        ];
        let led = operators.iter().find(|(sign, _)| text.starts_with(*sign));
        let list = text.strip_prefix(['+', '?', '&', '/', '#', '.', ';']);
        let names = || list.unwrap_or(text).split(',');
        let is_many = |name: &str| name.ends_with('*');
        let span = if !names().all(is_name) {
            Span::Any
        } else if let Some((_, bytes)) = led {
            Span::Led(bytes)
        } else if list.is_some() || names().any(is_many) {
            Span::Some
        } else {
            Span::Segment
        };
        let text = text.to_owned();
        Self { text, span }
    }

    /// Adds the positions in a URI at which the expression may begin, if that which is behind it
    /// may begin at those of `behind`.
    pub(super) fn add_begins(&self, uri: &[u8], behind: &Positions, begins: &mut Positions) {
        let mut may_end = false;
        let mut is_before = false;
        for at in (0..=uri.len()).rev() {
            let byte = uri.get(at);
            let is_behind = behind.has(at);
            let may_begin = match self.span {
                Span::Segment | Span::Some => {
                    let is_reserved = self.span == Span::Some;
                    let taken = byte.is_some_and(|byte| is_taken(*byte, is_reserved));
                    may_end = taken && (may_end || behind.has(at + 1));
                    may_end
                }
                Span::Led(bytes) => {
                    let is_led = byte.is_some_and(|byte| bytes.contains(byte));
                    is_behind || is_led && is_before
                }
                Span::Any => is_behind || is_before,
            };
            if may_begin {
                begins.add(at);
            }
            is_before |= is_behind;
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Checks whether a text is the name of a variable, perhaps with its greatest length or a `*`.
fn is_name(text: &str) -> bool {
    let name = match text.split_once(':') {
        Some((name, length)) if length.parse::<u16>().is_ok() => name,
        _ => text.strip_suffix('*').unwrap_or(text),
    };
    let allowed = |c: char| c.is_alphanumeric() || "_-.%".contains(c);
    !name.is_empty() && name.chars().all(allowed)
}
