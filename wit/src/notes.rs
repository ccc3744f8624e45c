//! What a type's JSON Schema says beyond the type itself: doc comments and
//! constraints. [`Type`](crate::Type) is what values are encoded by and carries
//! none of this; notes are a tree of the same shape beside it.

use std::collections::BTreeMap;

use serde_json::Value;

/// The notes on one place in a type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Notes {
    /// A name for people (`@title`).
    pub(crate) title: Option<String>,
    /// The doc comment.
    pub(crate) description: Option<String>,
    /// JSON Schema keywords: `minimum`, `pattern`, ….
    pub(crate) constraints: BTreeMap<&'static str, Value>,
    /// Whether `null` may be given where the place may be left out
    /// (`@default null`).
    pub(crate) nullable: bool,
    /// The notes on its parts: fields and cases in order, or the one element.
    pub(crate) parts: Vec<Notes>,
}

impl Notes {
    /// Notes that say nothing, for a type that has none.
    pub(crate) const NONE: &'static Self = &Self {
        title: None,
        description: None,
        constraints: BTreeMap::new(),
        nullable: false,
        parts: Vec::new(),
    };

    /// The notes on a part.
    pub(crate) fn part(&self, index: usize) -> &Self {
        self.parts.get(index).unwrap_or(Self::NONE)
    }

    /// The keywords, ready to go into a schema.
    pub(crate) fn constraints(&self) -> impl Iterator<Item = (String, Value)> {
        self.constraints
            .iter()
            .map(|(keyword, value)| ((*keyword).to_owned(), value.clone()))
    }

    /// Notes on the parts only.
    pub(crate) fn over(parts: Vec<Self>) -> Self {
        Self {
            parts,
            ..Self::default()
        }
    }
}
