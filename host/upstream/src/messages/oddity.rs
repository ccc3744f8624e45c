//! Behaviour of upstreams that is allowed and odd.

/// Behaviour that is allowed and odd: each kind is logged once for a connection.
#[derive(Debug, Clone, Copy)]
pub(super) enum Oddity {
    NoMessage,
    Batch,
    UnknownId,
    Flood,
    TooMuchAsked,
    LargeBatch,
    Unreadable,
}

impl Oddity {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::NoMessage => "says what is no message of JSON-RPC; that is ignored",
            Self::Batch => "sends several messages as one; they are taken apart",
            Self::UnknownId => "answers what nobody has asked, or twice; that is ignored",
            Self::Flood => "asks faster than it takes answers; some get none",
            Self::TooMuchAsked => {
                "asks with more bytes at once than its `limits.requests` allows; some are refused"
            }
            Self::LargeBatch => {
                "sends more messages as one than its `limits.batch` allows; the rest is ignored"
            }
            Self::Unreadable => {
                "sends a message that is nested too deeply, has a member twice or too many, or too \
                 long an id; that is refused"
            }
        }
    }
}
