//! Hints about content, made in one line each.

use crate::types::{Annotations, Role};

impl Default for Annotations {
    /// Returns hints that say nothing.
    fn default() -> Self {
        Self {
            audience: Vec::new(),
            priority: None,
            last_modified: None,
        }
    }
}

impl Annotations {
    /// Adds that the content is meant for the user.
    #[must_use]
    pub fn for_user(self) -> Self {
        self.meant_for(Role::User)
    }

    /// Adds that the content is meant for the model.
    #[must_use]
    pub fn for_assistant(self) -> Self {
        self.meant_for(Role::Assistant)
    }

    fn meant_for(mut self, role: Role) -> Self {
        if !self.audience.contains(&role) {
            self.audience.push(role);
        }
        self
    }

    /// Sets the priority of the content: from 0 (least) to 1 (most).
    #[must_use]
    pub fn with_priority(mut self, priority: f64) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Sets the time of the last change: a time of ISO 8601, like `2026-07-28T12:00:00Z`.
    #[must_use]
    pub fn with_last_modified(mut self, time: impl Into<String>) -> Self {
        self.last_modified = Some(time.into());
        self
    }
}
