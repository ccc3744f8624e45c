//! Reasons of decisions which mode an agent gets.

use std::fmt;

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
        /// Whether the cost is an estimate.
        is_estimate: bool,
    },
    /// What would be listed instead costs more.
    CheaperThanDeferring {
        /// What the tools cost, in tokens.
        tokens: u64,
        /// What would be listed instead costs, in tokens.
        deferred: u64,
        /// Whether a cost is an estimate.
        is_estimate: bool,
    },
    /// The client defers tools by itself.
    ClientDefers,
    /// There are too many, and the client takes a changed list.
    ClientHonoursListChanged(TooMany),
    /// There are too many, and nothing is known of the client that would do better.
    NothingNeeded(TooMany),
}

/// Reason why tools are too many to be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooMany {
    /// They cost more than the budget.
    Tokens {
        /// What the tools cost, in tokens.
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

/// Returns the word in front of a number of tokens that is an estimate.
fn roughly(is_estimate: bool) -> &'static str {
    if is_estimate { "about " } else { "" }
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
                let roughly = roughly(*is_estimate);
                write!(
                    f,
                    "all tools cost {roughly}{tokens} tokens, and the budget is {budget}"
                )
            }
            Self::CheaperThanDeferring {
                tokens,
                deferred,
                is_estimate,
            } => {
                let roughly = roughly(*is_estimate);
                write!(
                    f,
                    "all tools cost {roughly}{tokens} tokens, and what would stand for them {deferred}"
                )
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

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens {
                tokens,
                budget,
                is_estimate,
            } => {
                let roughly = roughly(*is_estimate);
                write!(
                    f,
                    "all tools cost {roughly}{tokens} tokens, more than the budget of {budget}"
                )
            }
            Self::Tools { tools, most } => {
                write!(f, "there are {tools} tools, and the client takes {most}")
            }
        }
    }
}
