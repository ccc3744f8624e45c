//! Secrets in a launch and in the words of a server, and texts without them.
//!
//! Two questions: which parts of a text are secrets by the way that it is written
//! ([`arguments`], [`url`]), and which known secrets a text repeats ([`HiddenTexts`]).

mod arguments;
mod hidden_texts;
mod secret_name;
mod secret_value;
mod url;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use arguments::{secrets_in_arguments, secrets_in_line};
pub(crate) use hidden_texts::{HiddenTexts, HiddenTextsBuilder, MAX_PIECE_BYTES};
pub(crate) use secret_name::is_secret_name;
pub(super) use secret_value::{is_trivial, tells_nothing};
pub(super) use url::{redacted_url, secrets_in_url};

/// Text in place of a secret.
pub(super) const HIDDEN: &str = "…";

/// A text with [`HIDDEN`] in place of some of its parts, which are in order.
pub(super) fn without<'t>(text: &'t str, parts: &[Range<usize>]) -> Cow<'t, str> {
    if parts.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for part in parts {
        shown.push_str(text.get(at..part.start).unwrap_or_default());
        shown.push_str(HIDDEN);
        at = part.end;
    }
    shown.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(shown)
}

/// Arguments of a program without the secrets that are written out in them.
pub(super) fn redacted_arguments<'a>(program: &str, args: &'a [String]) -> Vec<Cow<'a, str>> {
    let texts: Vec<&str> = args.iter().map(String::as_str).collect();
    let secrets = secrets_in_arguments(program, &texts);
    texts
        .iter()
        .zip(secrets)
        .map(|(text, parts)| without(text, &parts))
        .collect()
}

/// Whether a value is a variable as it is written, which tells nothing.
pub(super) fn is_variable(value: &str) -> bool {
    value.starts_with('$') || value.starts_with("{{") || value.starts_with("{env")
}

/// Where a part of a text is in it.
fn range_in(text: &str, part: &str) -> Range<usize> {
    let start = part
        .as_ptr()
        .addr()
        .saturating_sub(text.as_ptr().addr())
        .min(text.len());
    start..(start + part.len()).min(text.len())
}
