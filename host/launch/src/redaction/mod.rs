//! Secrets in a launch and in the words of a server, and texts without them.
//!
//! Two questions: which parts of a text are secrets by the way that it is written
//! ([`arguments`], [`url`]), and which known secrets a text repeats ([`HiddenTexts`]).

mod arguments;
mod hidden_texts;
mod secret_name;
mod secret_value;
mod setting;
mod unescaped;
mod url;
mod variable;
mod words;

use std::borrow::Cow;
use std::ops::Range;

pub use arguments::{secrets_in_arguments, secrets_in_line};
pub use hidden_texts::{
    HiddenTexts, HiddenTextsBuilder, MAX_WRITTEN_PIECE_BYTES, basic_credentials,
};
pub(crate) use secret_name::is_harmless_header;
pub use secret_name::is_secret_name;
pub(crate) use secret_value::is_trivial;
pub use secret_value::{is_setting, may_be_secret_in_path, tells_nothing};
pub use setting::redacted_setting;
pub use url::redacted_url;

/// Text in place of a secret.
pub(crate) const HIDDEN: &str = "…";

/// A part of a text that is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretPart {
    /// Range in the text.
    pub range: Range<usize>,
    /// Whether its name or its look tells that the part is a secret. Otherwise it may be a setting,
    /// such as the value of `?mode=http`.
    pub is_certain: bool,
}

impl SecretPart {
    /// Returns the secret itself, where it is to be hidden in other texts, too.
    pub(super) fn known_in<'t>(&self, text: &'t str) -> Option<&'t str> {
        let secret = text.get(self.range.clone())?;
        (self.is_certain || !tells_nothing(secret)).then_some(secret)
    }
}

/// Returns a text with [`HIDDEN`] in place of some of its parts, which are in order.
pub(crate) fn without<'t>(text: &'t str, parts: &[SecretPart]) -> Cow<'t, str> {
    if parts.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for part in parts {
        // One may be within another.
        if let Some(before) = text.get(at..part.range.start) {
            shown.push_str(before);
            shown.push_str(HIDDEN);
        }
        at = at.max(part.range.end);
    }
    shown.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(shown)
}

/// Returns the arguments of a program without the secrets that are written out in them.
pub(crate) fn redacted_arguments<'a>(program: &str, args: &'a [String]) -> Vec<Cow<'a, str>> {
    let texts: Vec<&str> = args.iter().map(String::as_str).collect();
    let secrets = secrets_in_arguments(program, &texts);
    texts
        .iter()
        .zip(secrets)
        .map(|(text, parts)| without(text, &parts))
        .collect()
}

/// Returns the range of a part within its text.
fn range_in(text: &str, part: &str) -> Range<usize> {
    let start = part
        .as_ptr()
        .addr()
        .saturating_sub(text.as_ptr().addr())
        .min(text.len());
    start..(start + part.len()).min(text.len())
}
