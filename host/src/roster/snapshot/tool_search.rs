//! Search among the tools that agents see: what they cannot call, or models may not, is not found.

use std::fmt;

use dormouse_jsonrpc::member;
use dormouse_search::{SearchIndex, SearchOptions, ToolDocument};
use dormouse_upstream::without_blocking;

use super::analysed_tools::AnalysedTools;
use super::{ShownTool, Snapshot};

/// Index of the words of a snapshot's tools for models.
pub(super) struct ToolSearch {
    index: SearchIndex,
    /// Place of each of its tools among all of the snapshot's.
    places: Vec<usize>,
}

impl fmt::Debug for ToolSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolSearch({})", self.index.len())
    }
}

/// Texts of a tool's declaration.
struct Texts<'t> {
    title: Option<String>,
    description: Option<String>,
    input_schema: Option<&'t str>,
}

impl<'t> Texts<'t> {
    fn of(tool: &'t ShownTool) -> Self {
        let object = tool.declared().map_or("{}", |declared| declared.tool.get());
        let text = |name| serde_json::from_str(member(object, name)?).ok();
        Self {
            title: text("title"),
            description: text("description"),
            input_schema: member(object, "inputSchema"),
        }
    }
}

impl ToolSearch {
    /// Makes the index of tools, those of each server together.
    fn of(tools: &[ShownTool], analysed: &AnalysedTools) -> Self {
        let found = tools.iter().enumerate();
        let (places, tools): (Vec<usize>, Vec<&ShownTool>) =
            found.filter(|(_, tool)| tool.is_for_models()).unzip();
        let servers = tools.chunk_by(|one, other| one.server() == other.server());
        let servers = servers.filter_map(|tools| {
            let texts: Vec<_> = tools.iter().map(|tool| Texts::of(tool)).collect();
            let documents = tools.iter().zip(&texts).map(|(tool, texts)| ToolDocument {
                server: tool.server(),
                name: &tool.name,
                own_name: tool.tool(),
                title: texts.title.as_deref(),
                description: texts.description.as_deref(),
                input_schema: texts.input_schema,
            });
            Some(analysed.of(tools.first()?.server(), &documents.collect::<Vec<_>>()))
        });
        let servers: Vec<_> = servers.collect();
        let index = SearchIndex::of_servers(&servers);
        Self { index, places }
    }
}

impl Snapshot {
    /// Returns the tools that fit a query, best first, each with how well it does: of one server,
    /// where one is named.
    pub fn search(
        &self,
        query: &str,
        server: Option<&str>,
        limit: usize,
    ) -> impl Iterator<Item = (&ShownTool, f32)> {
        // Whoever waits for the index holds up nobody else, either.
        let hits = without_blocking(usize::MAX, || {
            let analysed = || AnalysedTools::new(self.files.analysed_tools.clone());
            let index = || ToolSearch::of(&self.tools, &analysed());
            let search = self.search.get_or_init(index);
            let hits = search.index.search(query, &SearchOptions { server, limit });
            let places = hits.into_iter();
            let places = places.filter_map(|hit| Some((*search.places.get(hit.tool)?, hit.score)));
            places.collect::<Vec<_>>()
        });
        hits.into_iter()
            .filter_map(|(place, score)| Some((self.tools.get(place)?, score)))
    }
}
