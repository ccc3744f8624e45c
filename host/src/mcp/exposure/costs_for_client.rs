//! Costs of all tools to an agent, as it is shown them.

use std::collections::BTreeMap;

use dormouse_policy::exposure::ExposureDecision;
use dormouse_tokens::{KeptCounts, TOKENIZER, TokenCount};

use super::{client_table, decision, has_meta_tools, meta_tools};
use crate::roster::status::TokenCosts;
use crate::roster::{Roster, ShownTool, Snapshot, Status};

/// Cost of all tools for one client, or for those that have no session.
pub struct CostsForClient {
    /// Exposure in which it is shown them.
    pub decision: ExposureDecision,
    /// The cost of each tool, in the order of the list.
    pub tools: Vec<TokenCosts>,
    /// Cost of Dormouse's own tools that are listed.
    pub own: TokenCount,
}

impl CostsForClient {
    /// Returns the texts whose numbers of tokens it is made of.
    pub fn texts(snapshot: &Snapshot, client: Option<&str>) -> impl Iterator<Item = String> {
        let own = own_text(snapshot, client, decision(snapshot, client));
        let raw = snapshot.tools().iter().map(|tool| tool.raw().to_owned());
        std::iter::once(own)
            .chain(snapshot.deciding_texts())
            .chain(raw)
    }

    /// Makes it of the numbers that are known.
    #[must_use]
    pub fn of(snapshot: &Snapshot, client: Option<&str>, known: &KeptCounts) -> Self {
        let decision = decision(snapshot, client);
        let of_tool = |tool: &ShownTool| {
            let (mapped, raw) = (known.of(&tool.mapped()), known.of(tool.raw()));
            let is_listed = snapshot.is_listed(tool, decision.mode);
            TokenCosts {
                mapped: mapped.tokens,
                raw: raw.tokens,
                listed: if is_listed { mapped.tokens } else { 0 },
                is_estimate: mapped.is_estimate || raw.is_estimate,
            }
        };
        Self {
            decision,
            tools: snapshot.tools().iter().map(of_tool).collect(),
            own: known.of(&own_text(snapshot, client, decision)),
        }
    }

    /// Returns the costs of each server that has tools.
    #[must_use]
    pub fn by_server<'s>(&self, snapshot: &'s Snapshot) -> BTreeMap<&'s str, TokenCosts> {
        let mut servers: BTreeMap<&str, TokenCosts> = BTreeMap::new();
        for (tool, costs) in snapshot.tools().iter().zip(&self.tools) {
            servers.entry(tool.server()).or_default().add(*costs);
        }
        servers
    }
}

/// Returns what a model reads of the tools of Dormouse's own that are listed.
fn own_text(snapshot: &Snapshot, client: Option<&str>, decision: ExposureDecision) -> String {
    let description_bytes = client.and_then(|client| client_table::of(client).description_bytes);
    match has_meta_tools(snapshot, decision.mode) {
        true => meta_tools::mapped_texts(decision.mode, snapshot, description_bytes),
        false => String::new(),
    }
}

/// Adds to the status of a host what its tools cost, as those are shown them that have no session.
pub fn add_token_costs(roster: &Roster, status: &mut Status) {
    let snapshot = roster.snapshot();
    let costs = CostsForClient::of(&snapshot, None, &roster.token_counts());
    let servers = costs.by_server(&snapshot);
    status.tokenizer = TOKENIZER.to_owned();
    for server in &mut status.servers {
        server.tokens = servers.get(server.name.as_str()).copied();
    }
}
