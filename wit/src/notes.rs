//! Notes on types: the doc comments and constraints that a JSON Schema says beyond the type itself.
//! Values are encoded by [`Type`](crate::Type), which has none of these; notes are a tree of the
//! same shape beside it.

use std::collections::BTreeMap;

use serde_json::Value;

/// The notes on one place in a type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Notes {
    /// Title for people (`@title`).
    pub(crate) title: Option<String>,
    /// The doc comment.
    pub(crate) description: Option<String>,
    /// JSON Schema keywords: `minimum`, `pattern`, ….
    pub(crate) constraints: BTreeMap<&'static str, Value>,
    /// Whether `null` may be given where the place may be left out
    /// (`@default null`).
    pub(crate) nullable: bool,
    /// The notes on the type's parts: fields and cases in order, or the one element.
    pub(crate) parts: Vec<Notes>,
}

impl Notes {
    /// Empty notes, for a type that has none.
    pub(crate) const NONE: &'static Self = &Self {
        title: None,
        description: None,
        constraints: BTreeMap::new(),
        nullable: false,
        parts: Vec::new(),
    };

    /// Returns the notes on a part.
    pub(crate) fn part(&self, index: usize) -> &Self {
        self.parts.get(index).unwrap_or(Self::NONE)
    }

    /// Returns the constraints as members of a schema.
    pub(crate) fn constraints(&self) -> impl Iterator<Item = (String, Value)> {
        self.constraints
            .iter()
            .map(|(keyword, value)| ((*keyword).to_owned(), value.clone()))
    }

    /// Returns notes on the parts only.
    pub(crate) fn over(parts: Vec<Self>) -> Self {
        Self {
            parts,
            ..Self::default()
        }
    }
}
