//! Canonical form of JSON texts, by which their meanings are compared.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

/// Most levels of a value: deeper ones are not shown.
const MAX_DEPTH: usize = 100;

/// Returns a value in canonical form: members sorted, no white space, strings with as few escapes
/// as can be, numbers as they are written. None where an object has two members of one name, so
/// that readers would not agree on its meaning, or where it is too deep. Takes time in proportion
/// to the length of the text, however deep the value is.
pub(in super::super) fn canonical(text: &str) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let value = Scanner { text, at: 0 }.value(MAX_DEPTH)?;
    let mut canonical = String::with_capacity(text.len());
    value.write(&mut canonical)?;
    Some(canonical)
}

/// JSON value by its parts.
enum CanonicalValue<'t> {
    /// Number, `true`, `false` or `null`, as it is written.
    Word(&'t str),
    Text(String),
    List(Vec<Self>),
    Object(BTreeMap<String, Self>),
}

impl CanonicalValue<'_> {
    fn write(&self, to: &mut String) -> Option<()> {
        match self {
            Self::Word(word) => to.push_str(word),
            Self::Text(text) => to.push_str(&serde_json::to_string(text).ok()?),
            Self::List(items) => {
                to.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        to.push(',');
                    }
                    item.write(to)?;
                }
                to.push(']');
            }
            Self::Object(members) => {
                to.push('{');
                for (index, (name, member)) in members.iter().enumerate() {
                    if index > 0 {
                        to.push(',');
                    }
                    to.push_str(&serde_json::to_string(name).ok()?);
                    to.push(':');
                    member.write(to)?;
                }
                to.push('}');
            }
        }
        Some(())
    }
}

/// Reader of a text that is known to be JSON, in one pass. `serde_json` returns either the text of
/// a value, which is then read again for each level around it, or its numbers without their text.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    /// Reads a value that may have `depth` levels within it.
    fn value(&mut self, depth: usize) -> Option<CanonicalValue<'t>> {
        Some(match self.next()? {
            b'{' => {
                self.at += 1;
                let mut members = BTreeMap::new();
                while self.goes_on(b'}')? {
                    let name = self.string()?;
                    // White space and the colon.
                    self.next()?;
                    self.at += 1;
                    let value = self.value(depth.checked_sub(1)?)?;
                    if members.insert(name, value).is_some() {
                        return None;
                    }
                }
                CanonicalValue::Object(members)
            }
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                while self.goes_on(b']')? {
                    items.push(self.value(depth.checked_sub(1)?)?);
                }
                CanonicalValue::List(items)
            }
            b'"' => CanonicalValue::Text(self.string()?),
            _ => {
                let rest = self.text.get(self.at..)?;
                let is_behind = |letter: char| {
                    matches!(letter, ',' | ']' | '}') || letter.is_ascii_whitespace()
                };
                let word = rest.get(..rest.find(is_behind).unwrap_or(rest.len()))?;
                self.at += word.len();
                CanonicalValue::Word(word)
            }
        })
    }

    /// Returns the next byte that is not white space, and moves up to it.
    fn next(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let blanks = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        self.at += blanks;
        rest.get(blanks).copied()
    }

    /// Checks whether another item follows after a comma, or else the end.
    fn goes_on(&mut self, end: u8) -> Option<bool> {
        let mut next = self.next()?;
        if next == b',' {
            self.at += 1;
            next = self.next()?;
        }
        if next == end {
            self.at += 1;
        }
        Some(next != end)
    }

    fn string(&mut self) -> Option<String> {
        self.next()?;
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        loop {
            let is_special = |byte: &u8| matches!(byte, b'"' | b'\\');
            end += bytes.get(end..)?.iter().position(is_special)?;
            if bytes.get(end) == Some(&b'"') {
                break;
            }
            // A backslash, and what it escapes.
            end += 2;
        }
        let written = self.text.get(self.at..=end)?;
        self.at = end + 1;
        // None of what is only half of a character.
        serde_json::from_str(written).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_content_is_one_text() {
        for (text, expected) in [
            (
                r#" { "b" : 1 , "a" : [ 1.10 , "\u0061" ] } "#,
                r#"{"a":[1.10,"a"],"b":1}"#,
            ),
            (r#""\u00e4""#, "\"ä\""),
            ("[{}, [], null, true]", "[{},[],null,true]"),
            (
                "123456789012345678901234567890",
                "123456789012345678901234567890",
            ),
            (
                " {\n\"a\\\"\\\\\" : [ { } , [ ] , -0.0e1\t] ,\r\"\" : \"]}\\\\\" } ",
                r#"{"":"]}\\","a\"\\":[{},[],-0.0e1]}"#,
            ),
            (" 7 ", "7"),
        ] {
            assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_has_none() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"x":[{"y":{"a":1,"b":2,"a":3}}]}"#,
            r#"{"a":"\ud800"}"#,
            "",
            "{",
            "[1,]",
            "[1 2]",
            "1 1",
        ] {
            assert_eq!(canonical(text), None, "{text}");
        }
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(canonical(&deep(MAX_DEPTH)).is_some());
        assert_eq!(canonical(&deep(100_000)), None);
    }

    #[test]
    fn one_content_takes_linear_time() {
        let objects = |size: usize| {
            let members = (0..size).map(|number| format!(r#""m{number}":[{number},"\u0061"]"#));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        };
        let blanks = |size: usize| format!("[{}1{}]", " ".repeat(size), " ".repeat(size));
        let escapes = |size: usize| format!("[\"{}\"]", r"\\".repeat(size));
        let inputs: [(&str, &dyn Fn(usize) -> String); 3] = [
            ("members", &objects),
            ("blanks", &blanks),
            ("escapes", &escapes),
        ];
        for (what, input) in inputs {
            dormouse_tests::growth::is_linear(what, 2_000, input, |text| {
                std::hint::black_box(canonical(text).unwrap());
            });
        }
    }

    #[test]
    fn a_deep_text_takes_no_longer_than_a_flat_one() {
        let within = |levels: usize| {
            let text = "x\\n".repeat(100_000);
            format!("{}\"{text}\"{}", "[".repeat(levels), "]".repeat(levels))
        };
        let time = |text: &str| {
            let times = (0..5).map(|_| {
                let start = dormouse_tests::growth::cpu_time();
                // Some systems count time in steps of milliseconds.
                for _ in 0..20 {
                    std::hint::black_box(canonical(text).unwrap());
                }
                dormouse_tests::growth::cpu_time().saturating_sub(start)
            });
            times.min().unwrap()
        };
        let (flat, deep) = (time(&within(1)), time(&within(MAX_DEPTH)));
        assert!(
            deep < flat * 4,
            "{deep:?} for a deep one, {flat:?} for a flat one"
        );
    }
}
