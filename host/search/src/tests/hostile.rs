//! Tools that want to be found by everything, and queries that are no questions.

use dormouse_tests::retrieval::{RetrievalData, RetrievalTool};

use super::{retrieval, search, tool};
use crate::SearchIndex;

/// Returns all words of the queries and of the tools' names, in order.
fn all_words(data: &RetrievalData) -> String {
    let queries = data.queries.iter().map(|query| query.text.as_str());
    let names = data.tools.iter().map(|tool| tool.name.as_str());
    let mut words: Vec<&str> = queries
        .chain(names)
        .flat_map(|text| text.split(' '))
        .collect();
    words.sort_unstable();
    words.dedup();
    words.join(" ")
}

fn stuffed(name: &str, description: String) -> RetrievalTool {
    RetrievalTool {
        server: "hostile".to_owned(),
        name: name.to_owned(),
        description,
        input_schema: "{}".to_owned(),
    }
}

/// Returns for how many queries the first hit, and how many of the first five, are of the tools from
/// a place on, and how often a wanted tool is among five.
fn captured(data: &RetrievalData, from: usize) -> (usize, usize, f64) {
    let index = retrieval::index(data);
    let hits: Vec<_> = data
        .queries
        .iter()
        .map(|query| search(&index, &query.text, 5))
        .collect();
    let first = hits
        .iter()
        .filter(|hits| hits.first().is_some_and(|hit| *hit >= from));
    let five = hits.iter().flatten().filter(|hit| **hit >= from);
    let recall = data
        .ranks(|query, limit| search(&index, query, limit))
        .recall(5);
    (first.count(), five.count(), recall)
}

/// A server that says all words there are, whether once in each of its tools, again and again, or in
/// parts, is first for nearly nothing.
#[test]
fn descriptions_that_are_stuffed_with_words_do_not_come_first() {
    let data = RetrievalData::steps();
    let (from, words) = (data.tools.len(), all_words(&data));
    let (_, _, honest) = captured(&data, from);
    let parts: Vec<&str> = words.split(' ').collect();
    let in_parts = parts.chunks(60).enumerate();
    let in_parts =
        in_parts.map(|(number, words)| stuffed(&format!("best{number}"), words.join(" ")));
    for (what, tools) in [
        ("once", vec![stuffed("best_tool", words.clone())]),
        ("often", vec![stuffed("best_tool", words.repeat(20))]),
        (
            "twenty",
            (0..20).map(|_| stuffed("best", words.clone())).collect(),
        ),
        ("in parts", in_parts.collect()),
    ] {
        let mut data = RetrievalData::steps();
        data.tools.extend(tools);
        let (first, five, recall) = captured(&data, from);
        let queries = data.queries.len();
        assert!(first * 20 <= queries, "{what}: {first} of {queries}");
        assert!(
            five * 10 <= 5 * queries,
            "{what}: {five} of {}",
            5 * queries
        );
        assert!(
            recall >= honest - 0.06,
            "{what}: {recall} instead of {honest}"
        );
    }
}

#[test]
fn a_word_counts_no_more_for_being_repeated() {
    let honest = "Reads an invoice and returns its total.";
    let stuffed = "invoice ".repeat(500);
    let index = SearchIndex::new([
        tool("spam", "spam", &stuffed),
        tool("books", "read_invoice", honest),
    ]);
    assert_eq!(search(&index, "total of an invoice", 1), [1]);
    assert_eq!(search(&index, "invoice", 1), [1]);
}

#[test]
fn queries_of_any_text_are_answered() {
    let index = SearchIndex::new([tool("files", "read_file", "Reads a file. 读取文件 🐭")]);
    let long = "read a file, and then ".repeat(50_000);
    for query in [
        "",
        " ",
        "?!.,;:()[]{}\"'`~@#$%^&*-_=+/\\|<>",
        "🐭🐭🐭",
        "\u{0}\u{1}\u{7f}\u{feff}",
        "的",
        "文件を読む",
        &"a".repeat(1 << 20),
        &"文".repeat(1 << 19),
        &"_".repeat(1 << 20),
        &long,
    ] {
        let hits = search(&index, query, 10);
        assert!(hits.len() <= 1);
    }
    assert_eq!(search(&index, &long, 10), [0]);
    assert_eq!(search(&index, "文件を読む", 10), [0]);
    assert!(search(&index, "read", 0).is_empty());
    assert!(SearchIndex::new([]).is_empty());
    assert!(search(&SearchIndex::new([]), "read", 10).is_empty());
    assert_eq!(search(&index, "read", usize::MAX), [0]);
}

#[test]
fn names_that_are_nothing_are_no_hits_for_nothing() {
    let index = SearchIndex::new([tool("", "", ""), tool("a", "___", "x")]);
    assert!(search(&index, "", 10).is_empty());
    assert!(search(&index, "___", 10).is_empty());
    assert_eq!(search(&index, "x", 10), [1]);
}

#[test]
fn a_search_is_the_same_each_time_and_equal_tools_keep_their_order() {
    let tools: Vec<_> = (0..50)
        .map(|_| tool("a", "same_tool", "The same."))
        .collect();
    let index = SearchIndex::new(tools);
    let hits = search(&index, "same tool", 20);
    assert_eq!(hits, (0..20).collect::<Vec<_>>());
    assert_eq!(hits, search(&index, "same tool", 20));
}
