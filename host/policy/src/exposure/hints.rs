//! Hints on tools (MCP `ToolAnnotations`), and those that a user sets in place of a server's.

use std::collections::BTreeMap;

use dormouse_text::wildcard::matches;

/// Hints on one tool. What is unset is not said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolHints {
    /// `readOnlyHint`: it changes nothing.
    pub read_only: Option<bool>,
    /// `destructiveHint`: it may change or remove what is there.
    pub destructive: Option<bool>,
    /// `idempotentHint`: calling it twice does no more than calling it once.
    pub idempotent: Option<bool>,
    /// `openWorldHint`: it deals with what is outside of its server.
    pub open_world: Option<bool>,
}

impl ToolHints {
    /// Names of the hints in MCP, and in the configuration.
    pub const NAMES: [&'static str; 4] = [
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
    ];

    /// Returns the hints with their names, in the order of [`Self::NAMES`].
    pub fn named(self) -> impl Iterator<Item = (&'static str, Option<bool>)> {
        let values = [
            self.read_only,
            self.destructive,
            self.idempotent,
            self.open_world,
        ];
        Self::NAMES.into_iter().zip(values)
    }

    /// Returns a hint's place by its name.
    pub fn named_mut(&mut self, name: &str) -> Option<&mut Option<bool>> {
        match name {
            "readOnlyHint" => Some(&mut self.read_only),
            "destructiveHint" => Some(&mut self.destructive),
            "idempotentHint" => Some(&mut self.idempotent),
            "openWorldHint" => Some(&mut self.open_world),
            _ => None,
        }
    }

    /// Returns those of the hints by which a tool counts as no less dangerous than without them.
    fn careful(self) -> Self {
        Self {
            read_only: self.read_only.filter(|is_so| !is_so),
            destructive: self.destructive.filter(|is_so| *is_so),
            idempotent: self.idempotent.filter(|is_so| !is_so),
            open_world: self.open_world.filter(|is_so| *is_so),
        }
    }

    /// Returns these hints, and those of `other` where nothing is said here.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            read_only: self.read_only.or(other.read_only),
            destructive: self.destructive.or(other.destructive),
            idempotent: self.idempotent.or(other.idempotent),
            open_world: self.open_world.or(other.open_world),
        }
    }
}

/// Hints that a user sets on the tools of a server (`[servers.NAME.annotations]`), by the tools'
/// own names or patterns of these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HintOverrides(pub BTreeMap<String, ToolHints>);

impl HintOverrides {
    /// Whether no hint is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns those of the hints by which tools count as no less dangerous than without them.
    #[must_use]
    pub fn careful(&self) -> Self {
        let all = self.0.iter();
        let all = all.map(|(tool, hints)| (tool.clone(), hints.careful()));
        Self(
            all.filter(|(_, hints)| *hints != ToolHints::default())
                .collect(),
        )
    }

    /// Returns the hints that are set on a tool: each by its name where that says it, and else by the
    /// longest pattern that does.
    #[must_use]
    pub fn of(&self, tool: &str) -> ToolHints {
        let mut found = self.0.get(tool).copied().unwrap_or_default();
        let patterns = self.0.iter().filter(|(name, _)| name.contains('*'));
        let mut patterns: Vec<_> = patterns.filter(|(name, _)| matches(name, tool)).collect();
        patterns.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        for (_, hints) in patterns {
            found = found.or(*hints);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_before_patterns_and_long_ones_before_short_ones() {
        let hints = |read_only, destructive| ToolHints {
            read_only,
            destructive,
            ..ToolHints::default()
        };
        let all = [
            ("*", hints(Some(false), Some(true))),
            ("get_*", hints(Some(true), None)),
            ("get_rid", hints(Some(false), None)),
        ];
        let all = all.map(|(name, hints)| (name.to_owned(), hints));
        let overrides = HintOverrides(all.into());
        for (tool, expected) in [
            ("set", hints(Some(false), Some(true))),
            ("get_all", hints(Some(true), Some(true))),
            ("get_rid", hints(Some(false), Some(true))),
        ] {
            assert_eq!(overrides.of(tool), expected, "{tool}");
        }
        assert_eq!(HintOverrides::default().of("set"), ToolHints::default());
    }

    #[test]
    fn careful_hints_make_no_tool_less_dangerous() {
        use crate::exposure::ToolAccess;
        let values = [None, Some(false), Some(true)];
        let pairs = values
            .into_iter()
            .flat_map(|one| values.map(|other| (one, other)));
        let all: Vec<_> = pairs
            .map(|(read_only, destructive)| ToolHints {
                read_only,
                destructive,
                idempotent: read_only,
                open_world: destructive,
            })
            .collect();
        for set in &all {
            let overrides = HintOverrides([("*".to_owned(), *set)].into());
            let careful = overrides.careful().of("x");
            let kept = (set.read_only == Some(false), set.destructive == Some(true));
            let is_kept = |hint: Option<bool>| hint.is_some();
            assert_eq!(
                (is_kept(careful.read_only), is_kept(careful.destructive)),
                kept
            );
            assert_eq!(
                (is_kept(careful.idempotent), is_kept(careful.open_world)),
                kept
            );
            for said in &all {
                let with_careful = ToolAccess::of(careful.or(*said));
                assert!(with_careful >= ToolAccess::of(*said), "{set:?} {said:?}");
            }
        }
    }
}
