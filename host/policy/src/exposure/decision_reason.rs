//! Reasons of decisions which mode an agent gets.

use std::fmt;

/// Reason of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionReason {
    /// The mode is configured.
    Configured,
    /// The tools cost no more than the budget.
    WithinBudget {
        /// Cost of the tools, in tokens.
        tokens: u64,
        /// The budget, in tokens.
        budget: u64,
        /// Whether the cost is an estimate.
        is_estimate: bool,
    },
    /// Listing other tools instead costs more.
    CheaperThanDeferring {
        /// Cost of the tools, in tokens.
        tokens: u64,
        /// Cost of those, in tokens.
        deferred: u64,
        /// Whether a cost is an estimate.
        is_estimate: bool,
    },
    /// The client defers tools by itself.
    ClientDefers,
    /// There are too many, and the client takes a changed list.
    ClientHonoursListChanged(TooManyTools),
    /// There are too many, and nothing is known of the client that would do better.
    NothingNeeded(TooManyTools),
}

/// Reason why tools are too many to be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooManyTools {
    /// They cost more than the budget.
    Tokens {
        /// Cost of the tools, in tokens.
        tokens: u64,
        /// The budget, in tokens.
        budget: u64,
        /// Whether the cost is an estimate.
        is_estimate: bool,
    },
    /// The client takes fewer.
    Tools {
        /// Number of tools.
        tools: usize,
        /// Most tools that the client takes.
        most: u32,
    },
}

/// Returns what all tools cost, in words.
fn cost_in_words(tokens: u64, is_estimate: bool) -> String {
    let roughly = if is_estimate { "about " } else { "" };
    format!("all tools cost {roughly}{tokens} tokens")
}

impl fmt::Display for DecisionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configured => f.write_str("it is configured"),
            Self::WithinBudget {
                tokens,
                budget,
                is_estimate,
            } => {
                let cost = cost_in_words(*tokens, *is_estimate);
                write!(f, "{cost}, and the budget is {budget}")
            }
            Self::CheaperThanDeferring {
                tokens,
                deferred,
                is_estimate,
            } => {
                let cost = cost_in_words(*tokens, *is_estimate);
                write!(f, "{cost}, and what would stand for them {deferred}")
            }
            Self::ClientDefers => f.write_str("the client defers tools by itself"),
            Self::ClientHonoursListChanged(too_many) => {
                write!(f, "{too_many}; the client lists again when it is told to")
            }
            Self::NothingNeeded(too_many) => {
                write!(f, "{too_many}; this needs nothing of the client")
            }
        }
    }
}

impl fmt::Display for TooManyTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens {
                tokens,
                budget,
                is_estimate,
            } => {
                let cost = cost_in_words(*tokens, *is_estimate);
                write!(f, "{cost}, more than the budget of {budget}")
            }
            Self::Tools { tools, most } => {
                write!(f, "there are {tools} tools, and the client takes {most}")
            }
        }
    }
}
