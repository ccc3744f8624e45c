//! Answers of a user who was asked for grants while a plugin ran.

use dormouse_policy::HttpGrant;
use parking_lot::Mutex;
use tokio::sync::MutexGuard;

/// Most grants that are remembered as refused: more are refused without being asked about.
const MAX_REFUSED: usize = 64;

/// Grants that a user has given one plugin for as long as the host runs, and those that they have
/// refused.
#[derive(Default)]
pub struct SessionGrants {
    answers: Mutex<Answers>,
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Answers {
    granted: Vec<HttpGrant>,
    refused: Vec<HttpGrant>,
}

impl SessionGrants {
    /// Waits until no other question about this plugin is open.
    pub async fn turn(&self) -> MutexGuard<'_, ()> {
        self.asking.lock().await
    }

    /// Grants requests for as long as the host runs.
    pub fn grant(&self, granted: HttpGrant) {
        self.answers.lock().granted.push(granted);
    }

    /// Keeps that the user has refused a grant, who is not asked for it again.
    pub fn refuse(&self, refused: HttpGrant) {
        self.answers.lock().refused.push(refused);
    }

    pub(crate) fn granted(&self) -> Vec<HttpGrant> {
        self.answers.lock().granted.clone()
    }

    pub(crate) fn may_ask(&self, wanted: &HttpGrant) -> bool {
        let answers = self.answers.lock();
        answers.refused.len() < MAX_REFUSED && !answers.refused.contains(wanted)
    }
}
