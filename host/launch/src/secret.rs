//! Values that are never shown.

use std::fmt;

/// A value that is never shown: of a header or of an environment variable.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Most characters of the name of a secret that its user has named.
    pub const MAX_NAME: usize = 64;

    /// Whether a text can be the name that its user gives a secret.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        let is_sign = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        !name.is_empty() && name.len() <= Self::MAX_NAME && name.chars().all(is_sign)
    }

    /// Hides a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Returns the value, for the one that it is meant for.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}
