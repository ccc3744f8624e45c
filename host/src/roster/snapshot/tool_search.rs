//! Search among the tools that agents see: what they cannot call, or models may not, is not found.

use std::fmt;
use std::sync::{Arc, Weak};

use dormouse_jsonrpc::member;
use dormouse_search::{KeptDocuments, SearchIndex, SearchOptions, ServerDocuments, ToolDocument};
use dormouse_upstream::without_blocking;
use parking_lot::Mutex;

use super::analysed_tools::AnalysedTools;
use super::{ShownTool, Snapshot};

/// Search among a snapshot's tools for models.
pub(super) struct ToolSearch {
    /// Hash of all that the index is made of.
    content: [u8; 32],
    /// Place of each tool of the index among all of the snapshot's.
    places: Vec<usize>,
    /// Index of their words, as long as it is kept: how many are, the snapshots do not say.
    index: Mutex<Weak<SearchIndex>>,
}

impl fmt::Debug for ToolSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolSearch({})", self.places.len())
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
    fn of(tools: &[ShownTool]) -> Self {
        let found = tools.iter().enumerate();
        let (places, tools): (Vec<usize>, Vec<&ShownTool>) =
            found.filter(|(_, tool)| tool.is_for_models()).unzip();
        Self {
            content: content_hash(&tools),
            places,
            index: Mutex::default(),
        }
    }

    /// Returns the index of its tools, those of each server together: the one of a snapshot before,
    /// while they are the same ones.
    fn index(&self, all: &[ShownTool], analysed: &AnalysedTools) -> Arc<SearchIndex> {
        if let Some(index) = self.index.lock().upgrade() {
            return index;
        }
        let index = analysed.indices.of(self.content, |kept| {
            let tools: Vec<_> = self.places.iter().filter_map(|at| all.get(*at)).collect();
            let servers = tools.chunk_by(|one, other| one.server() == other.server());
            let servers = servers.filter_map(|tools| {
                let server = tools.first()?.server();
                Some(server_documents(server, tools, kept, analysed))
            });
            servers.collect()
        });
        *self.index.lock() = Arc::downgrade(&index);
        index
    }
}

/// Returns a hash of all that an index of tools is made of.
fn content_hash(tools: &[&ShownTool]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    for tool in tools {
        for text in [tool.server(), &tool.name, tool.tool(), tool.raw()] {
            add(text);
        }
    }
    *hasher.finalize().as_bytes()
}

/// Returns the tools of one server, analysed.
fn server_documents(
    server: &str,
    tools: &[&ShownTool],
    kept: &mut KeptDocuments,
    analysed: &AnalysedTools,
) -> Arc<ServerDocuments> {
    let texts: Vec<_> = tools.iter().map(|tool| Texts::of(tool)).collect();
    let documents = tools.iter().zip(&texts).map(|(tool, texts)| ToolDocument {
        server,
        name: &tool.name,
        own_name: tool.tool(),
        title: texts.title.as_deref(),
        description: texts.description.as_deref(),
        input_schema: texts.input_schema,
    });
    let documents: Vec<_> = documents.collect();
    let content = ServerDocuments::content_hash(server, documents.iter().copied());
    kept.of(content, || analysed.of(server, &documents, content))
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
            let search = self.search.get_or_init(|| ToolSearch::of(&self.tools));
            let index = search.index(&self.tools, &self.files.analysed_tools);
            let hits = index.search(query, &SearchOptions { server, limit });
            let places = hits.into_iter();
            let places = places.filter_map(|hit| Some((*search.places.get(hit.tool)?, hit.score)));
            places.collect::<Vec<_>>()
        });
        hits.into_iter()
            .filter_map(|(place, score)| Some((self.tools.get(place)?, score)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::roster::Roster;
    use crate::roster::tests::{ADD, Home, component};

    fn found(roster: &Roster, profile: Option<&str>) -> usize {
        roster.view(profile).search("add", None, 10).count()
    }

    /// What else changes, and for whom an index was made, is nothing to it.
    #[tokio::test(flavor = "multi_thread")]
    async fn snapshots_with_the_same_tools_have_one_index() {
        let home = Home::new();
        home.write("a.wasm", &component(&[ADD]));
        let servers = "[servers.a]\ncomponent = 'a.wasm'\n[profiles.work]\nservers = ['a']\n";
        home.write("dormouse.toml", servers.as_bytes());
        let roster = home.open();
        assert_eq!(found(&roster, None), 1);
        let before = roster.snapshot();
        // Another snapshot.
        let more = format!("{servers}[servers.b]\ncomponent = 'a.wasm'\nenabled = false\n");
        home.write("dormouse.toml", more.as_bytes());
        roster.reload().unwrap();
        let now = roster.snapshot();
        assert!(!Arc::ptr_eq(&before, &now));
        assert_eq!(found(&roster, None), 1);
        assert_eq!(found(&roster, Some("work")), 1);
        let index = |snapshot: &super::Snapshot| {
            let search = snapshot.search.get().unwrap();
            search.index(&snapshot.tools, &snapshot.files.analysed_tools)
        };
        assert!(Arc::ptr_eq(&index(&before), &index(&now)));
        let work = roster.view(Some("work"));
        assert!(Arc::ptr_eq(&index(&before), &index(&work)));
        // Other tools.
        let more = format!("{servers}[servers.b]\ncomponent = 'a.wasm'\n");
        home.write("dormouse.toml", more.as_bytes());
        roster.reload().unwrap();
        assert_eq!(found(&roster, None), 2);
        assert_eq!(found(&roster, Some("work")), 1);
        assert!(!Arc::ptr_eq(&index(&before), &index(&roster.snapshot())));
    }
}
