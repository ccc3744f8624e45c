//! Keys of clients, by which they share what there is.

use super::SessionId;

/// Client as far as it can be told from others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ClientKey {
    /// Key of a session.
    Session(SessionId),
    /// Name that a client without a session calls itself.
    Name(String),
}
