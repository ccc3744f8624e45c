//! Names: whole, cut off and mistyped.

use dormouse_tests::retrieval::RetrievalData;

use super::{retrieval, search, tool};
use crate::tool_names::folded;
use crate::{SearchIndex, SearchOptions};

/// Returns the places of the tools whose folded name is as is said, and an index of all.
fn all() -> (Vec<String>, SearchIndex) {
    let data = RetrievalData::steps();
    let names = data.tools.iter().map(|tool| tool.name.clone());
    (names.collect(), retrieval::index(&data))
}

/// Checks that the first three hits are tools that are wanted, or all of these where there are fewer.
fn first_are(names: &[String], index: &SearchIndex, query: &str, wanted: impl Fn(&str) -> bool) {
    let number = names.iter().filter(|name| wanted(name)).count().min(3);
    let hits = search(index, query, 3);
    assert!(hits.len() >= number, "{query}");
    for hit in &hits[..number] {
        assert!(wanted(&names[*hit]), "{query}: {}", names[*hit]);
    }
}

#[test]
fn every_exact_name_is_first() {
    let (names, index) = all();
    for name in &names {
        let spaced = name.replace(['_', '-'], " ");
        for query in [name, &name.to_uppercase(), &spaced] {
            first_are(&names, &index, query, |found| folded(found) == folded(name));
        }
    }
}

#[test]
fn every_beginning_of_six_letters_finds_its_names() {
    let (names, index) = all();
    for name in &names {
        for end in 6..name.len() {
            let Some(query) = name.get(..end) else {
                continue;
            };
            first_are(&names, &index, query, |found| {
                folded(found).starts_with(&folded(query))
            });
        }
    }
}

#[test]
fn every_name_with_a_letter_mistyped_is_among_the_first_three() {
    let (names, index) = all();
    for (place, name) in names.iter().enumerate().filter(|(_, name)| name.len() >= 6) {
        let letters: Vec<char> = name.chars().collect();
        // Every third place, so that it does not take long.
        for at in (place % 3..letters.len()).step_by(3) {
            let mut exchanged = letters.clone();
            exchanged.swap(at, (at + 1) % letters.len());
            let mut changed = letters.clone();
            changed[at] = 'q';
            let mut longer = letters.clone();
            longer.insert(at, 'x');
            let mut shorter = letters.clone();
            shorter.remove(at);
            let is_last = at + 1 == letters.len();
            let queries = [changed, longer, shorter].into_iter();
            for query in queries.chain((!is_last).then_some(exchanged)) {
                let query: String = query.into_iter().collect();
                let hits = search(&index, &query, 3);
                let found = hits.iter().any(|hit| folded(&names[*hit]) == folded(name));
                assert!(found, "{query} for {name}: {hits:?}");
            }
        }
    }
}

#[test]
fn a_name_in_a_sentence_is_first() {
    let index = SearchIndex::new([
        tool("files", "open", "Opens a file to read its text."),
        tool("files", "read_text_file", "Text."),
    ]);
    let hits = index.search(
        "use `read_text_file`, open the file",
        &SearchOptions::default(),
    );
    assert_eq!(hits[0].tool, 1);
}
