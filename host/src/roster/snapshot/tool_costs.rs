//! Cost of tools for a model, and what of them is listed by it.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_jsonrpc::member;
use dormouse_policy::exposure::{
    ClientTraits, ExposureDecision, ExposureMode, ShownMode, ToolCosts, ToolExposure, decide,
};

use super::{Shown, Snapshot};

/// Bytes of a token of JSON, roughly: models count in different ways.
const BYTES_PER_TOKEN: usize = 4;

/// Tokens of what stands in a list for the tools that are not there.
const META_TOOLS_TOKENS: u64 = 900;

/// Tokens of one hit of a search. A server whose tools cost no more stays in the list: finding one
/// of them once would cost as much.
const HIT_TOKENS: u64 = 120;

/// What the tools of a snapshot cost.
#[derive(Debug)]
pub(super) struct Costs {
    costs: ToolCosts,
    /// Servers whose tools are cheaper listed than found.
    cheap: BTreeSet<String>,
}

impl Shown {
    /// Returns about the tokens that a client has its model read for it: its name, description and
    /// input schema.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let object = self.declared().map_or("{}", |declared| declared.tool.get());
        let part = |name| member(object, name).map_or(0, str::len);
        let bytes = self.name.len() + part("description") + part("inputSchema");
        bytes.div_ceil(BYTES_PER_TOKEN) as u64
    }
}

impl Snapshot {
    fn costs(&self) -> &Costs {
        self.costs.get_or_init(|| {
            let mut costs = ToolCosts {
                instead: META_TOOLS_TOKENS,
                ..ToolCosts::default()
            };
            let mut servers: BTreeMap<&str, u64> = BTreeMap::new();
            for tool in &self.tools {
                match tool.exposure {
                    ToolExposure::ByMode => {
                        *servers.entry(tool.server()).or_default() += tool.tokens();
                    }
                    ToolExposure::Listed => costs.listed += tool.tokens(),
                    ToolExposure::Deferred | ToolExposure::Hidden(_) => {}
                }
            }
            costs.by_mode = servers.values().sum();
            let cheap = servers.iter().filter(|(_, tokens)| **tokens <= HIT_TOKENS);
            let cheap = cheap.map(|(server, _)| (*server).to_owned()).collect();
            Costs { costs, cheap }
        })
    }

    /// Decides how tools are shown to a client, or to all that have no session.
    #[must_use]
    pub fn exposure(&self, client: Option<ClientTraits>) -> ExposureDecision {
        let rules = self.rules();
        // What needs no costs takes no time.
        let costs = match rules.mode {
            ExposureMode::Auto => self.costs().costs,
            _ => ToolCosts::default(),
        };
        decide(rules.mode, rules.budget, costs, self.tools.len(), client)
    }

    /// Whether a tool is in the lists of agents in that mode.
    #[must_use]
    pub fn is_listed(&self, tool: &Shown, mode: ShownMode) -> bool {
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
