//! Words of like meaning, from a table that was made by hand.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::words::Stems;

/// The table: one group a line.
const TABLE: &str = include_str!("../data/synonyms.txt");

/// The table's words by their stems, read when it is first asked for.
static SYNONYMS: LazyLock<HashMap<String, Vec<(String, Nearness)>>> = LazyLock::new(|| read(TABLE));

/// Nearness of the meanings of two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nearness {
    /// One may stand for the other.
    Same,
    /// They are about the same things.
    Related,
}

/// Returns the stems of words that mean about what one does, or two with a space between.
pub(crate) fn synonyms(stem: &str) -> &'static [(String, Nearness)] {
    SYNONYMS.get(stem).map_or(&[], Vec::as_slice)
}

fn read(table: &str) -> HashMap<String, Vec<(String, Nearness)>> {
    let stems = Stems::new();
    let mut all: HashMap<String, Vec<(String, Nearness)>> = HashMap::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (nearness, line) = match line.strip_prefix('~') {
            Some(line) => (Nearness::Related, line),
            None => (Nearness::Same, line),
        };
        let words = line.split_whitespace();
        let group: Vec<String> = words.map(|words| stem(words, &stems)).collect();
        for word in &group {
            let known = all.entry(word.clone()).or_default();
            for other in &group {
                let is_known = other == word || known.iter().any(|(known, _)| known == other);
                if !is_known && !other.contains(' ') {
                    known.push((other.clone(), nearness));
                }
            }
        }
    }
    all
}

/// Returns the stem of a word, or those of two that are joined by `_`, with a space between.
fn stem(words: &str, stems: &Stems) -> String {
    let words: Vec<String> = words.split('_').map(|word| stems.stem(word)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_read_in_both_directions() {
        let all = read("# A comment.\nfetch look_up reads\n~ fetch web\n\n");
        let of = |stem: &str| all.get(stem).cloned().unwrap_or_default();
        let same = |word: &str| (word.to_owned(), Nearness::Same);
        let related = ("web".to_owned(), Nearness::Related);
        assert_eq!(of("fetch"), [same("read"), related]);
        assert_eq!(of("look up"), [same("fetch"), same("read")]);
        assert_eq!(of("web"), [("fetch".to_owned(), Nearness::Related)]);
        assert!(of("look").is_empty());
    }

    #[test]
    fn the_table_is_of_words_in_lower_case() {
        for line in TABLE
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            let words = line.strip_prefix("~ ").unwrap_or(line);
            let is_plain = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | ' ');
            assert!(words.chars().all(is_plain), "{line}");
            assert!(words.split(' ').count() > 1, "{line}");
            assert!(
                words.split(' ').all(|word| word.split('_').count() <= 2),
                "{line}"
            );
        }
    }
}
