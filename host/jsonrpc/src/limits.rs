//! Caps on one message.

/// Caps on one message, beside its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageLimits {
    /// Most members of an object that is taken apart. Objects that are passed on as they are may
    /// have any number.
    pub members: usize,
    /// Most levels of nesting of a message, its own object included.
    pub depth: usize,
    /// Longest id of a request, in bytes as it is written.
    pub id_bytes: usize,
}

impl Default for MessageLimits {
    fn default() -> Self {
        Self {
            members: 65_536,
            // As deep as `serde_json` and most clients read.
            depth: 127,
            id_bytes: 4096,
        }
    }
}
