//! How much memory reading a regular expression may take, told from its text alone.
//!
//! `regex` bounds the automaton that it makes of a pattern, and not what it reads the pattern
//! into before: each `\p{L}` becomes a list of nearly 700 ranges, and of several times as many
//! where case is ignored. A pattern of some kilobytes would take hundreds of megabytes, whatever
//! the limit of its automaton is. So patterns of strangers are judged here before anything reads
//! them.

/// The longest pattern that is ever read, in bytes.
pub const MAX_PATTERN_LENGTH: usize = 8 << 10;

/// Most memory that reading one pattern may take, in bytes.
pub const MAX_READ_BYTES: u64 = 4 << 20;

/// What reading takes for each byte of a pattern, in bytes of memory.
const BYTES_OF_LETTER: u64 = 400;

/// The same of one escape for a class of letters: `\d`, `\s`, `\w`.
const BYTES_OF_CLASS: u64 = 8 << 10;

/// The same of one escape for a property of Unicode: `\p{L}`.
const BYTES_OF_PROPERTY: u64 = 24 << 10;

/// The same where case is ignored: all other forms of each letter are looked up.
const BYTES_OF_FOLDED_PROPERTY: u64 = 64 << 10;

/// What a range counts for whose end is no ASCII letter, where case is ignored. It takes less
/// memory than this; to look up all of its letters takes as long as reading that much.
const BYTES_OF_FOLDED_RANGE: u64 = 256 << 10;

/// Most memory that reading a pattern takes, in bytes. Linear in the length of the pattern; that
/// of one longer than [`MAX_PATTERN_LENGTH`] is not looked at and has no bound.
#[must_use]
pub fn read_bytes(pattern: &str) -> u64 {
    if pattern.len() > MAX_PATTERN_LENGTH {
        return u64::MAX;
    }
    let is_folded = may_ignore_case(pattern);
    let mut bytes = pattern.len() as u64 * BYTES_OF_LETTER;
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        let more = match letter {
            '\\' => match letters.next() {
                Some('p' | 'P') if is_folded => BYTES_OF_FOLDED_PROPERTY,
                Some('p' | 'P') => BYTES_OF_PROPERTY,
                Some('d' | 'D' | 's' | 'S' | 'w' | 'W') => BYTES_OF_CLASS,
                _ => 0,
            },
            '-' if is_folded => match letters.peek() {
                Some('\\') => BYTES_OF_FOLDED_RANGE,
                Some(end) if !end.is_ascii() => BYTES_OF_FOLDED_RANGE,
                _ => 0,
            },
            _ => 0,
        };
        bytes = bytes.saturating_add(more);
    }
    bytes
}

/// Whether reading a pattern takes little enough memory.
#[must_use]
pub fn is_read(pattern: &str) -> bool {
    read_bytes(pattern) <= MAX_READ_BYTES
}

/// Whether a pattern may have the flag `i` anywhere. More patterns do than have it.
fn may_ignore_case(pattern: &str) -> bool {
    pattern.split('?').skip(1).any(|after| {
        let flags = after.chars();
        let mut flags =
            flags.take_while(|flag| flag.is_alphabetic() || flag.is_whitespace() || *flag == '-');
        flags.any(|flag| flag == 'i')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_people_write_are_read() {
        let time = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})";
        for pattern in [
            "",
            "^[a-z0-9]+(-[a-z0-9]+)*$",
            r"(?i)^[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,}$",
            r"^[\p{L}\p{N}\p{P}\p{S} ]{1,2000}$",
            r"(?i:[à-ÿ]+)",
            &format!("^({time})(/{time})?$"),
            &format!("^({})$", ["Europe/Amsterdam"; 400].join("|")),
        ] {
            assert!(is_read(pattern), "{pattern}: {}", read_bytes(pattern));
        }
    }

    /// What each of these takes was measured, with an allocator that counts.
    #[test]
    fn what_a_pattern_is_read_into_counts_and_not_its_length() {
        let of = |text: &str, times: usize| read_bytes(&text.repeat(times)) / times as u64;
        assert!(of(r"\p{L}", 100) > 5_800);
        assert!(of(r"\P{L}", 100) > 22_000);
        let folded = |text: &str| read_bytes(&format!("(?i:{})", text.repeat(100))) / 100;
        assert!(folded(r"\p{L}") > 43_700);
        assert!(folded(r"\P{Alphabetic}") > 48_900);
        assert!(folded("[\u{100}-\u{20000}]") > 33_300);
        assert!(folded(r"[\x{100}-\x{20000}]") > 33_300);
        assert!(of(r"\w", 100) > 6_700 && of(r"\s", 100) > 3_200);
        assert!(of("(a)", 100) > 613 && of("a?", 100) > 597 && of("a", 100) > 357);
        // An escaped backslash is none of these.
        assert_eq!(of(r"\\p", 100), 3 * BYTES_OF_LETTER);
    }

    #[test]
    fn what_takes_much_memory_is_not_read() {
        let many = |times| r"\p{L}".repeat(times);
        assert!(is_read(&many(100)));
        for pattern in [
            many(1000),
            format!("(?i:{})", many(100)),
            format!("(?i){}", many(100)),
            format!("(?x)( ?i:{})", many(100)),
            format!("(?m-s i:{})", many(100)),
            format!("(?msi-u:{})", many(100)),
            format!("(?i)[{}]", "\u{100}-\u{20000}".repeat(20)),
            r"\d".repeat(600),
            "a".repeat(MAX_PATTERN_LENGTH + 1),
        ] {
            assert!(!is_read(&pattern), "{pattern:.40}");
        }
    }

    #[test]
    fn judging_takes_linear_time() {
        let texts: [(&str, &dyn Fn(usize) -> String); 3] = [
            ("flags", &|size| "?i".repeat(size)),
            ("letters", &|size| format!("?{}", "s".repeat(size))),
            ("escapes", &|size| r"\p-".repeat(size)),
        ];
        for (what, text) in texts {
            dormouse_tests::growth::is_linear(what, 1000, text, |text: &String| {
                std::hint::black_box(may_ignore_case(text));
                std::hint::black_box(read_bytes(text));
            });
        }
    }
}
