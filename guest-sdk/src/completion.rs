//! What a user may go on with while typing an argument.

pub use crate::bindings::completion::exports::dormouse::plugin::completion::{
    Completions, Guest as Completion, Reference,
};

impl Default for Completions {
    /// Nothing to go on with.
    fn default() -> Self {
        Self::from_iter([""; 0])
    }
}

/// All that there are, of anything that is text. The host tells at most a hundred of
/// them, and that there are more.
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
