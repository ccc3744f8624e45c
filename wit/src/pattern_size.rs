//! Memory that reading a regular expression may take, estimated before it is read.
//!
//! `regex` bounds the automaton that it makes of a pattern, but not the syntax that it reads the
//! pattern into before: each `\p{L}` becomes a list of nearly 700 ranges, and of several times as
//! many where case is ignored. A pattern of some kilobytes would take hundreds of megabytes,
//! whatever the limit on its automaton. So patterns of strangers are judged here before anything
//! reads them: by their syntax tree, in which no class is expanded yet.

use std::convert::Infallible;

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{
    self, Ast, ClassBracketed, ClassPerl, ClassPerlKind, ClassSet, ClassSetItem, Visitor,
};

/// Longest pattern that is ever read, in bytes.
pub const MAX_PATTERN_LENGTH: usize = 8 << 10;

/// Most memory that reading one pattern may take, in bytes.
pub const MAX_READ_BYTES: u64 = 4 << 20;

/// Memory that reading takes for each byte of a pattern, in bytes.
const BYTES_OF_LETTER: u64 = 400;

/// Memory that reading takes for an escape of a class of letters (`\d`, `\s`, `\w`), in bytes.
const BYTES_OF_CLASS: u64 = 8 << 10;

/// Memory that reading takes for an escape of a property of Unicode (`\p{L}`), in bytes.
const BYTES_OF_PROPERTY: u64 = 24 << 10;

/// Memory that counts for each byte of a pattern and each escape of a control character (`\cA`) in
/// it: what translates these begins anew at each.
const BYTES_OF_LETTER_AND_CONTROL: u64 = 40;

/// Number of letters in a class that count as one byte where case is ignored: all other forms of
/// each letter are looked up. That takes less memory, but as long as reading that much.
const FOLDED_LETTERS_OF_BYTE: u64 = 4;

/// Most letters of a class that may have other forms.
const MAX_LETTERS_WITH_FORMS: u64 = 12_000;

/// Memory that reading takes for each letter with other forms, in bytes, time counted as memory.
const BYTES_OF_LETTER_WITH_FORMS: u64 = 2;

/// Most letters of a class.
const MAX_LETTERS: u64 = 0x11_0000;

/// Most letters of `\w`.
const MAX_WORD_LETTERS: u64 = 150_000;

/// Cost of reading a class or a part of one.
#[derive(Clone, Copy, Default)]
struct ClassCost {
    /// Most letters in it.
    letters: u64,
    /// Memory that reading it takes, in bytes.
    bytes: u64,
}

/// Reading of classes, with or without regard to case.
#[derive(Clone, Copy)]
struct Reading {
    is_folded: bool,
}

/// Visitor that adds up the memory that reading the classes of a pattern takes, in bytes.
struct ClassBytes {
    reading: Reading,
    bytes: u64,
}

impl Reading {
    /// Returns the cost of looking up the other forms of so many letters, in bytes.
    fn folding(self, letters: u64) -> u64 {
        match self.is_folded {
            true => {
                let with_forms = letters.min(MAX_LETTERS_WITH_FORMS);
                with_forms * BYTES_OF_LETTER_WITH_FORMS + letters / FOLDED_LETTERS_OF_BYTE
            }
            false => 0,
        }
    }

    fn perl(class: &ClassPerl) -> ClassCost {
        let letters = match class.kind {
            _ if class.negated => MAX_LETTERS,
            ClassPerlKind::Word => MAX_WORD_LETTERS,
            ClassPerlKind::Digit | ClassPerlKind::Space => 1000,
        };
        ClassCost {
            letters,
            bytes: BYTES_OF_CLASS,
        }
    }

    fn property(self) -> ClassCost {
        ClassCost {
            letters: MAX_LETTERS,
            bytes: BYTES_OF_PROPERTY + self.folding(MAX_LETTERS),
        }
    }

    fn bracketed(self, class: &ClassBracketed) -> ClassCost {
        let inner = self.set(&class.kind);
        ClassCost {
            letters: if class.negated {
                MAX_LETTERS
            } else {
                inner.letters
            },
            bytes: inner.bytes + self.folding(inner.letters),
        }
    }

    /// Returns the cost of the content of brackets. It recurses into each level of nested classes,
    /// which the parser bounds.
    fn set(self, set: &ClassSet) -> ClassCost {
        match set {
            ClassSet::Item(item) => self.item(item),
            ClassSet::BinaryOp(operation) => {
                // The letters of both sides are looked up by each operation.
                let [left, right] = [&operation.lhs, &operation.rhs].map(|side| self.set(side));
                let looked_up = self.folding(left.letters) + self.folding(right.letters);
                left.and(right).and_bytes(looked_up)
            }
        }
    }

    fn item(self, item: &ClassSetItem) -> ClassCost {
        let of_letters = |letters| ClassCost { letters, bytes: 0 };
        match item {
            ClassSetItem::Empty(_) => ClassCost::default(),
            ClassSetItem::Literal(_) => of_letters(1),
            ClassSetItem::Range(range) => {
                let [start, end] = [range.start.c, range.end.c].map(u64::from);
                of_letters(end.saturating_sub(start) + 1)
            }
            ClassSetItem::Ascii(class) if class.negated => {
                of_letters(MAX_LETTERS).and_bytes(self.folding(128))
            }
            ClassSetItem::Ascii(_) => of_letters(128).and_bytes(self.folding(128)),
            ClassSetItem::Unicode(_) => self.property(),
            ClassSetItem::Perl(class) => Self::perl(class),
            ClassSetItem::Bracketed(class) => self.bracketed(class),
            ClassSetItem::Union(union) => {
                let items = union.items.iter().map(|item| self.item(item));
                items.fold(ClassCost::default(), ClassCost::and)
            }
        }
    }
}

impl ClassCost {
    fn and(self, other: Self) -> Self {
        Self {
            letters: (self.letters + other.letters).min(MAX_LETTERS),
            bytes: self.bytes + other.bytes,
        }
    }

    fn and_bytes(self, bytes: u64) -> Self {
        Self {
            bytes: self.bytes + bytes,
            ..self
        }
    }
}

impl Visitor for ClassBytes {
    type Output = u64;
    type Err = Infallible;

    fn finish(self) -> Result<u64, Infallible> {
        Ok(self.bytes)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        let cost = match ast {
            Ast::ClassUnicode(_) => self.reading.property(),
            Ast::ClassPerl(class) => Reading::perl(class),
            Ast::ClassBracketed(class) => self.reading.bracketed(class),
            _ => ClassCost::default(),
        };
        self.bytes += cost.bytes;
        Ok(())
    }
}

/// Returns the most memory that reading a pattern takes, in bytes, with time counted as memory.
/// Linear in the length of the pattern; a pattern longer than [`MAX_PATTERN_LENGTH`] is not read
/// and counts as `u64::MAX`.
#[must_use]
pub fn read_bytes(pattern: &str) -> u64 {
    if pattern.len() > MAX_PATTERN_LENGTH {
        return u64::MAX;
    }
    let reading = Reading {
        is_folded: may_ignore_case(pattern),
    };
    let classes = match Parser::new().parse(pattern) {
        Ok(ast) => {
            let counted = ast::visit(&ast, ClassBytes { reading, bytes: 0 });
            counted.unwrap_or_else(|never| match never {})
        }
        // The pattern has syntax of another dialect: look-around, say.
        Err(_) => class_bytes_of_text(pattern, reading),
    };
    let length = pattern.len() as u64;
    let controls = pattern.matches(r"\c").count() as u64;
    let translating = length * controls * BYTES_OF_LETTER_AND_CONTROL;
    (length * BYTES_OF_LETTER)
        .saturating_add(classes)
        .saturating_add(translating)
}

/// Returns the most memory that reading the classes of a pattern of any dialect takes, in bytes:
/// each class is taken to have all letters.
fn class_bytes_of_text(pattern: &str, reading: Reading) -> u64 {
    let mut bytes = 0_u64;
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        bytes += match letter {
            '\\' => match letters.next() {
                Some('p' | 'P') => reading.property().bytes,
                Some('d' | 'D' | 's' | 'S' | 'w' | 'W') => BYTES_OF_CLASS,
                _ => 0,
            },
            '[' => reading.folding(MAX_LETTERS),
            // Operations on classes look up the letters of both sides.
            '&' | '-' | '~' if letters.peek() == Some(&letter) => reading.folding(2 * MAX_LETTERS),
            _ => 0,
        };
    }
    bytes
}

/// Checks whether reading a pattern takes little enough memory.
#[must_use]
pub fn is_read(pattern: &str) -> bool {
    read_bytes(pattern) <= MAX_READ_BYTES
}

/// Checks whether a pattern may have the flag `i` anywhere, in any dialect. It may say so of
/// patterns without the flag.
fn may_ignore_case(pattern: &str) -> bool {
    pattern.split('?').skip(1).any(|after| {
        let rest = after.trim_start_matches(is_flag);
        let flags = after.strip_suffix(rest).unwrap_or_default();
        // A comment may be among them, and the flag behind it.
        flags.contains('i') || rest.starts_with('#')
    })
}

fn is_flag(letter: char) -> bool {
    letter.is_alphabetic() || letter.is_whitespace() || letter == '-'
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
            r"(?i)^(https?://)?([\w-]+\.)+[a-z]{2,6}(:\d{1,5})?(/[\w./-]*)*(\?[^#\s]*)?(#\S*)?$",
            r"^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[@$!%*?&])[A-Za-z\d@$!%*?&]{8,}$",
            &format!("^({time})(/{time})?$"),
            &format!("^({})$", ["Europe/Amsterdam"; 400].join("|")),
            r"^[^\cA-\cZ]*\cM?\cJ$",
        ] {
            assert!(is_read(pattern), "{pattern}: {}", read_bytes(pattern));
        }
    }

    /// The memory of each of these was measured with a counting allocator.
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
            format!("(?i){}", "[\u{100}-\u{20000}]".repeat(150)),
            // White space and comments may stand within a class.
            format!("(?xi){}", "[\u{100}- \u{10ffff}]".repeat(100)),
            format!("(?xi){}", "[\u{100}-#\n\u{10ffff}]".repeat(100)),
            format!("(?x)(?i:{})", "[\u{100} - \u{10ffff}]".repeat(100)),
            // Classes of few letters have all others within another class.
            format!("(?i){}", "[[^a]]".repeat(100)),
            format!("(?i){}a{}", "[^".repeat(100), "]".repeat(100)),
            format!("(?i){}", r"[\W]".repeat(100)),
            format!("(?i){}", "[[:^alpha:]]".repeat(100)),
            format!("(?i){}", r"\p{Any}".repeat(100)),
            // Nearly all letters that have other forms are between these.
            format!("(?i){}", "[K-\u{212a}]".repeat(300)),
            // Each operation looks up the letters of both sides.
            format!("(?i)[\u{100}-\u{10ffff}{}]", "--a".repeat(100)),
            format!("(?i)[\u{100}-\u{10ffff}{}]", "~~a".repeat(100)),
            format!("(?i)[{}]", vec!["[^a]"; 100].join("&&")),
            // Of what only other dialects know each class is taken to have all letters.
            format!("(?=a)(?i){}", "[[^a]]".repeat(100)),
            format!("(?x)(? #\n i:{})(?=a)", "[[^a]]".repeat(100)),
            r"\d".repeat(600),
            r"\cA".repeat(300),
            "a".repeat(MAX_PATTERN_LENGTH + 1),
        ] {
            assert!(!is_read(&pattern), "{pattern:.40}");
        }
    }

    #[test]
    fn judging_takes_linear_time() {
        let texts: [(&str, &dyn Fn(usize) -> String); 6] = [
            ("flags", &|size| "?i".repeat(size)),
            ("letters", &|size| format!("?{}", "s".repeat(size))),
            ("escapes", &|size| r"\p-".repeat(size)),
            ("classes", &|size| "[a-z[^b]&&c]".repeat(size / 4)),
            ("ranges", &|size| format!("[{}]", "a-z".repeat(size))),
            ("look-ahead", &|size| {
                format!("(?=a){}", "[a&&b]".repeat(size / 4))
            }),
        ];
        for (what, text) in texts {
            dormouse_tests::growth::is_linear(what, 1000, text, |text: &String| {
                std::hint::black_box(may_ignore_case(text));
                std::hint::black_box(read_bytes(text));
            });
        }
    }
}
