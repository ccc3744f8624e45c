//! Values that are filled in.

/// A value that is filled in.
pub(super) struct FilledValue {
    pub(super) value: String,
    /// The value as people see it before they trust it; none where that is how it is written.
    pub(super) shown: Option<String>,
    /// Whether the value is the user's own, or may be.
    pub(super) is_users: bool,
}

impl FilledValue {
    /// Makes a value that says nothing of the user's own, or of which nothing is there.
    pub(super) fn plain(value: String) -> Self {
        Self {
            value,
            shown: None,
            is_users: false,
        }
    }

    pub(super) fn users(value: String) -> Self {
        Self {
            is_users: true,
            ..Self::plain(value)
        }
    }
}
