//! Names of tools: found by the whole of them, by their beginning, and with one letter mistyped.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::index::{SearchIndex, ToolName};

/// Longest name that is compared, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// Shortest beginning of a name, and shortest name with a letter mistyped, for which tools come
/// first, in bytes.
const MIN_BEGINNING: usize = 4;

/// Likeness of a query and a name; the better is the greater.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(crate) enum NameMatch {
    /// One letter is another one, more, less or beside its place.
    OneLetterOff,
    /// The name begins with it: by how much of the name it is.
    Beginning(f32),
    /// It is the name but for case and separators, or one of its words that are written as names is.
    Same,
    /// It is the name as it is written, or one of its words is.
    Exact,
}

impl NameMatch {
    /// Returns what it adds to a score, which is less than 1 without.
    pub(crate) fn bonus(self) -> f32 {
        match self {
            Self::OneLetterOff => 1.0,
            Self::Beginning(share) => 2.0 + share,
            Self::Same => 4.0,
            Self::Exact => 8.0,
        }
    }
}

/// Names that a query may have written out.
struct WrittenNames<'q> {
    /// As they are written.
    written: HashSet<&'q str>,
    /// Without case and separators.
    folded: BTreeSet<String>,
}

impl<'q> WrittenNames<'q> {
    /// Reads a query. Of a sentence, words with an underscore are names: `e-mail`, `main.rs` and
    /// `https://` are words, and who names a tool so is not to be found by them.
    fn read(query: &'q str) -> Self {
        let words = query.split_whitespace();
        let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_'));
        let words = words.filter(|word| word.contains('_'));
        let written: HashSet<_> = words.chain([query, query.trim()]).collect();
        let mut folded: BTreeSet<_> = written.iter().map(|name| folded(name)).collect();
        folded.remove("");
        Self { written, folded }
    }
}

/// Tools with a name that is like a query.
struct NameMatches<'i> {
    index: &'i SearchIndex,
    found: HashMap<u32, NameMatch>,
}

impl NameMatches<'_> {
    fn add(&mut self, tool: u32, matched: NameMatch) {
        let known = self.found.entry(tool).or_insert(matched);
        if *known < matched {
            *known = matched;
        }
    }

    /// Adds tools whose names are alike in one way: of each server so many at most, so that names of
    /// one take the place of no other's.
    fn add_alike<'n>(
        &mut self,
        names: impl Iterator<Item = &'n ToolName>,
        most: usize,
        matched: impl Fn(&ToolName) -> NameMatch,
    ) {
        let mut of_server: HashMap<u32, usize> = HashMap::new();
        for name in names {
            let server = self.index.server_of.get(name.tool as usize);
            let number = of_server.entry(server.copied().unwrap_or_default());
            let number = number.or_default();
            if *number < most {
                *number += 1;
                self.add(name.tool, matched(name));
            }
        }
    }
}

/// Returns the tools that are wanted with a name that is like a query, of each server so many at most
/// that are like it in one way, beside those whose name is written there.
pub(crate) fn name_matches(
    query: &str,
    index: &SearchIndex,
    most: usize,
    is_wanted: &impl Fn(u32) -> bool,
) -> HashMap<u32, NameMatch> {
    let mut matches = NameMatches {
        index,
        found: HashMap::new(),
    };
    let wanted = |name: &&ToolName| is_wanted(name.tool);
    let written = WrittenNames::read(query);
    let is_written = |name: &&ToolName| written.written.contains(name.written.as_str());
    for word in &written.folded {
        let same = names_with(word, index).filter(wanted);
        let exact = same.filter(is_written);
        exact.for_each(|name| matches.add(name.tool, NameMatch::Exact));
        let same = names_with(word, index).filter(wanted);
        matches.add_alike(same, most, |_| NameMatch::Same);
    }
    let query = folded(query);
    if query.len() < MIN_BEGINNING {
        return matches.found;
    }
    let begun = names_from(&query, index).iter();
    let begun = begun.take_while(|name| name.name.starts_with(&query));
    let mut begun: Vec<_> = begun.filter(wanted).collect();
    // Those that have least behind it.
    begun.sort_by_key(|name| name.name.len());
    matches.add_alike(begun.into_iter(), most, |name| {
        NameMatch::Beginning(query.len() as f32 / name.name.len() as f32)
    });
    let letters = letters(&query);
    let off = index.names.iter().filter(|name| {
        (name.letters ^ letters).count_ones() <= 2 && is_one_letter_off(&name.name, &query)
    });
    matches.add_alike(off.filter(wanted), most, |_| NameMatch::OneLetterOff);
    matches.found
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
