//! Cost of tools for an agent that is shown them.

use std::fmt;

use dormouse_tokens::{KeptCounts, TokenCount};

use super::output;
use crate::mcp;
use crate::roster::{Roster, Snapshot};

/// Size of the tools that an agent is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// Bytes of their JSON.
    pub(super) bytes: usize,
    /// Tokens of what a model reads of them: names, descriptions and input schemas.
    pub(super) tokens: TokenCount,
}

impl Cost {
    /// Returns the cost of the tools of those servers, by the numbers of tokens that are known.
    pub(super) fn of(
        snapshot: &Snapshot,
        known: &KeptCounts,
        is_of: impl Fn(&str) -> bool,
    ) -> Self {
        let tools = snapshot.tools().iter();
        let tools = tools.filter(|tool| is_of(tool.server()));
        let mut cost = Self::default();
        for tool in tools {
            if let Some(declared) = tool.declared() {
                let longer = tool.name.len().saturating_sub(declared.name.len());
                cost.bytes += declared.object(false).get().len() + longer;
                cost.tokens += known.of(&tool.mapped());
            }
        }
        cost
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roughly = if self.tokens.is_estimate { "~" } else { "" };
        let tokens = self.tokens.tokens;
        write!(f, "{}, {roughly}{tokens} tokens", size(self.bytes))
    }
}

/// Counts the tokens of tools that have just been learnt, so that those who list them next need not
/// decide by estimates how they are shown. A failure is a warning.
pub(super) fn count_tokens(roster: &Roster) {
    if let Err(error) = mcp::count_deciding_texts(roster) {
        output::warn(&format!(
            "how tools are shown is decided by estimates: {error:#}"
        ));
    }
}

/// Returns a number of bytes in words.
fn size(bytes: usize) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..100_000 => format!("{}.{} kB", bytes / 1000, bytes % 1000 / 100),
        _ => format!("{} kB", bytes / 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_estimates_are_told_to_be_some() {
        for (bytes, tokens, told) in [
            (0, TokenCount::counted(0), "0 B, 0 tokens"),
            (363, TokenCount::counted(91), "363 B, 91 tokens"),
            (12_345, TokenCount::counted(3077), "12.3 kB, 3077 tokens"),
        ] {
            assert_eq!(Cost { bytes, tokens }.to_string(), told);
        }
        let tokens = TokenCount::estimated(932_000);
        let cost = Cost {
            bytes: 932_000,
            tokens,
        };
        assert!(cost.to_string().starts_with("932 kB, ~"), "{cost}");
    }
}
