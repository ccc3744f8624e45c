//! Text as JavaScript understands it, where that differs from Rust.

/// Replaces each `\r\n` in `text` by `\n`; without any, the text is not copied.
pub fn unix_lines(text: String) -> String {
    if text.contains("\r\n") {
        text.replace("\r\n", "\n")
    } else {
        text
    }
}

/// Whether JavaScript's `trim` and `\s` take `c` for white space.
pub fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// Returns the white space that `line` starts with.
pub fn indent(line: &str) -> &str {
    let text = line.trim_start_matches(is_space);
    line.get(..line.len() - text.len()).unwrap_or_default()
}

/// Makes a text of bytes, of which those that are not UTF-8 become U+FFFD. Valid text, which is
/// nearly all, is not copied.
pub fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_that_of_javascript() {
        assert_eq!(indent("\u{feff}\t \u{a0}x "), "\u{feff}\t \u{a0}");
        assert_eq!(indent("\u{85}x"), "");
        assert_eq!(indent("  "), "  ");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(lossy(b"a\xffb".to_vec()), "a\u{fffd}b");
        assert_eq!(unix_lines("a\r\nb\rc\n".to_owned()), "a\nb\rc\n");
    }
}
