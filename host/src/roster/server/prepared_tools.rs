//! Callables and texts of a server's tools, made where they are needed, and kept.

use std::collections::HashMap;
use std::sync::Arc;

use dormouse_runtime::Callable;
use parking_lot::Mutex;

/// Callables and texts of tools, by their index among all of their server: once while the server stays as it
/// is.
#[derive(Debug, Default)]
pub(in super::super) struct PreparedTools {
    /// Callables of those that have been called.
    pub(super) callable: Mutex<HashMap<usize, Arc<Callable>>>,
    found_texts: Mutex<HashMap<usize, Arc<str>>>,
}

impl PreparedTools {
    /// Returns the text of a tool as agents are told of it that find it, which `make` makes where there
    /// is none yet.
    pub(in super::super) fn found_text(
        &self,
        index: usize,
        make: impl FnOnce() -> String,
    ) -> Arc<str> {
        if let Some(text) = self.found_texts.lock().get(&index) {
            return text.clone();
        }
        let text: Arc<str> = make().into();
        self.found_texts.lock().insert(index, text.clone());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_made_once() {
        let prepared = PreparedTools::default();
        for index in [7, 8, 7, 7] {
            let text = prepared.found_text(index, || format!("tool {index}"));
            assert_eq!(*text, format!("tool {index}"));
        }
        let again = prepared.found_text(7, || unreachable!("it was made before"));
        assert_eq!(&*again, "tool 7");
    }
}
