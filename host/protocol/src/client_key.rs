//! Which client something is of, so that clients share what there is.

use super::SessionId;

/// Client as far as it can be told from others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ClientKey {
    /// Key of a session.
    Session(SessionId),
    /// One that has none, by what it calls itself.
    Name(String),
}
