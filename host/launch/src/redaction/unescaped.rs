//! Texts with their escapes undone, in which a secret is found however it is written.
//!
//! A list of spellings would never be complete: writers of URLs, JSON, HTML and logs each escape
//! other characters, in letters of other cases, and one around the other. So the text is changed
//! instead, and the secret with it: what is equal then was equal before it was escaped.

use std::ops::Range;

/// Most bytes of an escape between its first and its last: `&quot;`, `\u{10ffff}`.
const MAX_ESCAPE_BYTES: usize = 10;

/// Whether a text has anything in it that may be an escape.
pub(super) fn may_have_escapes(text: &str) -> bool {
    text.bytes()
        .any(|byte| matches!(byte, b'%' | b'\\' | b'+' | b'&'))
}

/// A text with its escapes undone: of URLs (`%2F`, `+` for a blank), JSON and programming
/// languages (`\/`, `\u00e9`, `\xe9`, `\u{e9}`), HTML (`&amp;`, `&#38;`), and escapes of escapes,
/// however deep. It takes time in proportion to the length of the text.
pub(super) struct Unescaped {
    bytes: Vec<u8>,
    /// Beginning of the part of the text that each byte stands for.
    starts: Vec<usize>,
    text_bytes: usize,
}

/// The end of a text that is an escape, and what it stands for.
struct TrailingEscape {
    bytes: usize,
    meaning: Meaning,
}

enum Meaning {
    Byte(u8),
    /// The number of a character, or half of one in UTF-16.
    Character(u32),
}

impl Unescaped {
    pub(super) fn of(text: &str) -> Self {
        let mut unescaped = Self {
            bytes: Vec::with_capacity(text.len()),
            starts: Vec::with_capacity(text.len()),
            text_bytes: text.len(),
        };
        for (start, byte) in text.bytes().enumerate() {
            unescaped.push(byte, start);
        }
        unescaped
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the part of the text that some of the bytes stand for.
    pub(super) fn part_of_text(&self, found: &Range<usize>) -> Range<usize> {
        let at = |index: usize| self.starts.get(index).copied();
        let start = at(found.start).unwrap_or(self.text_bytes);
        let last = at(found.end.saturating_sub(1));
        let mut end = found.end;
        // Several bytes may stand for one escape.
        while at(end).is_some() && at(end) == last {
            end += 1;
        }
        start..at(end).unwrap_or(self.text_bytes)
    }

    /// Adds a byte. An escape that it completes may complete another one, which has fewer bytes
    /// each time.
    fn push(&mut self, byte: u8, start: usize) {
        self.bytes.push(byte);
        self.starts.push(start);
        while let Some(escape) = self.escape_at_end() {
            let length = self.bytes.len().saturating_sub(escape.bytes);
            let start = self.starts.get(length).copied().unwrap_or(start);
            self.truncate(length);
            match escape.meaning {
                Meaning::Byte(byte) => {
                    self.bytes.push(byte);
                    self.starts.push(start);
                }
                Meaning::Character(number) => self.push_character(number, start),
            }
        }
    }

    fn push_character(&mut self, number: u32, mut start: usize) {
        let mut number = number;
        if (0xdc00..0xe000).contains(&number)
            && let Some(first) = self.half_at_end()
        {
            let length = self.bytes.len().saturating_sub(3);
            start = self.starts.get(length).copied().unwrap_or(start);
            self.truncate(length);
            number = 0x1_0000 + ((first - 0xd800) << 10) + (number - 0xdc00);
        }
        let mut buffer = [0; 4];
        match char::from_u32(number) {
            Some(letter) => {
                let bytes = letter.encode_utf8(&mut buffer).bytes();
                self.bytes.extend(bytes);
            }
            // Half a character, as UTF-8 would write it: the other half may follow.
            None => {
                let part = |shift: u32| u8::try_from((number >> shift) & 0x3f).unwrap_or(0) | 0x80;
                self.bytes.extend([0xed, part(6), part(0)]);
            }
        }
        self.starts.resize(self.bytes.len(), start);
    }

    /// Returns the first half of a character that was written in UTF-16, where there is one at the
    /// end.
    fn half_at_end(&self) -> Option<u32> {
        match self.bytes.last_chunk::<3>()? {
            [0xed, high @ 0xa0..=0xaf, low] => {
                Some(0xd000 + (u32::from(high & 0x3f) << 6) + u32::from(low & 0x3f))
            }
            _ => None,
        }
    }

    fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
        self.starts.truncate(length);
    }

    fn escape_at_end(&self) -> Option<TrailingEscape> {
        let byte = |bytes: usize, byte: u8| {
            Some(TrailingEscape {
                bytes,
                meaning: Meaning::Byte(byte),
            })
        };
        let hex = |digits: &[u8]| {
            let digits = str::from_utf8(digits).ok()?;
            let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let number = u32::from_str_radix(digits, 16).ok();
            number.filter(|_| is_hex)
        };
        let character = |bytes: usize, number: u32| {
            Some(TrailingEscape {
                bytes,
                meaning: Meaning::Character(number),
            })
        };
        match self.bytes.as_slice() {
            [.., b'+'] => byte(1, b' '),
            // However a break or a tab was written, it is one.
            [.., b'\t' | b'\r' | 0x08 | 0x0c] => byte(1, b'\n'),
            [.., b'\\', b'u' | b'x'] => None,
            [.., b'\\', b'b' | b'f' | b'n' | b'r' | b't'] => byte(2, b'\n'),
            [.., b'\\', last] => byte(2, *last),
            [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                hex(&[*high, *low])
                    .and_then(|number| u8::try_from(number).ok())
                    .and_then(|number| byte(3, number))
            }
            [.., last] if last.is_ascii_hexdigit() => {
                let tail = self.bytes.last_chunk::<6>();
                let code = tail.and_then(|tail| tail.strip_prefix(b"\\u"));
                if let Some(number) = code.and_then(hex) {
                    return character(6, number);
                }
                let tail = self.bytes.last_chunk::<4>();
                let code = tail.and_then(|tail| tail.strip_prefix(b"\\x"));
                code.and_then(hex).and_then(|number| character(4, number))
            }
            [.., b'}'] => {
                let code = self.tail_from(b"\\u{")?;
                let digits = code.strip_prefix(b"\\u{")?.strip_suffix(b"}")?;
                hex(digits).and_then(|number| character(code.len(), number))
            }
            [.., b';'] => {
                let code = self.tail_from(b"&")?;
                let name = code.strip_prefix(b"&")?.strip_suffix(b";")?;
                let number = match name {
                    b"amp" => u32::from(b'&'),
                    b"lt" => u32::from(b'<'),
                    b"gt" => u32::from(b'>'),
                    b"quot" => u32::from(b'"'),
                    b"apos" => u32::from(b'\''),
                    [b'#', b'x' | b'X', digits @ ..] => hex(digits)?,
                    [b'#', digits @ ..] => str::from_utf8(digits).ok()?.parse().ok()?,
                    _ => return None,
                };
                char::from_u32(number)?;
                character(code.len(), number)
            }
            _ => None,
        }
    }

    /// Returns the end of the bytes, from where an escape begins.
    fn tail_from(&self, beginning: &[u8]) -> Option<&[u8]> {
        let tail = self.bytes.len().saturating_sub(MAX_ESCAPE_BYTES);
        let tail = self.bytes.get(tail..)?;
        let mut windows = tail.windows(beginning.len());
        let at = windows.rposition(|window| window == beginning)?;
        tail.get(at..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unescaped(text: &str) -> String {
        String::from_utf8_lossy(Unescaped::of(text).bytes()).into_owned()
    }

    #[test]
    fn escapes_are_undone_however_deep() {
        for (text, expected) in [
            ("plain: 100% & more;", "plain: 100% & more;"),
            ("a%2Fb%2fc+d", "a/b/c d"),
            ("a%252Fb%25252Fc", "a/b/c"),
            (r"a\/b\\\/c\\\\\\\/d", "a/b/c/d"),
            (r#"\"a\\\"b"#, "\"a\"b"),
            (r"\u003c\u003C\x3c\u{3c}&lt;&#60;&#x3C;", "<<<<<<<"),
            (r"\u00e9\u00E9%C3%A9\\u00e9", "éééé"),
            (r"\ud83d\ude00 \\ud83d\\ude00", "😀 😀"),
            ("&amp;lt;", "<"),
            (r"a\nb\tc", "a\nb\nc"),
            (r"\users \x \u12", r"\users \x \u12"),
            ("%zz %2 %", "%zz %2 %"),
            ("&nothing; ;}", "&nothing; ;}"),
            ("%3%31", "1"),
            ("", ""),
        ] {
            assert_eq!(unescaped(text), expected, "{text}");
        }
    }

    #[test]
    fn a_secret_is_the_same_however_it_was_escaped() {
        use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
        for secret in [
            r"C:\users\name\x41",
            r#"a"b'c"#,
            "100%25 %41",
            "a+b/c==",
            "päß 😀 <x>&amp;\u{7f}",
            r"\\\\host\u0041\t",
            "&lt;%26lt;",
        ] {
            let json = |text: &str| serde_json::Value::from(text).to_string();
            let percent = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
            for written in [
                json(secret),
                json(&json(secret)),
                percent(secret),
                percent(&percent(secret)),
                percent(&json(secret)),
                json(&percent(secret)),
                json(secret).replace('/', "\\/"),
            ] {
                let found = unescaped(&written);
                assert!(found.contains(&unescaped(secret)), "{secret}: {written}");
            }
        }
    }

    #[test]
    fn parts_are_those_of_the_text() {
        let text = r"x%2Fé\u00e9y";
        let unescaped = Unescaped::of(text);
        assert_eq!(unescaped.bytes(), "x/ééy".as_bytes());
        for (found, part) in [
            (0..1, "x"),
            (1..2, "%2F"),
            (1..4, "%2Fé"),
            (4..6, r"\u00e9"),
            (4..5, r"\u00e9"),
            (6..7, "y"),
        ] {
            assert_eq!(&text[unescaped.part_of_text(&found)], part);
        }
    }
}
