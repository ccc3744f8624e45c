//! Why an upstream has not given a result.

use super::channel::Lost;
use super::message::Refusal;

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The upstream answered with an error.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// It did not get there, or no answer came back.
    #[error(transparent)]
    Lost(#[from] Lost),
}

impl Failure {
    /// As the end of a connection that is being made.
    pub(super) fn into_lost(self) -> Lost {
        match self {
            Self::Lost(lost) => lost,
            Self::Refused(refusal) => Lost::Broken(format!(
                "it refuses: {} (code {})",
                refusal.message, refusal.code
            )),
        }
    }
}
