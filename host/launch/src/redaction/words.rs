//! The words of a line, as shells take them.

/// Splits a line into its words. What stands in quotes is one word, without them, and a part of one
/// behind a `=` or a `:`. Quotes that end nowhere part words as blanks do.
pub(super) fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(rest) = line.get(at..)
        && let Some(found) = rest.find([' ', '\t', '\n', '\'', '"'])
    {
        let mark = at + found;
        let before = line.get(start..mark).unwrap_or_default();
        let begins = before.is_empty() || before.ends_with(['=', ':']);
        let behind = line.get(mark + 1..).unwrap_or_default();
        let quote = rest.get(found..).and_then(|rest| rest.chars().next());
        let quote = quote.filter(|letter| begins && matches!(letter, '\'' | '"'));
        match quote.and_then(|quote| behind.find(quote)) {
            Some(length) => {
                at = mark + length + 2;
                if before.is_empty() {
                    words.extend(behind.get(..length));
                    start = at;
                }
            }
            None => {
                words.push(before);
                at = mark + 1;
                start = at;
            }
        }
    }
    words.extend(line.get(start..));
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn quotes_keep_a_word_together() {
        for (line, expected) in [
            ("a b\tc", &["a", "b", "c"][..]),
            ("a 'b c' d", &["a", "b c", "d"]),
            ("A='b c' \"d e\"f", &["A='b c'", "d e", "f"]),
            ("it's Bob's \"x", &["it", "s", "Bob", "s", "x"]),
            ("-H 'A: \"b c\"'", &["-H", "A: \"b c\""]),
            ("é'ö ü' 'ö ü'", &["é", "ö", "ü", "ö ü"]),
            ("", &[]),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }
}
