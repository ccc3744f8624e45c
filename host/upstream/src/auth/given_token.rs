//! Tokens that requests are given.

use std::time::{Duration, Instant};

use dormouse_launch::Secret;

/// Time after a renewal for which a refusal is taken to be of the token before it, by requests that
/// were on their way.
const OVERLAP: Duration = Duration::from_secs(5);

/// The token that requests were last given.
#[derive(Default)]
pub(super) struct Given {
    token: Option<Secret>,
    /// Time at which it took the place of another one.
    renewed: Option<Instant>,
}

impl Given {
    /// Notes that this token is given to requests now.
    pub(super) fn give(&mut self, token: &Secret) {
        if self.token.as_ref() != Some(token) {
            self.renewed = self.token.is_some().then(Instant::now);
            self.token = Some(token.clone());
        }
    }

    /// Whether the token that was refused is likely not this one.
    pub(super) fn is_newer(&self, token: &Secret) -> bool {
        let overlap = self.renewed.is_some_and(|when| when.elapsed() < OVERLAP);
        self.token.as_ref() != Some(token) || overlap
    }
}
