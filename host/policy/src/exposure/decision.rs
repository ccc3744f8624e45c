//! Decision which mode an agent gets, where that is left open.

use std::fmt;

use super::ExposureMode;

/// Way in which tools are shown to one agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ShownMode {
    /// All tools are in the list.
    Direct,
    /// The list has a tool that loads others, and an index of their names.
    Index,
    /// The list has tools that search for others and call them.
    Search,
}

impl ShownMode {
    /// Returns the word in the configuration.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Index => "index",
            Self::Search => "search",
        }
    }
}

/// What listing tools costs an agent, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolCosts {
    /// The tools that are listed in one mode and not in another.
    pub by_mode: u64,
    /// All others that are listed.
    pub listed: u64,
    /// The tools of Dormouse's own that would be listed instead.
    pub instead: u64,
}

/// A decision, and what it was made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExposureDecision {
    /// The mode.
    pub mode: ShownMode,
    /// What it was made by.
    pub reason: DecisionReason,
}

/// What a decision was made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionReason {
    /// The mode is configured.
    Configured,
    /// The tools cost no more than the budget.
    WithinBudget {
        /// What the tools cost, in tokens.
        tokens: u64,
        /// The budget, in tokens.
        budget: u64,
    },
    /// The tools that would be listed instead cost more.
    CheaperThanDeferring,
    /// The client defers tools by itself.
    ClientDefers,
    /// The tools cost more than the budget, and the client takes a changed list.
    ClientHonoursListChanged,
    /// The tools cost more than the budget, and nothing is known of the client that would do better.
    NothingNeeded,
}

/// What a client does with many tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientTraits {
    /// Number of tools from which on it shows its model names or a search in place of them; none
    /// where it never does.
    pub defers_from: Option<u32>,
    /// Whether it lists again when it is told that its list has changed.
    pub honours_list_changed: bool,
    /// Most tools that it takes.
    pub most_tools: Option<u32>,
}

/// Decides how tools are shown. `client` is what is known of an agent that has a session; whoever has
/// none is decided about by costs alone, because its list must be everybody's.
#[must_use]
pub fn decide(
    configured: ExposureMode,
    budget: u32,
    costs: ToolCosts,
    tools: usize,
    client: Option<ClientTraits>,
) -> ExposureDecision {
    let decided = |mode, reason| ExposureDecision { mode, reason };
    let is_asked = |mode| decided(mode, DecisionReason::Configured);
    match configured {
        ExposureMode::Direct => return is_asked(ShownMode::Direct),
        ExposureMode::Index => return is_asked(ShownMode::Index),
        ExposureMode::Search => return is_asked(ShownMode::Search),
        ExposureMode::Auto => {}
    }
    let (tokens, budget) = (costs.by_mode + costs.listed, u64::from(budget));
    let client = client.unwrap_or_default();
    let fits = client.most_tools.is_none_or(|most| tools <= most as usize);
    if fits && tokens <= budget {
        return decided(
            ShownMode::Direct,
            DecisionReason::WithinBudget { tokens, budget },
        );
    }
    if fits && costs.by_mode <= costs.instead {
        return decided(ShownMode::Direct, DecisionReason::CheaperThanDeferring);
    }
    let defers = client
        .defers_from
        .is_some_and(|from| tools >= from as usize);
    if fits && defers {
        return decided(ShownMode::Direct, DecisionReason::ClientDefers);
    }
    if client.honours_list_changed {
        return decided(ShownMode::Index, DecisionReason::ClientHonoursListChanged);
    }
    decided(ShownMode::Search, DecisionReason::NothingNeeded)
}

impl fmt::Display for DecisionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configured => f.write_str("configured"),
            Self::WithinBudget { tokens, budget } => {
                write!(f, "all tools cost {tokens} tokens of {budget}")
            }
            Self::CheaperThanDeferring => f.write_str("the tools cost less than deferring them"),
            Self::ClientDefers => f.write_str("the client defers tools by itself"),
            Self::ClientHonoursListChanged => {
                f.write_str("the tools cost more than the budget, and the client lists again")
            }
            Self::NothingNeeded => {
                f.write_str("the tools cost more than the budget; this needs nothing of the client")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_decides_by_cost_and_then_by_client() {
        use DecisionReason as Why;
        let costs = |by_mode, listed| ToolCosts {
            by_mode,
            listed,
            instead: 900,
        };
        let claude = ClientTraits {
            defers_from: Some(0),
            honours_list_changed: true,
            most_tools: None,
        };
        let codex = ClientTraits {
            defers_from: Some(100),
            ..ClientTraits::default()
        };
        let gemini = ClientTraits {
            honours_list_changed: true,
            ..ClientTraits::default()
        };
        let windsurf = ClientTraits {
            most_tools: Some(100),
            ..gemini
        };
        let within = |tokens| Why::WithinBudget {
            tokens,
            budget: 8000,
        };
        for (name, costs, tools, client, mode, why) in [
            (
                "few",
                costs(7000, 1000),
                9,
                None,
                ShownMode::Direct,
                within(8000),
            ),
            (
                "many",
                costs(7001, 1000),
                9,
                None,
                ShownMode::Search,
                Why::NothingNeeded,
            ),
            // Listing the few that could be deferred costs less than what would stand for them.
            (
                "pinned",
                costs(900, 9000),
                9,
                None,
                ShownMode::Direct,
                Why::CheaperThanDeferring,
            ),
            (
                "claude",
                costs(90_000, 0),
                700,
                Some(claude),
                ShownMode::Direct,
                Why::ClientDefers,
            ),
            (
                "codex, many",
                costs(90_000, 0),
                700,
                Some(codex),
                ShownMode::Direct,
                Why::ClientDefers,
            ),
            (
                "codex, fewer",
                costs(90_000, 0),
                99,
                Some(codex),
                ShownMode::Search,
                Why::NothingNeeded,
            ),
            (
                "gemini",
                costs(90_000, 0),
                99,
                Some(gemini),
                ShownMode::Index,
                Why::ClientHonoursListChanged,
            ),
            (
                "windsurf",
                costs(10, 0),
                101,
                Some(windsurf),
                ShownMode::Index,
                Why::ClientHonoursListChanged,
            ),
            (
                "unknown",
                costs(90_000, 0),
                99,
                Some(ClientTraits::default()),
                ShownMode::Search,
                Why::NothingNeeded,
            ),
        ] {
            let decision = decide(ExposureMode::Auto, 8000, costs, tools, client);
            assert_eq!((decision.mode, decision.reason), (mode, why), "{name}");
        }
        for (mode, shown) in [
            (ExposureMode::Direct, ShownMode::Direct),
            (ExposureMode::Index, ShownMode::Index),
            (ExposureMode::Search, ShownMode::Search),
        ] {
            let decision = decide(mode, 0, costs(9, 9), 9, Some(claude));
            assert_eq!((decision.mode, decision.reason), (shown, Why::Configured));
        }
    }
}
