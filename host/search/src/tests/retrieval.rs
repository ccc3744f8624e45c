//! How good the search is at finding the tools that real tasks need.

use dormouse_tests::retrieval::{RetrievalData, RetrievalRanks};

use super::search;
use crate::{SearchIndex, ToolDocument};

pub(super) fn index(data: &RetrievalData) -> SearchIndex {
    SearchIndex::new(data.tools.iter().map(|tool| ToolDocument {
        server: &tool.server,
        name: &tool.name,
        own_name: &tool.name,
        title: None,
        description: Some(&tool.description),
        input_schema: Some(&tool.input_schema),
    }))
}

fn ranks(data: &RetrievalData) -> RetrievalRanks {
    let index = index(data);
    data.ranks(|query, limit| search(&index, query, limit))
}

/// Plain BM25 has .69 here.
#[test]
fn steps_of_tasks_find_their_tool_among_five() {
    let recall = ranks(&RetrievalData::steps()).recall(5);
    assert!(recall >= 0.78, "{recall}");
}

/// Plain BM25 has .34 here.
#[test]
fn whole_tasks_find_half_of_their_tools_among_ten() {
    let recall = ranks(&RetrievalData::tasks()).recall(10);
    assert!(recall >= 0.5, "{recall}");
}

#[test]
fn graded_queries_find_their_tool_among_five() {
    let recall = ranks(&RetrievalData::graded()).recall(5);
    assert!(recall >= 0.95, "{recall}");
}
