//! Decision which mode an agent gets, where that is left open.

use super::{DecisionReason, ExposureMode, TooManyTools};

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

/// Costs of listing tools to an agent, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolCosts {
    /// The tools that are listed in one mode and not in another.
    pub by_mode: u64,
    /// Tools among these whose servers are listed in each mode, because finding them would cost more.
    pub cheap: u64,
    /// All others that are listed.
    pub listed: u64,
    /// Whether something of it is an estimate.
    pub is_estimate: bool,
}

/// A decision, and what it was made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExposureDecision {
    /// The mode.
    pub mode: ShownMode,
    /// Reason for which it was made.
    pub reason: DecisionReason,
}

/// Traits of a client with many tools.
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
/// none is decided about by costs alone, because its list must be everybody's. `instead` returns what
/// tools of Dormouse's own cost that would be listed in a mode, in tokens, and is asked where that
/// matters.
#[must_use]
pub fn decide(
    configured: ExposureMode,
    budget: u32,
    costs: ToolCosts,
    tools: usize,
    client: Option<ClientTraits>,
    instead: impl FnOnce(ShownMode) -> u64,
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
    let is_estimate = costs.is_estimate;
    let client = client.unwrap_or_default();
    let most = client.most_tools.filter(|most| tools > *most as usize);
    let too_many = match most {
        Some(most) => TooManyTools::Tools { tools, most },
        None if tokens <= budget => {
            let reason = DecisionReason::WithinBudget {
                tokens,
                budget,
                is_estimate,
            };
            return decided(ShownMode::Direct, reason);
        }
        None => TooManyTools::Tokens {
            tokens,
            budget,
            is_estimate,
        },
    };
    let deferring = match client.honours_list_changed {
        true => ShownMode::Index,
        false => ShownMode::Search,
    };
    if most.is_none() {
        let deferred = costs.listed + costs.cheap + instead(deferring);
        if tokens <= deferred {
            let reason = DecisionReason::CheaperThanDeferring {
                tokens,
                deferred,
                is_estimate,
            };
            return decided(ShownMode::Direct, reason);
        }
        let mut from = client.defers_from.into_iter();
        if from.any(|from| tools >= from as usize) {
            return decided(ShownMode::Direct, DecisionReason::ClientDefers);
        }
    }
    let reason = match deferring {
        ShownMode::Index => DecisionReason::ClientHonoursListChanged(too_many),
        ShownMode::Direct | ShownMode::Search => DecisionReason::NothingNeeded(too_many),
    };
    decided(deferring, reason)
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
            ..ToolCosts::default()
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
            is_estimate: false,
        };
        let too_many = |tokens| TooManyTools::Tokens {
            tokens,
            budget: 8000,
            is_estimate: false,
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
                Why::NothingNeeded(too_many(8001)),
            ),
            // Listing the few that could be deferred costs less than what would stand for them.
            (
                "pinned",
                costs(900, 9000),
                9,
                None,
                ShownMode::Direct,
                Why::CheaperThanDeferring {
                    tokens: 9900,
                    deferred: 9900,
                    is_estimate: false,
                },
            ),
            // What is listed anyhow is no gain.
            (
                "cheap",
                ToolCosts {
                    cheap: 8200,
                    ..costs(9000, 0)
                },
                9,
                None,
                ShownMode::Direct,
                Why::CheaperThanDeferring {
                    tokens: 9000,
                    deferred: 9100,
                    is_estimate: false,
                },
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
                Why::NothingNeeded(too_many(90_000)),
            ),
            (
                "gemini",
                costs(90_000, 0),
                99,
                Some(gemini),
                ShownMode::Index,
                Why::ClientHonoursListChanged(too_many(90_000)),
            ),
            (
                "windsurf",
                costs(10, 0),
                101,
                Some(windsurf),
                ShownMode::Index,
                Why::ClientHonoursListChanged(TooManyTools::Tools {
                    tools: 101,
                    most: 100,
                }),
            ),
            (
                "unknown",
                costs(90_000, 0),
                99,
                Some(ClientTraits::default()),
                ShownMode::Search,
                Why::NothingNeeded(too_many(90_000)),
            ),
        ] {
            let decision = decide(ExposureMode::Auto, 8000, costs, tools, client, |_| 900);
            assert_eq!((decision.mode, decision.reason), (mode, why), "{name}");
        }
        for (mode, shown) in [
            (ExposureMode::Direct, ShownMode::Direct),
            (ExposureMode::Index, ShownMode::Index),
            (ExposureMode::Search, ShownMode::Search),
        ] {
            let decision = decide(mode, 0, costs(9, 9), 9, Some(claude), |_| 900);
            assert_eq!((decision.mode, decision.reason), (shown, Why::Configured));
        }
    }
}
