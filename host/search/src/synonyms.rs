//! Words of like meaning, from a table that was made by hand.

use std::collections::HashMap;

use crate::words::Stems;

/// The table: one group a line.
const TABLE: &str = include_str!("synonyms.txt");

/// Words of like meaning, by their stems.
pub(crate) struct Synonyms(HashMap<String, Vec<String>>);

impl Synonyms {
    pub(crate) fn new(stems: &Stems) -> Self {
        let mut all: HashMap<String, Vec<String>> = HashMap::new();
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let group: Vec<String> = line
                .split_whitespace()
                .map(|word| stem(word, stems))
                .collect();
            for word in &group {
                let others = group
                    .iter()
                    .filter(|other| *other != word && !other.contains(' '));
                let known = all.entry(word.clone()).or_default();
                for other in others {
                    if !known.contains(other) {
                        known.push(other.clone());
                    }
                }
            }
        }
        Self(all)
    }

    /// Returns the stems of words that mean about the same as one, or as two with a space between.
    pub(crate) fn of(&self, stem: &str) -> &[String] {
        self.0.get(stem).map_or(&[], Vec::as_slice)
    }
}

/// Returns the stems of one word, or of two that are joined by `_`, with a space between.
fn stem(words: &str, stems: &Stems) -> String {
    let words: Vec<String> = words.split('_').map(|word| stems.stem(word)).collect();
    words.join(" ")
}
