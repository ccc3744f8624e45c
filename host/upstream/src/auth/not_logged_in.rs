//! Reason why the user of a call is not logged in.

use std::fmt;

/// Reason why the user of a call is not logged in, in words for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotLoggedIn {
    reason: String,
    without_link: Option<String>,
}

impl NotLoggedIn {
    /// Returns a reason without a link.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            without_link: None,
        }
    }

    /// Returns a reason with the link of a login in it, and what others than the user may read.
    #[must_use]
    pub fn with_link(reason: String, without_link: String) -> Self {
        Self {
            reason,
            without_link: Some(without_link),
        }
    }

    /// Whether the reason has the link of a login in it. Whoever follows it decides who the user is:
    /// it is for the user of the call alone, and not for a plugin, which could have another person
    /// follow it.
    #[must_use]
    pub fn has_link(&self) -> bool {
        self.without_link.is_some()
    }

    /// Returns the reason without a link.
    #[must_use]
    pub fn without_link(&self) -> &str {
        self.without_link.as_deref().unwrap_or(&self.reason)
    }
}

impl fmt::Display for NotLoggedIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for NotLoggedIn {}
