//! Answers of a user who was asked for grants while a plugin ran.

use std::collections::BTreeSet;
use std::time::Duration;

use dormouse_policy::HttpGrant;
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

use crate::QuestionTurns;

/// Most hosts that are remembered as refused: more are refused without being asked about.
const MAX_REFUSED: usize = 64;

/// Grants that a user has given one plugin for as long as the host runs, and hosts that they have
/// refused.
#[derive(Default)]
pub struct SessionGrants {
    answers: Mutex<Answers>,
    asking: QuestionTurns,
}

#[derive(Default)]
struct Answers {
    granted: Vec<HttpGrant>,
    /// Grants that their user has refused: no other one of their hosts is asked for.
    refused: Vec<HttpGrant>,
    /// Secrets, by their names: their user has said that they do not give their texts.
    refused_secrets: BTreeSet<String>,
}

impl SessionGrants {
    /// Waits until no other question about this plugin is open, or nobody has answered it for so long.
    pub async fn turn(&self, max_wait: Duration) -> OwnedMutexGuard<()> {
        self.asking.turn(max_wait).await
    }

    /// Grants requests for as long as the host runs.
    pub fn grant(&self, granted: HttpGrant) {
        self.answers.lock().granted.push(granted);
    }

    /// Takes back grants that are meant. Returns whether there were any.
    pub fn take_back(&self, is_meant: impl Fn(&HttpGrant) -> bool) -> bool {
        let granted = &mut self.answers.lock().granted;
        let before = granted.len();
        granted.retain(|grant| !is_meant(grant));
        granted.len() < before
    }

    /// Keeps that the user has refused a grant, who is not asked for its host again, at whatever port
    /// and for whatever requests.
    pub fn refuse(&self, refused: HttpGrant) {
        self.answers.lock().refused.push(refused);
    }

    /// Whether the user has refused the host of a grant.
    #[must_use]
    pub fn is_refused(&self, wanted: &HttpGrant) -> bool {
        let answers = self.answers.lock();
        answers
            .refused
            .iter()
            .any(|one| one.is_of_same_host(wanted))
    }

    /// Keeps that the user does not give the text of a secret, who is not asked for it again.
    pub fn refuse_secret(&self, name: &str) {
        let mut answers = self.answers.lock();
        answers.refused_secrets.insert(name.to_owned());
    }

    /// Whether the user may be asked for the text of a secret.
    #[must_use]
    pub fn may_ask_for_secret(&self, name: &str) -> bool {
        !self.answers.lock().refused_secrets.contains(name)
    }

    /// Returns the requests that are granted for as long as the host runs.
    #[must_use]
    pub fn granted(&self) -> Vec<HttpGrant> {
        self.answers.lock().granted.clone()
    }

    pub(crate) fn may_ask(&self, wanted: &HttpGrant) -> bool {
        self.answers.lock().refused.len() < MAX_REFUSED && !self.is_refused(wanted)
    }
}
