//! Lists that have to be known before something is asked of an upstream.

/// Lists that have to be known, as they are after all changes that an upstream has announced, before
/// something is asked of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NeededLists {
    /// Its tools.
    pub(crate) tools: bool,
    /// Its prompts.
    pub(crate) prompts: bool,
}
