//! Words of commands that a person or a model is told to run.

use std::ffi::OsStr;
use std::fmt::Write as _;

use crate::visible::is_hidden;

/// Returns a word of a command as a shell reads it, in quotes where it would not be seen to be one:
/// in `$'…'` where something in it is hidden, is no text or would end a message's own quotes, else in
/// `'…'`, where nothing is escaped.
///
/// Each name and each path in a suggested command goes through this: whoever has named them would
/// otherwise have their reader run something else.
#[must_use]
pub fn shell_word(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    let is_simple = |c: char| c.is_alphanumeric() || "-_./:=@%+,".contains(c);
    let is_escaped = |c: char| c == '`' || is_hidden(c);
    match word.to_str() {
        Some(text) if text.contains(is_escaped) => in_escapes(word, is_escaped),
        Some(text) if !text.is_empty() && text.chars().all(is_simple) => text.to_owned(),
        Some(text) => format!("'{}'", text.replace('\'', "'\\''")),
        None => in_escapes(word, is_escaped),
    }
}

fn in_escapes(word: &OsStr, is_escaped: impl Fn(char) -> bool) -> String {
    let mut shown = String::from("$'");
    for part in word.as_encoded_bytes().utf8_chunks() {
        for c in part.valid().chars() {
            // Writing to a string cannot fail.
            let _ = match c {
                '\n' | '\r' | '\t' | '\\' | '\'' => write!(shown, "{}", c.escape_default()),
                c if !is_escaped(c) => write!(shown, "{c}"),
                // Two, four and eight digits each: what follows is not taken for another one.
                '\0'..='\x7f' => write!(shown, "\\x{:02x}", u32::from(c)),
                '\u{80}'..='\u{ffff}' => write!(shown, "\\u{:04x}", u32::from(c)),
                _ => write!(shown, "\\U{:08x}", u32::from(c)),
            };
        }
        for byte in part.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown.push('\'');
    shown
}

#[cfg(test)]
mod tests;
