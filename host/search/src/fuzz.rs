//! Fuzz target: whatever a tool says of itself and whatever is asked for.

use crate::{SearchIndex, SearchOptions, ServerDocuments, ToolDocument};

/// Tools and a query, all of any text: hits are tools that there are, each once, the best first, and
/// the same ones whichever way the index is made; a tool's own name finds it.
pub fn searches(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.split('\n');
    let query = lines.next().unwrap_or_default();
    let lines: Vec<&str> = lines.collect();
    let tools = lines.chunks(3).map(|lines| ToolDocument {
        server: "server",
        name: lines.first().copied().unwrap_or_default(),
        own_name: lines.first().copied().unwrap_or_default(),
        title: None,
        description: lines.get(1).copied(),
        input_schema: lines.get(2).copied(),
    });
    let tools: Vec<_> = tools.collect();
    let index = SearchIndex::new(tools.iter().copied());
    let hits = index.search(query, &SearchOptions::default());
    assert!(hits.len() <= 10);
    assert!(hits.is_sorted_by(|one, other| {
        one.tool != other.tool && (one.score, other.tool) >= (other.score, one.tool)
    }));
    assert!(
        hits.iter()
            .all(|hit| hit.tool < tools.len() && hit.score > 0.0)
    );
    let analysed = ServerDocuments::analyse("server", tools.iter().copied());
    let again = SearchIndex::of_servers([&analysed]);
    assert_eq!(again.search(query, &SearchOptions::default()), hits);
    if let Some(tool) = tools.first()
        && tool.name.chars().any(char::is_alphanumeric)
    {
        let hits = index.search(
            tool.name,
            &SearchOptions {
                server: None,
                limit: tools.len(),
            },
        );
        assert!(
            tool.name.len() > 256 || hits.iter().any(|hit| hit.tool == 0),
            "{}",
            tool.name
        );
    }
}

#[cfg(test)]
mod tests {
    dormouse_tests::fuzz_loops! { searches }
}
