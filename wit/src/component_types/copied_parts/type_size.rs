//! Sizes of types, and of the items that have types, each counted once from those of its parts.

use std::collections::HashMap;
use std::rc::Rc;

/// Number of parts visited without being copied that count as one copied part.
pub(super) const VISITS_OF_COPY: u64 = 16;

/// Size of one type with all types in it, each counted as often as it occurs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    /// Number of parts.
    pub(super) parts: u64,
    /// Number of those parts that contain resources, and so are copied.
    pub(super) copied: u64,
}

impl Size {
    pub(super) const RESOURCE: Self = Self {
        parts: 1,
        copied: 1,
    };

    /// Returns the size of a type whose parts have these sizes.
    pub(super) fn of(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut sum = Self::default();
        for part in parts {
            sum.parts = sum.parts.saturating_add(part.parts);
            sum.copied = sum.copied.saturating_add(part.copied);
        }
        Self {
            parts: sum.parts.saturating_add(1),
            copied: sum.copied.saturating_add(u64::from(sum.copied > 0)),
        }
    }

    pub(super) fn cost(self) -> u64 {
        self.copied
            .saturating_add(self.parts / VISITS_OF_COPY)
            .saturating_add(1)
    }
}

/// A type, or an item that has a type: a function, a value, an instance, a component.
#[derive(Debug, Clone, Default)]
pub(super) struct Item {
    pub(super) size: Size,
    /// Exports of an instance, or of each instance of a component.
    pub(super) exports: Option<Rc<HashMap<String, Self>>>,
    /// Levels of instances and components in this one, itself included; 0 for other items.
    pub(super) depth: usize,
}

impl Item {
    pub(super) fn sized(size: Size) -> Self {
        Self {
            size,
            exports: None,
            depth: 0,
        }
    }

    /// Returns the parts that are copied where the item is imported, exported or instantiated.
    pub(super) fn cost(&self) -> u64 {
        let names = self.exports.as_ref().map_or(0, |exports| exports.len());
        self.size.cost().saturating_add(names as u64)
    }
}
