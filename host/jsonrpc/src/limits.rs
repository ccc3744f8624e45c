//! Caps on one message.

/// Caps on one message, beside its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageLimits {
    /// The members that an object may have which is taken apart. Objects that are passed
    /// on as they are may have any number.
    pub members: usize,
    /// The levels of nesting that a message may have, its own object included.
    pub depth: usize,
    /// The length of a request's id, in bytes as it is written.
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
