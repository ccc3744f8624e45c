//! What a query asks for: words that tools have, and what stands for them where they have others.

use crate::index::SearchIndex;
use crate::stop_words::is_stop_word;
use crate::tool_names::{is_one_letter_off, letters};
use crate::words::words;

/// Longest part of a query that is read, in bytes.
const MAX_QUERY_BYTES: usize = 8 << 10;

/// Most words of a query that are looked for.
const MAX_WORDS: usize = 256;

/// Shortest word that may have been mistyped, in bytes.
const MIN_MISTYPED: usize = 4;

/// Most words of tools that one word may have been mistyped from.
const MAX_MISTYPED: usize = 4;

/// A word of a query.
#[derive(Debug)]
pub(crate) struct QueryWord {
    /// Terms of the index that stand for it, each with what it counts; the word itself first.
    pub(crate) terms: Vec<(u32, f32)>,
}

/// Returns the part of a query that is read.
pub(crate) fn read_part(query: &str) -> &str {
    query.split_at(query.floor_char_boundary(MAX_QUERY_BYTES)).0
}

/// Returns the words of a query that some tool has, or has something for.
pub(crate) fn query_words(query: &str, index: &SearchIndex) -> Vec<QueryWord> {
    let found = words(query, MAX_WORDS);
    let stems: Vec<String> = found
        .iter()
        .map(|word| index.stems.stem(&word.text))
        .collect();
    let mut asked: Vec<String> = Vec::new();
    for (place, (word, stem)) in found.iter().zip(&stems).enumerate() {
        if !is_stop_word(&word.text) {
            asked.push(stem.clone());
        }
        if let Some(next) = stems.get(place + 1) {
            let both = format!("{stem} {next}");
            if !index.synonyms.of(&both).is_empty() {
                asked.push(both);
            }
            let joined = format!("{stem}{next}");
            if index.term_ids.contains_key(&joined) {
                asked.push(joined);
            }
        }
    }
    asked.sort();
    asked.dedup();
    let words = asked.iter().map(|stem| query_word(stem, index));
    words.filter(|word| !word.terms.is_empty()).collect()
}

fn query_word(stem: &str, index: &SearchIndex) -> QueryWord {
    let mut terms: Vec<(u32, f32)> = Vec::new();
    let own = index.term_ids.get(stem);
    terms.extend(own.map(|id| (*id, 1.0)));
    for other in index.synonyms.of(stem) {
        let other = index.term_ids.get(other);
        terms.extend(other.map(|id| (*id, index.weights.synonym)));
    }
    if terms.is_empty() && stem.len() >= MIN_MISTYPED {
        let wanted = letters(stem);
        let meant = (0..).zip(&index.terms).filter(|(_, term)| {
            (term.letters ^ wanted).count_ones() <= 2
                && is_one_letter_off(term.stem.as_bytes(), stem.as_bytes())
        });
        terms.extend(
            meant
                .take(MAX_MISTYPED)
                .map(|(id, _)| (id, index.weights.mistyped)),
        );
    }
    QueryWord { terms }
}
