//! Texts in requests that stand as names in words of Dormouse's own, and so must be no sentences.

/// Longest name of a setting or a secret, in bytes.
pub(crate) const MAX_INPUT_NAME: usize = 64;

/// Whether a text is the name of a setting or a secret: letters and digits of ASCII, `-` and `_`.
#[must_use]
pub fn is_input_name(text: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !text.is_empty() && text.len() <= MAX_INPUT_NAME && text.chars().all(is_sign)
}

/// Longest name of an environment variable, in bytes.
const MAX_VARIABLE_NAME: usize = 128;

/// Whether a text is the name of an environment variable that a plugin may ask for: letters and digits
/// of ASCII, `_`, and what some systems have besides, as in `ProgramFiles(x86)`.
pub(crate) fn is_variable_name(text: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "_-.()".contains(c);
    !text.is_empty() && text.len() <= MAX_VARIABLE_NAME && text.chars().all(is_sign)
}

/// Longest word, in bytes: a URL, or methods of HTTP.
const MAX_WORD: usize = 2048;

/// Whether a text is one word that does not end the quote in which it stands.
pub(super) fn is_one_word(text: &str) -> bool {
    let is_sign = |c: char| !(c.is_whitespace() || c.is_control() || c == '`');
    !text.is_empty() && text.len() <= MAX_WORD && text.chars().all(is_sign)
}

/// Longest value that an author proposes in so many words, in characters.
const MAX_SHORT_TEXT: usize = 100;

/// Whether a text is a value that can be read in a line, between backticks.
pub(super) fn is_short_text(text: &str) -> bool {
    let is_sign = |c: char| !(c.is_control() || c == '`');
    text.chars().nth(MAX_SHORT_TEXT).is_none() && text.chars().all(is_sign)
}
