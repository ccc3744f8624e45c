//! Cost of tools for a model, and what of them is listed by it.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_jsonrpc::member;
use dormouse_policy::exposure::{
    ClientTraits, ExposureDecision, ExposureMode, ShownMode, ToolCosts, ToolExposure, decide,
};
use dormouse_tokens::{KeptCounts, TokenCount};
use parking_lot::Mutex;

use super::found_tool::AFTER_FOUND_TOOLS;
use super::{ShownTool, Snapshot};

/// Most bytes of the tools of a server that may cost less than finding them: what is told of a tool
/// that was found has a few hundred.
const MAX_CHEAP_BYTES: usize = 2 << 10;

/// Costs of a snapshot's tools: the same for as long as there is this snapshot, so that no
/// session is shown them in another way because something has been counted meanwhile.
#[derive(Debug)]
pub(super) struct Costs {
    costs: ToolCosts,
    /// Servers whose tools are cheaper listed than found.
    cheap: BTreeSet<String>,
    /// Costs of Dormouse's own tools, by the mode and what clients keep of a description.
    own: Mutex<BTreeMap<(ShownMode, Option<usize>), TokenCount>>,
}

impl ShownTool {
    /// Returns the text that a client has its model read for it: its name, description and input
    /// schema. The rest of its declaration is for the client.
    #[must_use]
    pub fn mapped(&self) -> String {
        let object = self.declared().map_or("{}", |declared| declared.tool.get());
        mapped(&self.name, object)
    }

    /// Returns its whole declaration, as its server has it.
    #[must_use]
    pub fn raw(&self) -> &str {
        self.declared().map_or("{}", |declared| declared.tool.get())
    }
}

/// Returns what a model reads of an MCP `Tool` object with that name.
#[must_use]
pub fn mapped(name: &str, object: &str) -> String {
    let mut text = format!("{{\"name\":{}", serde_json::Value::from(name));
    for part in ["description", "inputSchema"] {
        if let Some(value) = member(object, part) {
            text.push_str(&format!(",\"{part}\":"));
            push_without_spaces(value, &mut text);
        }
    }
    text.push('}');
    text
}

/// Appends JSON without the white space between its tokens, which clients leave out: they write anew
/// what they give a model.
fn push_without_spaces(json: &str, text: &mut String) {
    let (mut is_in_string, mut is_escaped) = (false, false);
    text.extend(json.chars().filter(|&c| {
        let is_space = !is_in_string && c.is_ascii_whitespace();
        is_in_string ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        !is_space
    }));
}

impl Snapshot {
    fn kept_counts(&self) -> KeptCounts {
        let file = self.files.token_counts.as_deref();
        file.map(KeptCounts::read).unwrap_or_default()
    }

    fn costs(&self) -> &Costs {
        self.costs.get_or_init(|| {
            let kept = self.kept_counts();
            let mut costs = ToolCosts::default();
            let mut servers: BTreeMap<&str, TokenCount> = BTreeMap::new();
            for tool in &self.tools {
                match tool.exposure {
                    ToolExposure::ByMode => {
                        *servers.entry(tool.server()).or_default() += kept.of(&tool.mapped());
                    }
                    ToolExposure::Listed => {
                        let cost = kept.of(&tool.mapped());
                        costs.listed += cost.tokens;
                        costs.is_estimate |= cost.is_estimate;
                    }
                    ToolExposure::Deferred | ToolExposure::Hidden(_) => {}
                }
            }
            let by_mode: TokenCount = servers.values().copied().sum();
            costs.by_mode = by_mode.tokens;
            costs.is_estimate |= by_mode.is_estimate;
            let mut cheap = BTreeSet::new();
            for (server, found) in self.found_texts() {
                let listed = servers.get(server).copied().unwrap_or_default();
                if listed.tokens <= kept.of(&found).tokens {
                    costs.cheap += listed.tokens;
                    cheap.insert(server.to_owned());
                }
            }
            let own = Mutex::default();
            Costs { costs, cheap, own }
        })
    }

    /// Returns what an agent is told that finds the tools of a server, for each server of which
    /// listing them may cost less.
    fn found_texts(&self) -> impl Iterator<Item = (&str, String)> {
        let mut servers: BTreeMap<&str, (usize, Vec<&ShownTool>)> = BTreeMap::new();
        let tools = self.tools.iter();
        for tool in tools.filter(|tool| tool.exposure == ToolExposure::ByMode) {
            let (bytes, tools) = servers.entry(tool.server()).or_default();
            *bytes = bytes.saturating_add(read_bytes(tool));
            if *bytes <= MAX_CHEAP_BYTES {
                tools.push(tool);
            }
        }
        let servers = servers.into_iter();
        let small = servers.filter(|(_, (bytes, _))| *bytes <= MAX_CHEAP_BYTES);
        small.map(|(server, (_, tools))| {
            let tools = tools.into_iter().map(ShownTool::as_found);
            let found = tools.fold(String::new(), |found, tool| found + &tool);
            (server, found + AFTER_FOUND_TOOLS)
        })
    }

    /// Decides how tools are shown to a client, or to all that have no session. `own` returns the
    /// texts of the tools of Dormouse's own in a mode; the client keeps that many bytes of a
    /// description.
    #[must_use]
    pub fn exposure(
        &self,
        client: Option<ClientTraits>,
        description_bytes: Option<usize>,
        own: impl Fn(ShownMode) -> String,
    ) -> ExposureDecision {
        let rules = self.rules();
        // What needs no costs takes no time.
        let costs = match rules.mode {
            ExposureMode::Auto => self.costs().costs,
            _ => ToolCosts::default(),
        };
        let instead = |mode| {
            let mut known = self.costs().own.lock();
            let count = known
                .entry((mode, description_bytes))
                .or_insert_with(|| self.kept_counts().of(&own(mode)));
            count.tokens
        };
        let tools = self.tools.len();
        decide(rules.mode, rules.budget, costs, tools, client, instead)
    }

    /// Whether it may depend on the number of tokens how tools are shown: no text has more tokens
    /// than bytes.
    #[must_use]
    pub fn depends_on_token_counts(&self) -> bool {
        let bytes = self.tools.iter().map(read_bytes).sum::<usize>();
        self.rules.mode == ExposureMode::Auto && bytes as u64 > u64::from(self.rules.budget)
    }

    /// Returns the texts that decide how tools are shown, but for those of Dormouse's own tools.
    pub fn deciding_texts(&self) -> impl Iterator<Item = String> {
        let mapped = self.tools.iter().map(ShownTool::mapped);
        mapped.chain(self.found_texts().map(|(_, found)| found))
    }

    /// Whether a tool is in the lists of agents in that mode.
    #[must_use]
    pub fn is_listed(&self, tool: &ShownTool, mode: ShownMode) -> bool {
        match tool.exposure {
            ToolExposure::Listed => true,
            ToolExposure::ByMode if mode == ShownMode::Direct => true,
            ToolExposure::ByMode => {
                self.rules.mode == ExposureMode::Auto && self.costs().cheap.contains(tool.server())
            }
            ToolExposure::Deferred | ToolExposure::Hidden(_) => false,
        }
    }
}

/// Returns the most bytes that the text may have that a model reads of a tool.
fn read_bytes(tool: &ShownTool) -> usize {
    const NAMES_OF_MEMBERS: usize = 64;
    let part = |name| member(tool.raw(), name).map_or(0, str::len);
    tool.name.len() + part("description") + part("inputSchema") + NAMES_OF_MEMBERS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reads_names_descriptions_and_schemas_alone() {
        let object = r#"{ "name": "t", "title": "T", "description": "a \" b \\", "annotations": {},
            "inputSchema": { "type": "object", "x": [ "c  d", 1 ] }, "outputSchema": {} }"#;
        assert_eq!(
            mapped("s__t", object),
            r#"{"name":"s__t","description":"a \" b \\","inputSchema":{"type":"object","x":["c  d",1]}}"#
        );
        assert_eq!(mapped("s__t", "{}"), r#"{"name":"s__t"}"#);
    }

    #[test]
    fn a_snapshot_without_files_reads_none() {
        let (logged, _guard) = dormouse_tests::logged::logged();
        let snapshot = Snapshot::default();
        assert!(snapshot.costs().own.lock().is_empty());
        assert_eq!(logged.lines(), [""; 0]);
    }
}
