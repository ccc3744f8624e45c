//! Why an upstream has not given a result.

use super::channel::Lost;
use super::message::Refusal;

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The upstream answered with an error.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// The gate did not let it through.
    #[error("{0}")]
    Barred(String),
    /// It did not get there, or no answer came back.
    #[error(transparent)]
    Lost(#[from] Lost),
}

impl Failure {
    /// As the end of a connection that is being made.
    pub(super) fn into_lost(self) -> Lost {
        match self {
            Self::Lost(lost) => lost,
            Self::Barred(why) => Lost::Broken(why),
            Self::Refused(refusal) => Lost::Broken(format!(
                "it refuses: {} (code {})",
                refusal.message, refusal.code
            )),
        }
    }
}
