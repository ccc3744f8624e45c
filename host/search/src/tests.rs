//! Tests of the search as a whole.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod hostile;
mod limits;
mod names;
mod page_shares;
mod retrieval;
mod times;

use crate::{SearchIndex, SearchOptions, ToolDocument};

/// Returns a tool of this server, name and description.
fn tool<'a>(server: &'a str, name: &'a str, description: &'a str) -> ToolDocument<'a> {
    ToolDocument {
        server,
        name,
        own_name: name,
        description: Some(description),
        ..ToolDocument::default()
    }
}

/// Returns the places of the first hits.
fn search(index: &SearchIndex, query: &str, limit: usize) -> Vec<usize> {
    let options = SearchOptions {
        server: None,
        limit,
    };
    let hits = index.search(query, &options);
    hits.into_iter().map(|hit| hit.tool).collect()
}

#[test]
fn other_words_and_forms_of_words_find_a_tool() {
    let index = SearchIndex::new([
        tool("files", "list_directory", "Lists what is in a directory."),
        tool("files", "deleteFile", "Deletes a file."),
        tool("weather", "get_forecast", "Weather of the next days."),
        tool("chat", "send-message", "Sends a message to a channel."),
        tool(
            "搜索",
            "bing",
            "使用必应搜索指定的关键词，并返回搜索结果列表",
        ),
    ]);
    for (query, found) in [
        ("show the contents of a folder", 0),
        ("removing documents", 1),
        ("what will the temperature be", 2),
        ("wether", 2),
        ("post in the chat", 3),
        ("搜索关键词", 4),
    ] {
        assert_eq!(search(&index, query, 1), [found], "{query}");
    }
}

#[test]
fn a_task_of_several_steps_finds_a_tool_for_each() {
    let noise: Vec<_> = (0..40)
        .map(|number| format!("statistic_{number}"))
        .collect();
    let mut tools = vec![
        tool("git", "commit", "Records changes to the repository."),
        tool("chat", "send_message", "Sends a message to a channel."),
        tool(
            "calendar",
            "create_event",
            "Creates an event in the calendar.",
        ),
    ];
    tools.extend(
        noise
            .iter()
            .map(|name| tool("statistics", name, "Statistics of a team.")),
    );
    let index = SearchIndex::new(tools);
    let mut found = search(
        &index,
        "Commit the changes, tell the team in the chat, and schedule a meeting for tomorrow",
        5,
    );
    found.retain(|tool| *tool < 3);
    found.sort_unstable();
    assert_eq!(found, [0, 1, 2]);
}

#[test]
fn an_index_of_servers_that_were_kept_is_the_same() {
    let tools = [
        tool("a", "read_file", "Reads a file."),
        tool("a", "write_file", "Writes a file."),
        tool("b", "read_sheet", "Reads a sheet of a workbook."),
    ];
    let hash = |tools: &[ToolDocument<'_>]| {
        crate::ServerDocuments::content_hash("a", tools.iter().copied())
    };
    let all = SearchIndex::new(tools);
    let one = crate::ServerDocuments::analyse("a", tools[..2].iter().copied());
    let other = crate::ServerDocuments::analyse("b", tools[2..].iter().copied());
    let kept = serde_json::to_string(&one).unwrap();
    let one: crate::ServerDocuments = serde_json::from_str(&kept).unwrap();
    let again = SearchIndex::of_servers([&one, &other]);
    assert_eq!((again.len(), again.is_empty()), (3, false));
    for query in ["read", "read a file", "sheet", "write"] {
        let options = SearchOptions::default();
        assert_eq!(again.search(query, &options), all.search(query, &options));
    }
    assert_eq!(hash(&tools[..2]), hash(&tools[..2]));
    let changed = tool("a", "write_file", "Writes a file!");
    assert_ne!(hash(&tools[..2]), hash(&[tools[0], changed]));
}

#[test]
fn one_server_can_be_searched_alone() {
    let index = SearchIndex::new([
        tool("a", "a_read_file", "Reads a file."),
        tool("b", "b_read_file", "Reads a file."),
    ]);
    let found = |server| {
        let options = SearchOptions {
            server: Some(server),
            limit: 10,
        };
        let hits = index.search("a_read_file", &options).into_iter();
        hits.map(|hit| hit.tool).collect::<Vec<_>>()
    };
    assert_eq!(found("a"), [0]);
    assert_eq!(found("b"), [1]);
    assert!(found("c").is_empty());
}
