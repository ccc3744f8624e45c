//! Kinds of items that functions are to agents.

use super::tags::Doc;

/// Kind of item that a function is to agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A function without a tag that says otherwise.
    Tool,
    /// `@prompt`
    Prompt,
    /// `@resource`: one resource, or a template of many.
    Resource,
}

impl Kind {
    /// Returns the kind that a function's comment says. Where it has both tags, the first counts,
    /// and the other is an unknown tag.
    pub(crate) fn of(doc: &Doc) -> Self {
        let said = doc.tags.iter().find_map(|tag| match tag.name.as_str() {
            "prompt" => Some(Self::Prompt),
            "resource" => Some(Self::Resource),
            _ => None,
        });
        said.unwrap_or(Self::Tool)
    }

    /// Returns the noun for messages.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
        }
    }
}
