//! Cost of tools for an agent that is shown them.

use std::fmt;

use super::output;
use crate::mcp;
use crate::roster::{Roster, Snapshot};

/// Bytes of a token of JSON, roughly: models count in different ways.
const BYTES_PER_TOKEN: usize = 4;

/// Size of the tools that an agent is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// Bytes of their JSON.
    pub(super) bytes: usize,
}

impl Cost {
    /// Returns the cost of the tools of those servers.
    pub(super) fn of(snapshot: &Snapshot, is_of: impl Fn(&str) -> bool) -> Self {
        let tools = snapshot.tools().iter();
        let tools = tools.filter(|tool| is_of(tool.server()));
        let bytes = tools.filter_map(|tool| {
            let declared = tool.declared()?;
            let longer = tool.name.len().saturating_sub(declared.name.len());
            Some(declared.object(false).get().len() + longer)
        });
        Self { bytes: bytes.sum() }
    }

    /// Returns the approximate number of tokens.
    pub(super) fn tokens(self) -> usize {
        self.bytes.div_ceil(BYTES_PER_TOKEN)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, ~{} tokens",
            size(self.bytes),
            rounded(self.tokens())
        )
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

/// Returns a number with no more digits than are known.
fn rounded(count: usize) -> String {
    match count {
        0..100 => count.to_string(),
        100..10_000 => (count / 10 * 10).to_string(),
        _ => format!("{}k", count / 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_told_roughly() {
        for (bytes, told) in [
            (0, "0 B, ~0 tokens"),
            (363, "363 B, ~91 tokens"),
            (12_345, "12.3 kB, ~3080 tokens"),
            (932_000, "932 kB, ~233k tokens"),
        ] {
            assert_eq!(Cost { bytes }.to_string(), told);
        }
    }
}
