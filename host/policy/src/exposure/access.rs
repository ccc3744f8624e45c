//! Access of a tool, by the hints that its server gives of it.

use super::ToolHints;

/// Access of a tool to the world, from the least on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolAccess {
    /// It changes nothing.
    Read,
    /// It adds something, and takes nothing away.
    Write,
    /// It may change or remove anything.
    Destructive,
}

impl ToolAccess {
    /// Returns what a tool with those hints may do. Where MCP's defaults leave it open, or the hints
    /// contradict each other, that is the most.
    #[must_use]
    pub fn of(hints: ToolHints) -> Self {
        match (hints.read_only, hints.destructive) {
            (Some(true), Some(true)) => Self::Destructive,
            (Some(true), _) => Self::Read,
            (_, Some(false)) => Self::Write,
            _ => Self::Destructive,
        }
    }

    /// Returns the name of the tool of Dormouse's own that calls tools with that access.
    #[must_use]
    pub fn call_tool(self) -> &'static str {
        match self {
            Self::Read => "call_tool",
            Self::Write => "call_tool_write",
            Self::Destructive => "call_tool_destructive",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nothing_is_said_of_may_do_anything() {
        use ToolAccess::{Destructive, Read, Write};
        let (yes, no) = (Some(true), Some(false));
        for (read_only, destructive, access) in [
            (None, None, Destructive),
            (None, yes, Destructive),
            (None, no, Write),
            (yes, None, Read),
            (yes, no, Read),
            (yes, yes, Destructive),
            (no, None, Destructive),
            (no, yes, Destructive),
            (no, no, Write),
        ] {
            let hints = ToolHints {
                read_only,
                destructive,
                ..ToolHints::default()
            };
            assert_eq!(ToolAccess::of(hints), access, "{hints:?}");
        }
    }
}
