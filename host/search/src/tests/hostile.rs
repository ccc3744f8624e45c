//! Tools that want to be found by everything, and queries that are no questions.

use dormouse_tests::retrieval::{RetrievalData, RetrievalTool};

use super::{retrieval, search, tool};
use crate::{SearchIndex, SearchOptions, ToolDocument};

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

/// Returns the share of queries whose tool is among ten where there are these tools, too.
fn found_beside(tools: Vec<RetrievalTool>) -> f64 {
    let mut data = RetrievalData::steps();
    data.tools.extend(tools);
    let index = retrieval::index(&data);
    let ranks = data.ranks(|query, limit| search(&index, query, limit));
    ranks.recall(10)
}

/// A server with hundreds of tools that are named and described by what others are asked for, or by
/// the queries themselves, takes places of the first ten, and the tools that fit keep theirs.
#[test]
fn many_stuffed_tools_take_the_place_of_no_tool_that_fits() {
    let data = RetrievalData::steps();
    let honest = found_beside(Vec::new());
    let words = all_words(&data);
    let of_names = data.tools.iter();
    let of_names = of_names.map(|tool| stuffed(&tool.name, String::new()));
    let copies = data.tools.iter().map(|tool| RetrievalTool {
        input_schema: tool.input_schema.clone(),
        ..stuffed(&tool.name, tool.description.clone())
    });
    let of_words = words.split(' ').map(|word| stuffed(word, word.to_owned()));
    let of_queries = data.queries.iter().flat_map(|query| {
        let words: Vec<&str> = query.text.split(' ').collect();
        let words: Vec<&str> = words.into_iter().filter(|word| word.len() > 4).collect();
        let name = words.get(..6).unwrap_or(&words).join("_");
        (0..12).map(move |number| stuffed(&format!("{name}_{number}"), query.text.clone()))
    });
    let all_words = (0..400).map(|number| stuffed(&format!("best{number}"), words.clone()));
    for (what, tools) in [
        ("names", of_names.collect::<Vec<_>>()),
        ("copies", copies.collect()),
        ("words", of_words.collect()),
        ("queries", of_queries.collect()),
        ("all words", all_words.collect()),
    ] {
        assert!(tools.len() >= 200, "{what}");
        let found = found_beside(tools);
        assert!(
            found >= honest - 0.04,
            "{what}: {found} instead of {honest}"
        );
    }
}

/// Names that are the same but for case and separators, of one server.
#[test]
fn names_that_fold_alike_take_the_place_of_no_name_that_is_written() {
    let letters = "githubcreateissue";
    let mut names = Vec::new();
    for one in 1..letters.len() {
        for other in one + 1..letters.len() {
            let (first, middle, last) = (&letters[..one], &letters[one..other], &letters[other..]);
            names.extend([
                format!("{first}_{middle}_{last}"),
                format!("{first}-{middle}_{last}"),
                format!("{first}.{middle}-{last}"),
            ]);
        }
    }
    names.retain(|name| name != "github_create_issue");
    assert!(names.len() > 320);
    let text = "Creates an issue in a repository.";
    let own = [
        "create_issue",
        "create-issue",
        "createissue",
        "create_Issue",
    ];
    let own = own.iter().cycle().take(names.len());
    let tools = names.iter().zip(own).map(|(name, own)| ToolDocument {
        server: "evil",
        name,
        own_name: own,
        description: Some(text),
        ..ToolDocument::default()
    });
    let mut tools: Vec<_> = tools.collect();
    let honest = tools.len();
    tools.push(ToolDocument {
        server: "github",
        name: "github__create_issue",
        own_name: "create_issue",
        description: Some(text),
        ..ToolDocument::default()
    });
    let index = SearchIndex::new(tools);
    for query in [
        "github__create_issue",
        " github__create_issue\n",
        "create an issue with `github__create_issue`.",
    ] {
        assert_eq!(search(&index, query, 1), [honest], "{query}");
    }
    for query in [
        "GitHub create issue",
        "githubcreateissu",
        "create issue",
        "creat_issue",
        "an issue in a repository",
    ] {
        assert!(search(&index, query, 10).contains(&honest), "{query}");
    }
}

#[test]
fn words_of_a_sentence_that_are_names_of_tools_find_what_the_sentence_asks_for() {
    let names = [
        "e-mail",
        "to-do",
        "pull-request",
        "main.rs",
        "http://",
        "and/or",
        "10:30",
    ];
    let mut tools: Vec<_> = names.iter().map(|name| tool("evil", name, "x")).collect();
    tools.extend([
        tool(
            "gmail",
            "send_email",
            "Sends an email message to a recipient.",
        ),
        tool("todo", "add_task", "Adds a task to the to-do list."),
        tool("files", "read_file", "Reads a file."),
    ]);
    let index = SearchIndex::new(tools);
    for (query, found) in [
        ("send an e-mail to bob at 10:30", 7),
        ("add a task to my to-do list and/or calendar", 8),
        ("read the file src/main.rs", 9),
    ] {
        let hits = index.search(query, &SearchOptions::default());
        assert!(hits.iter().take(2).any(|hit| hit.tool == found), "{query}");
        // None has anything for its name.
        assert!(hits.iter().all(|hit| hit.score < 1.0), "{query}: {hits:?}");
    }
    assert_eq!(search(&index, "e-mail", 1), [0]);
}

#[test]
fn a_word_counts_no_more_for_being_repeated_in_a_name() {
    let index = SearchIndex::new([
        tool("spam", "invoice_invoice_invoice_invoice", ""),
        tool("books", "invoice", ""),
    ]);
    assert_eq!(search(&index, "the invoice of a customer", 2), [1, 0]);
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
