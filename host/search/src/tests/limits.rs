//! What is kept of one server is bounded, whatever its tools say, and what servers say as they are is far
//! below that.

use dormouse_tests::retrieval::RetrievalData;

use super::{search, tool};
use crate::server_documents::{MAX_OF_ALL, MAX_OF_TEXTS, TermNumbers};
use crate::{SearchIndex, ServerDocuments, ToolDocument};

/// Bytes of the lists of tools here: a quarter of what is read of a server where nothing else is configured,
/// and several times what may count.
const LIST_BYTES: usize = 2 << 20;

/// Returns letters of which each two that are beside each other are a word that comes nowhere else.
fn letters(seed: usize, number: usize) -> String {
    let mut state = seed as u64 + 1;
    let letters = (0..number).map(|_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        char::from_u32(0x4e00 + u32::try_from(state >> 40).unwrap() % 20_000).unwrap()
    });
    letters.collect()
}

/// Returns the tools of such a list, each with a name of its own, and texts of so many
/// letters.
fn full_list(
    of_name: usize,
    of_title: usize,
    of_description: usize,
) -> Vec<(String, String, String)> {
    let bytes = 3 * (of_name + of_title + of_description) + 40;
    let tools = (0..LIST_BYTES / bytes).map(|place| {
        let name = format!("t{place}_{}", letters(place, of_name));
        let title = letters(place + 1_000_000, of_title);
        (name, title, letters(place + 2_000_000, of_description))
    });
    tools.collect()
}

fn analysed(tools: &[(String, String, String)]) -> ServerDocuments {
    let tools = tools.iter().map(|(name, title, description)| ToolDocument {
        title: Some(title),
        ..tool("big", name, description)
    });
    ServerDocuments::analyse("big", tools)
}

/// Each two letters are a word, and each two of these are a pair: two megabytes are a million terms.
#[test]
fn a_server_has_so_many_terms_whatever_its_tools_say() {
    for (of_name, of_title, of_description) in [(0, 600, 600), (0, 0, 600), (0, 600, 0), (40, 0, 0)]
    {
        let tools = full_list(of_name, of_title, of_description);
        let documents = analysed(&tools);
        let TermNumbers { terms, occurrences } = documents.numbers();
        let what = format!("{of_name} {of_title} {of_description}: {terms} {occurrences}");
        assert!(documents.are_bounded(), "{what}");
        assert!(terms > MAX_OF_TEXTS.terms / 2, "{what}");
        assert!(documents.without_texts() > tools.len() / 2, "{what}");
        assert!(documents.memory() < 48 << 20, "{what}");
        // Each is found by its name, as it is, begun and mistyped.
        let index = SearchIndex::of_servers([&documents]);
        let place = tools.len() - 1;
        let name = &tools[place].0;
        let begun = name.split_at(name.find('_').unwrap()).0;
        for query in [name.as_str(), begun, &format!("x{name}")] {
            let hits = search(&index, query, 10);
            assert!(hits.contains(&place), "{what}: {query}: {hits:?}");
        }
        // The first ones are found by what they say.
        let said: String = [&tools[0].0, &tools[0].1, &tools[0].2]
            .into_iter()
            .flat_map(|text| text.chars().filter(|letter| !letter.is_ascii()))
            .take(8)
            .collect();
        assert_eq!(search(&index, &said, 1), [0], "{what}");
    }
}

/// Words that few bytes say again and again, in tools of which there are many.
#[test]
fn a_server_has_so_many_occurrences_whatever_its_tools_say() {
    let description = (0..60).map(|number| format!("w{number} "));
    let description: String = description.collect();
    let names: Vec<_> = (0..LIST_BYTES / 200)
        .map(|place| format!("read_{place}"))
        .collect();
    let tools = names.iter().map(|name| tool("big", name, &description));
    let documents = ServerDocuments::analyse("big", tools);
    let TermNumbers { terms, occurrences } = documents.numbers();
    assert!(documents.are_bounded(), "{terms} {occurrences}");
    assert!(
        occurrences > MAX_OF_TEXTS.occurrences,
        "{terms} {occurrences}"
    );
    // Where descriptions have no room any more, words of names have.
    let index = SearchIndex::of_servers([&documents]);
    let hits = search(&index, &format!("read the {}", names.len() - 1), 1);
    assert_eq!(hits, [names.len() - 1]);
}

/// Names and titles of tools that say nothing else are text, too.
#[test]
fn names_and_titles_count_among_what_is_read_of_a_server() {
    let title = "Read a file ".repeat(100);
    let names: Vec<_> = (0..4_000).map(|place| format!("read_{place}")).collect();
    let tools = names.iter().map(|name| ToolDocument {
        title: Some(&title),
        ..tool("big", name, "Unusual.")
    });
    let documents = ServerDocuments::analyse("big", tools);
    assert!(documents.without_texts() > 400);
    assert!(documents.without_texts() < 1_000);
}

/// All captured servers behind one gateway are a fraction of what one server may have.
#[test]
fn servers_as_they_are_say_a_fraction_of_what_is_read() {
    let mut numbers = Vec::new();
    for data in [RetrievalData::steps(), captured()] {
        let tools = data.tools.iter().map(|tool| ToolDocument {
            server: "gateway",
            name: &tool.name,
            own_name: &tool.name,
            title: None,
            description: Some(&tool.description),
            input_schema: Some(&tool.input_schema),
        });
        let documents = ServerDocuments::analyse("gateway", tools);
        let TermNumbers { terms, occurrences } = documents.numbers();
        numbers.push((data.tools.len(), terms, occurrences));
        assert_eq!(documents.without_texts(), 0, "{numbers:?}");
        assert!(terms * 4 < MAX_OF_TEXTS.terms, "{numbers:?}");
        assert!(occurrences * 4 < MAX_OF_TEXTS.occurrences, "{numbers:?}");
        assert!(MAX_OF_TEXTS.are_within(MAX_OF_ALL));
    }
    eprintln!("tools, terms, occurrences: {numbers:?}");
}

/// Returns the tools of the servers in `tests/fixtures/tools`.
fn captured() -> RetrievalData {
    let folder = dormouse_tests::artifacts::workspace().join("tests/fixtures/tools");
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|ending| ending == "json"));
    let mut tools = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let list: serde_json::Value = serde_json::from_str(&text).unwrap();
        let list = list.as_array().or_else(|| list["tools"].as_array());
        tools.extend(
            list.unwrap()
                .iter()
                .map(|tool| dormouse_tests::retrieval::RetrievalTool {
                    server: "gateway".to_owned(),
                    name: tool["name"].as_str().unwrap().to_owned(),
                    description: tool["description"].as_str().unwrap_or_default().to_owned(),
                    input_schema: tool["inputSchema"].to_string(),
                }),
        );
    }
    assert!(tools.len() > 600);
    let queries = Vec::new();
    RetrievalData { tools, queries }
}

#[test]
fn more_terms_than_are_made_are_told() {
    let documents = analysed(&full_list(0, 0, 600));
    let text = serde_json::to_string(&documents).unwrap();
    // Half of the largest file that is read.
    assert!(text.len() < 32 << 20, "{}", text.len());
    let again: ServerDocuments = serde_json::from_str(&text).unwrap();
    assert!(again.are_bounded());
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let terms = value["terms"].as_array_mut().unwrap();
    terms.extend(
        (terms.len()..=MAX_OF_ALL.terms).map(|term| serde_json::json!([term.to_string(), []])),
    );
    let longer: ServerDocuments = serde_json::from_value(value).unwrap();
    assert!(!longer.are_bounded());
}
