//! Policies for what a server says of itself, once that is not what its user has approved.

use std::collections::BTreeMap;

use dormouse_text::wildcard::matches;
use toml_edit::Item;

use crate::problem::within;
use crate::reading::reader::DocumentReader;

/// Policy for a tool (a prompt, a template, instructions) that is no longer what its user has
/// approved, from the least cautious on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum OnChange {
    /// The tool is taken as it is now.
    Accept,
    /// Agents go on seeing the tool as it was approved, and calls pass.
    #[default]
    Freeze,
    /// The tool is not shown; a client that can ask its user asks when the tool is called, the
    /// others say what to do.
    Ask,
    /// The tool is not shown until `dormouse approve`.
    Block,
}

impl OnChange {
    /// The policies, each with its word in the configuration.
    pub(crate) const WORDS: [(&'static str, Self); 4] = [
        ("freeze", Self::Freeze),
        ("ask", Self::Ask),
        ("block", Self::Block),
        ("accept", Self::Accept),
    ];

    /// Returns the word in the configuration.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Freeze => "freeze",
            Self::Ask => "ask",
            Self::Block => "block",
        }
    }
}

/// Policy for a tool that a server has not had before, from the least cautious on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum NewTools {
    /// The tool is shown as it comes, and counts as approved like that.
    Show,
    /// The tool is not shown until its user has approved it.
    #[default]
    Hide,
}

impl NewTools {
    /// The policies, each with its word in the configuration.
    pub(crate) const WORDS: [(&'static str, Self); 2] =
        [("hide", Self::Hide), ("show", Self::Show)];
}

/// Policies for changes of what one server says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangePolicy {
    /// Policy for everything that `tools` does not name.
    pub on_change: OnChange,
    /// Policies for tools, by their names or patterns of these: of several that match, the most
    /// cautious counts.
    pub tools: BTreeMap<String, OnChange>,
    /// Policy for new tools.
    pub new_tools: NewTools,
}

impl From<OnChange> for ChangePolicy {
    fn from(on_change: OnChange) -> Self {
        Self {
            on_change,
            ..Self::default()
        }
    }
}

impl ChangePolicy {
    /// Returns the policy for a tool.
    #[must_use]
    pub fn of_tool(&self, tool: &str) -> OnChange {
        let named = self.tools.iter();
        let named = named.filter(|(pattern, _)| matches(pattern, tool));
        named.map(|(_, mode)| *mode).max().unwrap_or(self.on_change)
    }

    /// Returns a policy that allows nothing that one of the two does not allow.
    #[must_use]
    pub fn most_cautious(&self, other: &Self) -> Self {
        if self == other {
            return self.clone();
        }
        let mut tools = BTreeMap::new();
        for (one, beside) in [(self, other), (other, self)] {
            for (pattern, mode) in &one.tools {
                // What the other one says of these tools it may say by other patterns, which are
                // in here as well.
                let mode = (*mode).max(beside.on_change);
                let known = tools.entry(pattern.clone()).or_insert(mode);
                *known = (*known).max(mode);
            }
        }
        Self {
            on_change: self.on_change.max(other.on_change),
            tools,
            new_tools: self.new_tools.max(other.new_tools),
        }
    }

    /// Whether this policy allows more of something than another one does.
    #[must_use]
    pub fn allows_more_than(&self, other: &Self) -> bool {
        let mut tools = self.tools.iter();
        self.on_change < other.on_change
            || self.new_tools < other.new_tools
            || tools.any(|(pattern, mode)| mode < other.tools.get(pattern).unwrap_or(mode))
    }

    /// Removes the policies that accept changes or new tools without the user. Returns whether
    /// there were any.
    pub fn remove_acceptance(&mut self) -> bool {
        let before = self.clone();
        self.on_change = self.on_change.max(OnChange::default());
        self.new_tools = NewTools::default();
        self.tools.retain(|_, mode| *mode > OnChange::Accept);
        *self != before
    }
}

impl DocumentReader<'_> {
    /// Reads the policies for changes of tools, by their names or patterns.
    pub(crate) fn tools_on_change(&mut self, item: &Item, at: &str) -> BTreeMap<String, OnChange> {
        let Some(table) = self.table(item, at) else {
            return BTreeMap::new();
        };
        let mut tools = BTreeMap::new();
        for (name, item) in table.iter() {
            if let Some(mode) = self.choice(item, &within(at, name), &OnChange::WORDS) {
                tools.insert(name.to_owned(), mode);
            }
        }
        tools
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use OnChange::{Accept, Ask, Block, Freeze};

    fn policy(on_change: OnChange, tools: &[(&str, OnChange)]) -> ChangePolicy {
        let tools = tools.iter();
        ChangePolicy {
            on_change,
            tools: tools
                .map(|(name, mode)| ((*name).to_owned(), *mode))
                .collect(),
            new_tools: NewTools::Show,
        }
    }

    #[test]
    fn of_the_patterns_that_match_the_most_cautious_counts() {
        let some = policy(Block, &[("get_*", Accept), ("*_all", Ask), ("one", Freeze)]);
        for (tool, expected) in [
            ("get_it", Accept),
            ("get_all", Ask),
            ("one", Freeze),
            ("two", Block),
        ] {
            assert_eq!(some.of_tool(tool), expected, "{tool}");
        }
    }

    #[test]
    fn two_together_allow_nothing_that_one_of_them_does_not() {
        let all = [
            policy(Freeze, &[]),
            policy(Accept, &[("a", Block)]),
            policy(Block, &[("a*", Accept)]),
            policy(Freeze, &[("ab", Accept), ("*b", Ask)]),
            ChangePolicy::default(),
        ];
        for one in &all {
            for other in &all {
                let both = one.most_cautious(other);
                for tool in ["a", "ab", "b", "c"] {
                    let least = one.of_tool(tool).max(other.of_tool(tool));
                    assert!(both.of_tool(tool) >= least, "{one:?} {other:?} {tool}");
                }
                assert!(both.new_tools >= one.new_tools);
            }
            assert_eq!(one.most_cautious(one), *one);
            assert!(!one.allows_more_than(one));
        }
        assert!(policy(Freeze, &[("x", Accept)]).allows_more_than(
            &policy(Freeze, &[]).most_cautious(&policy(Freeze, &[("x", Accept)]))
        ));
    }

    #[test]
    fn acceptance_can_be_taken_out() {
        let mut some = policy(Accept, &[("a", Accept), ("b", Block)]);
        assert!(some.remove_acceptance());
        let expected = ChangePolicy {
            new_tools: NewTools::Hide,
            ..policy(Freeze, &[("b", Block)])
        };
        assert_eq!(some, expected);
        assert!(!some.remove_acceptance());
    }
}
