//! Values that do not match their types.

use std::fmt;

/// A value that does not match its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// Place of the mismatch: a JSON pointer (RFC 6901).
    pub pointer: String,
    /// Text on the mismatch.
    pub message: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "`{}`: {}", self.pointer, self.message)
    }
}

impl Mismatch {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            pointer: String::new(),
            message: message.into(),
        }
    }

    /// Adds `step` in front of the mismatch's pointer.
    pub(super) fn below(mut self, step: &str) -> Self {
        let step = step.replace('~', "~0").replace('/', "~1");
        self.pointer.insert_str(0, &format!("/{step}"));
        self
    }
}
