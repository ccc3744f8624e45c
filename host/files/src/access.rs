//! Permissions of a file that is put in place of another.

use std::fs;

/// Permissions of a file that is put in place. Whose the file is, and its access control list, stay
/// what they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Permissions of the file before; where there was none, access for its user alone.
    Kept,
    /// Access for its user alone.
    Private,
    /// These permissions.
    Given(fs::Permissions),
}
