//! Completions of an argument that a user types.

pub use crate::bindings::completion::exports::dormouse::plugin::completion::{
    Completions, Guest as Completion, Reference,
};

impl Default for Completions {
    /// Returns no completions.
    fn default() -> Self {
        Self::from_iter([""; 0])
    }
}

/// Takes all completions, of any type that is text. The host tells at most a hundred of them, and
/// that there are more.
impl<T: Into<String>> FromIterator<T> for Completions {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let values: Vec<String> = values.into_iter().map(Into::into).collect();
        Self {
            total: u32::try_from(values.len()).ok(),
            values,
            has_more: false,
        }
    }
}
