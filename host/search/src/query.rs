//! Words that a query asks for: those that tools have, and what stands for them where they have
//! others.

use std::collections::BTreeMap;

use crate::index::SearchIndex;
use crate::literals::{Literal, literals};
use crate::stop_words::{is_stop_word, is_weak_word};
use crate::synonyms::{Nearness, synonyms};
use crate::tool_names::{is_one_letter_off, letters};
use crate::weights::{
    ENDING, IN_LITERAL, MIN_NEARNESS, MISTYPED, PAIR_RARITY, RELATED, SYNONYM, WEAK,
};
use crate::word_vectors::WordVector;
use crate::words::{Word, words};

/// Longest part of a query that is read, in bytes.
const MAX_QUERY_BYTES: usize = 8 << 10;

/// Most words of a query that are looked for.
const MAX_WORDS: usize = 256;

/// Most clauses of a query that are told apart.
pub(crate) const MAX_CLAUSES: usize = 32;

/// Fewest words that say something in a clause.
const MIN_CLAUSE_WORDS: usize = 2;

/// Shortest word that may have been mistyped, in bytes.
const MIN_MISTYPED_BYTES: usize = 4;

/// Most words of a query of which it is looked for what they were mistyped from.
const MAX_MISTYPED_WORDS: usize = 16;

/// Most words of tools that one word may have been mistyped from.
const MAX_MEANT: usize = 4;

/// Most words of tools that are near one in meaning.
const MAX_NEAR: usize = 10;

/// Nearness at which words have one stem, or none that tells them apart.
const SAME_NEARNESS: f32 = 0.985;

/// A word that a query asks for.
#[derive(Debug, Default)]
struct AskedTerm {
    /// Clauses that have it, as bits.
    clauses: u32,
    /// Share of its rarity that it counts.
    share: f32,
}

/// A word of a query.
#[derive(Debug)]
pub(crate) struct QueryWord {
    /// Terms of the index that stand for it, each with what it counts of the word.
    pub(crate) terms: Vec<(u32, f32)>,
    /// Clauses that have it, as bits.
    pub(crate) clauses: u32,
    /// Rarity of the word.
    pub(crate) rarity: f32,
}

/// Returns the part of a query that is read.
pub(crate) fn read_part(query: &str) -> &str {
    query.split_at(query.floor_char_boundary(MAX_QUERY_BYTES)).0
}

/// Returns the words of a query for which tools have something.
pub(crate) fn query_words(query: &str, index: &SearchIndex) -> Vec<QueryWord> {
    let mut mistyped = MAX_MISTYPED_WORDS;
    let asked = asked_terms(query, index).into_iter();
    let words = asked.filter_map(|(stem, asked)| query_word(&stem, &asked, index, &mut mistyped));
    words.collect()
}

/// Returns the stems that a query asks for, and pairs of them, each with the clauses that have it.
fn asked_terms(query: &str, index: &SearchIndex) -> BTreeMap<String, AskedTerm> {
    let literals = literals(query);
    let found = words(query, MAX_WORDS);
    let stems = found.iter().map(|word| index.stems.stem(&word.text));
    let stems: Vec<String> = stems.collect();
    let mut asked: BTreeMap<String, AskedTerm> = BTreeMap::new();
    let (mut clause, mut words_of_clause) = (0, 0);
    let mut end = 0;
    let mut before = "";
    for (place, (word, stem)) in found.iter().zip(&stems).enumerate() {
        let between = query.get(end..word.at).unwrap_or_default();
        if ends_clause(between, &word.text) && words_of_clause >= MIN_CLAUSE_WORDS {
            clause = (clause + 1).min(MAX_CLAUSES - 1);
            words_of_clause = 0;
        }
        end = end.max(word.at + word.text.len());
        let mut ask_for = |term: String, share: f32| {
            let asked = asked.entry(term).or_default();
            asked.clauses |= 1 << clause;
            asked.share = asked.share.max(share);
        };
        let literal = literals.iter().find(|one| one.place.contains(&word.at));
        if let Some(literal) = literal {
            for word in literal.kind {
                ask_for(index.stems.stem(word), 1.0);
            }
        }
        let share = literal.map_or(1.0, |literal| share_in(literal, word));
        let mut ask = |term: String| ask_for(term, share);
        if !is_stop_word(&word.text) {
            words_of_clause += 1;
            ask(stem.clone());
            let pair = format!("{before} {stem}");
            if !word.is_joined && index.term_ids.contains_key(pair.as_str()) {
                ask(pair);
            }
            if !word.is_joined {
                before = stem;
            }
        }
        let Some(next) = stems.get(place + 1) else {
            continue;
        };
        let phrase = format!("{stem} {next}");
        if !synonyms(&phrase).is_empty() {
            ask(phrase);
        }
        let joined = format!("{stem}{next}");
        if index.term_ids.contains_key(joined.as_str()) {
            ask(joined);
        }
    }
    asked
}

/// Returns what a word of a value counts of its rarity.
fn share_in(literal: &Literal, word: &Word) -> f32 {
    let ending = literal.ending.as_ref();
    match ending.is_some_and(|ending| ending.contains(&word.at)) {
        true if !word.is_joined => ENDING,
        _ => IN_LITERAL,
    }
}

/// Checks whether a clause ends between two words.
fn ends_clause(between: &str, next: &str) -> bool {
    const MARKS: [char; 12] = [
        '\n', ';', ',', '!', '?', '。', '，', '；', '、', '！', '？', '•',
    ];
    between.contains(MARKS)
        || between.contains(". ")
        || between.contains(": ")
        || matches!(
            next,
            "and" | "then" | "after" | "before" | "finally" | "also"
        )
}

fn query_word(
    stem: &str,
    asked: &AskedTerm,
    index: &SearchIndex,
    mistyped: &mut usize,
) -> Option<QueryWord> {
    let mut terms: Vec<(u32, f32)> = Vec::new();
    terms.extend(index.term_ids.get(stem).map(|id| (*id, 1.0)));
    for (other, nearness) in synonyms(stem) {
        let share = match nearness {
            Nearness::Same => SYNONYM,
            Nearness::Related => RELATED,
        };
        terms.extend(index.term_ids.get(other.as_str()).map(|id| (*id, share)));
    }
    for (id, share) in near_terms(stem, index) {
        match terms.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => *known = known.max(share),
            None => terms.push((id, share)),
        }
    }
    if terms.is_empty() && stem.len() >= MIN_MISTYPED_BYTES && *mistyped > 0 {
        *mistyped -= 1;
        let wanted = letters(stem);
        let meant = (0..).zip(&index.terms).filter(|(_, term)| {
            (term.letters ^ wanted).count_ones() <= 2 && is_one_letter_off(&term.stem, stem)
        });
        terms.extend(meant.take(MAX_MEANT).map(|(id, _)| (id, MISTYPED)));
    }
    let (first, _) = terms.first()?;
    let rarity = index.rarity(*first);
    // What stands for a word says no more than itself where it is more common.
    for (id, share) in &mut terms {
        *share *= (index.rarity(*id) / rarity).min(1.0);
    }
    let is_pair = stem.contains(' ');
    let said = if is_pair { PAIR_RARITY } else { 1.0 };
    let said = if is_weak_word(stem) {
        said * WEAK
    } else {
        said
    };
    Some(QueryWord {
        terms,
        clauses: asked.clauses,
        rarity: asked.share * said * rarity,
    })
}

/// Returns the terms that are near a word in meaning, each with what it counts of the word.
fn near_terms(stem: &str, index: &SearchIndex) -> Vec<(u32, f32)> {
    let Some(vector) = WordVector::of(stem) else {
        return Vec::new();
    };
    let all = index.vectors.iter();
    let all = all.map(|(id, other)| (*id, vector.nearness(*other)));
    let mut near: Vec<_> = all
        .filter(|(_, nearness)| (MIN_NEARNESS..SAME_NEARNESS).contains(nearness))
        .collect();
    near.sort_by(|(one, nearness), (other, others)| {
        others.total_cmp(nearness).then(one.cmp(other))
    });
    near.truncate(MAX_NEAR);
    let share = |nearness| (nearness - MIN_NEARNESS) / (1.0 - MIN_NEARNESS);
    near.into_iter()
        .map(|(id, nearness)| (id, share(nearness)))
        .collect()
}
