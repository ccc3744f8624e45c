//! Lists that have to be known before something is asked of an upstream.

/// Lists that have to be known, as they are after all changes that an upstream has announced, before
/// something is asked of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NeededLists {
    /// Its tools.
    pub tools: bool,
    /// Its prompts.
    pub prompts: bool,
}

impl NeededLists {
    /// Returns the lists that any of two needs.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            tools: self.tools || other.tools,
            prompts: self.prompts || other.prompts,
        }
    }
}
