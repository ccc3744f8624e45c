//! Names of tools: found by the whole of them, by their beginning, and with one letter mistyped.

use std::collections::HashMap;

use crate::index::{SearchIndex, ToolName};

/// Longest name that is compared, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// Shortest beginning of a name, and shortest name with a letter mistyped, for which tools come
/// first, in bytes.
const MIN_BEGINNING: usize = 4;

/// Most names that are like a query in one way.
const MAX_MATCHES: usize = 300;

/// Likeness of a query and a name; the better is the greater.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(crate) enum NameMatch {
    /// One letter is another one, more, less or beside its place.
    OneLetterOff,
    /// The name begins with it: by how much of the name it is.
    Beginning(f32),
    /// It is the name, or one of its words that are written as names is.
    Same,
}

impl NameMatch {
    /// Returns what it adds to a score, which is less than 1 without.
    pub(crate) fn bonus(self) -> f32 {
        match self {
            Self::OneLetterOff => 1.0,
            Self::Beginning(share) => 2.0 + share,
            Self::Same => 4.0,
        }
    }
}

/// Returns the tools that are wanted with a name that is like a query.
pub(crate) fn name_matches(
    query: &str,
    index: &SearchIndex,
    is_wanted: &impl Fn(u32) -> bool,
) -> HashMap<u32, NameMatch> {
    let mut matches: HashMap<u32, NameMatch> = HashMap::new();
    let mut add = |tool: u32, matched: NameMatch| {
        let known = matches.entry(tool).or_insert(matched);
        if *known < matched {
            *known = matched;
        }
    };
    let wanted = |name: &&ToolName| is_wanted(name.tool);
    for word in query.split_whitespace() {
        // A word of a sentence is a name only where it is written as one.
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        if word.contains(['_', '-', '.', '/', ':']) {
            let word = folded(word);
            let same = names_with(&word, index).filter(wanted);
            same.take(MAX_MATCHES)
                .for_each(|name| add(name.tool, NameMatch::Same));
        }
    }
    let query = folded(query);
    let same = names_with(&query, index).filter(wanted);
    same.take(MAX_MATCHES)
        .for_each(|name| add(name.tool, NameMatch::Same));
    if query.len() < MIN_BEGINNING {
        return matches;
    }
    let begun = names_from(&query, index).iter();
    let begun = begun.take_while(|name| name.name.starts_with(&query));
    let mut begun: Vec<_> = begun.filter(wanted).collect();
    // Those that have least behind it.
    begun.sort_by_key(|name| name.name.len());
    for name in begun.into_iter().take(MAX_MATCHES) {
        let share = query.len() as f32 / name.name.len() as f32;
        add(name.tool, NameMatch::Beginning(share));
    }
    let letters = letters(&query);
    let off = index.names.iter().filter(|name| {
        (name.letters ^ letters).count_ones() <= 2 && is_one_letter_off(&name.name, &query)
    });
    let off = off.filter(wanted).take(MAX_MATCHES);
    off.for_each(|name| add(name.tool, NameMatch::OneLetterOff));
    matches
}

/// Returns the names that are not before one, in their order.
fn names_from<'i>(name: &str, index: &'i SearchIndex) -> &'i [ToolName] {
    let begin = index
        .names
        .partition_point(|found| found.name.as_str() < name);
    index.names.get(begin..).unwrap_or_default()
}

/// Returns the names that are the same as one: none of the empty one.
fn names_with<'i>(name: &'i str, index: &'i SearchIndex) -> impl Iterator<Item = &'i ToolName> {
    let found = names_from(name, index).iter();
    found.take_while(move |found| !name.is_empty() && found.name == name)
}

/// Returns a name without what people write in different ways: case and separators.
pub(crate) fn folded(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    let mut folded = String::new();
    for letter in letters.flat_map(char::to_lowercase) {
        if folded.len() >= MAX_NAME_BYTES {
            break;
        }
        folded.push(letter);
    }
    folded
}

/// Checks whether two words differ by one letter at most: another one, one more, one less, or two
/// beside each other exchanged. (Of other scripts than Latin, by one byte of a letter.)
pub(crate) fn is_one_letter_off(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    if one.len().abs_diff(other.len()) > 1 {
        return false;
    }
    while let ([first, one_rest @ ..], [other_first, other_rest @ ..]) = (one, other)
        && first == other_first
    {
        (one, other) = (one_rest, other_rest);
    }
    while let ([one_rest @ .., last], [other_rest @ .., other_last]) = (one, other)
        && last == other_last
    {
        (one, other) = (one_rest, other_rest);
    }
    match (one, other) {
        ([a, b], [c, d]) => a == d && b == c,
        _ => one.len() <= 1 && other.len() <= 1,
    }
}

/// Returns which letters and digits a word has, as bits: words that differ by one letter differ by
/// two bits at most.
pub(crate) fn letters(word: &str) -> u64 {
    let bits = word.bytes().map(|byte| match byte {
        b'a'..=b'z' => 1 << (byte - b'a'),
        b'0'..=b'9' => 1 << (26 + byte - b'0'),
        // Letters of other scripts are several bytes: the same bit for all.
        _ => 1 << 36,
    });
    bits.fold(0, |all, bit: u64| all | bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_one_letter_mistyped_are_like_each_other() {
        for (one, other, are_alike) in [
            ("search", "search", true),
            ("search", "serch", true),
            ("search", "searrch", true),
            ("search", "saerch", true),
            ("search", "xearch", true),
            ("search", "searcg", true),
            ("search", "sarech", false),
            ("search", "serc", false),
            ("search", "seerhc", false),
            ("", "a", true),
            ("", "", true),
        ] {
            assert_eq!(is_one_letter_off(one, other), are_alike, "{one} {other}");
            assert_eq!(is_one_letter_off(other, one), are_alike, "{other} {one}");
            let differing = letters(one) ^ letters(other);
            assert!(!are_alike || differing.count_ones() <= 2, "{one} {other}");
        }
    }

    #[test]
    fn case_and_separators_do_not_count() {
        for name in [
            "read_text_file",
            "readTextFile",
            "Read-Text File",
            "read.text/file",
        ] {
            assert_eq!(folded(name), "readtextfile");
        }
        assert_eq!(folded("_-./"), "");
        assert_eq!(folded(&"a".repeat(10_000)).len(), MAX_NAME_BYTES);
    }
}
