//! Filters of the tools that are shown of an upstream.

use std::borrow::Cow;
use std::collections::HashSet;

use dormouse_text::visible::visible_line;
use dormouse_text::wildcard::matches;

use crate::naming::name::{plain, plain_pattern};

/// Filter of an upstream's tools: shows those that `include` names (all of them, where there is
/// none), without those that `exclude` names. `*` stands for any characters.
///
/// Clients have a `_` for each character of a tool's name that is no letter, digit, `-` or `_`, and
/// deny the tool by that name. So `exclude` takes all of these characters for the same one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Names or patterns; none where all tools are shown.
    pub include: Option<Vec<String>>,
    /// Names or patterns; they win over `include`.
    pub exclude: Vec<String>,
    /// More lists, each of which has to have a tool for the tool to be shown: two lists of patterns
    /// are not one.
    pub also: Vec<Vec<String>>,
}

/// A [`Filter`] that is prepared for many tools.
pub struct ToolFilter<'f> {
    include: Vec<ToolNames<'f>>,
    exclude: ToolNames<'f>,
}

/// A list of names and patterns.
struct ToolNames<'f> {
    names: HashSet<Cow<'f, str>>,
    patterns: Vec<Cow<'f, str>>,
}

impl ToolFilter<'_> {
    /// Whether a tool is shown.
    #[must_use]
    pub fn shows(&self, tool: &str) -> bool {
        self.include.iter().all(|list| list.has(tool)) && !self.excludes(tool)
    }

    /// Whether a tool is taken out by its name, not for want of it in a list of those that are shown.
    #[must_use]
    pub fn excludes(&self, tool: &str) -> bool {
        self.exclude.has(&plain(tool))
    }
}

impl<'f> ToolNames<'f> {
    fn of(list: &'f [String]) -> Self {
        Self::of_texts(list.iter().map(|one| Cow::Borrowed(one.as_str())))
    }

    /// Makes a list for names in which `_` stands for all that clients do not want there.
    fn of_plain(list: &'f [String]) -> Self {
        Self::of_texts(list.iter().map(|one| plain_pattern(one)))
    }

    fn of_texts(list: impl Iterator<Item = Cow<'f, str>>) -> Self {
        let all: HashSet<_> = list.collect();
        let (patterns, names): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|one| one.contains('*'));
        Self {
            names: names.into_iter().collect(),
            patterns,
        }
    }

    fn has(&self, tool: &str) -> bool {
        let mut patterns = self.patterns.iter();
        self.names.contains(tool) || patterns.any(|pattern| matches(pattern, tool))
    }
}

impl Filter {
    /// Whether a tool is shown. For many tools, [`Self::of_tools`] is faster.
    #[must_use]
    pub fn shows(&self, tool: &str) -> bool {
        self.of_tools().shows(tool)
    }

    /// Prepares the filter for many tools: names that are no patterns are looked up.
    #[must_use]
    pub fn of_tools(&self) -> ToolFilter<'_> {
        let include = self.include.iter().chain(&self.also);
        ToolFilter {
            include: include.map(|list| ToolNames::of(list)).collect(),
            exclude: ToolNames::of_plain(&self.exclude),
        }
    }

    /// Returns a filter that shows no tools.
    #[must_use]
    pub fn none() -> Self {
        Self {
            exclude: vec!["*".to_owned()],
            ..Self::default()
        }
    }

    /// Returns about the memory of the lists, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        let lists = self.include.iter().chain(&self.also);
        let all = lists.flatten().chain(&self.exclude);
        all.map(|one| size_of::<String>() + one.len()).sum()
    }

    /// Restricts the filter to tools that another filter shows, too.
    pub fn restrict(&mut self, other: &Self) {
        for list in other.include.iter().chain(&other.also) {
            if self.include.is_none() {
                self.include = Some(list.clone());
            } else if self.include.as_ref() != Some(list) && !self.also.contains(list) {
                self.also.push(list.clone());
            }
        }
        let known: HashSet<&String> = self.exclude.iter().collect();
        let mut taken = HashSet::new();
        let more = other.exclude.iter();
        let more = more.filter(|pattern| !known.contains(pattern) && taken.insert(*pattern));
        let more: Vec<String> = more.cloned().collect();
        self.exclude.extend(more);
    }

    /// Returns the included tools as one list: where there are several lists, the patterns of each
    /// that all others have, so that nothing more is shown.
    #[must_use]
    pub fn single_include(&self) -> Option<Vec<String>> {
        let first = self.include.as_ref()?;
        if self.also.is_empty() {
            return Some(first.clone());
        }
        let lists = || std::iter::once(first).chain(&self.also);
        let in_all =
            |pattern: &&String| lists().all(|list| list.iter().any(|of| matches(of, pattern)));
        let mut single: Vec<String> = lists().flatten().filter(in_all).cloned().collect();
        single.sort_unstable();
        single.dedup();
        Some(single)
    }

    /// Whether no tool is shown, whatever tools there are, as far as the lists alone tell that.
    #[must_use]
    pub fn shows_none(&self) -> bool {
        let is_empty = self.single_include().is_some_and(|list| list.is_empty());
        is_empty || self.exclude.iter().any(|pattern| pattern == "*")
    }

    /// Describes the shown tools for a person: of long lists, `most` patterns.
    #[must_use]
    pub fn told(&self, most: usize) -> String {
        let few = |patterns: &[String]| {
            let shown = patterns.iter().take(most);
            let shown: Vec<_> = shown
                .map(|pattern| format!("`{}`", visible_line(pattern)))
                .collect();
            match patterns.len().saturating_sub(most) {
                0 if shown.is_empty() => "none".to_owned(),
                0 => shown.join(", "),
                more => format!("{} and {more} more", shown.join(", ")),
            }
        };
        let lists = self.include.iter().chain(&self.also);
        let mut parts: Vec<_> = lists
            .map(|list| format!("of its tools only {}", few(list)))
            .collect();
        if !self.exclude.is_empty() {
            parts.push(match parts.is_empty() {
                true => format!("all of its tools but {}", few(&self.exclude)),
                false => format!("not {}", few(&self.exclude)),
            });
        }
        match parts.is_empty() {
            true => "all of its tools".to_owned(),
            false => parts.join(", and "),
        }
    }
}
