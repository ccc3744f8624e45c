//! Asking a client's user to agree to something that is theirs to decide.

use std::collections::BTreeSet;
use std::sync::{Arc, MutexGuard, PoisonError};

use serde_json::{Map, json};

use super::Roster;
use crate::runtime::{Capability, Listener, Question};

/// How long a question may be, in bytes. What is longer nobody reads in a form.
pub(super) const MAX_QUESTION_BYTES: usize = 32 << 10;

/// Why nobody has agreed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unconfirmed {
    #[error("nobody can be asked through this client")]
    NobodyToAsk,
    #[error("there is more to be read than fits into a form")]
    TooLong,
    #[error("its user was asked and has not agreed")]
    NotAgreed,
    #[error("its user was asked in this session, has not agreed, and is not asked again")]
    AskedBefore,
    #[error("its user was asked, and the client has given no answer")]
    NoAnswer,
}

/// Things that are asked about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asked {
    /// Whether the project that the host works in is trusted.
    Trust,
    /// Whether what a server offers is approved, by its name.
    Approval(String),
}

impl Roster {
    /// Asks the user to agree to something, unless they have been asked and have not: a model
    /// could otherwise ask until they are tired of it. That holds for as long as the host
    /// runs, which is one session: nobody is asked over HTTP.
    ///
    /// # Errors
    /// They do not agree, or nobody can be asked whose answer is the user's.
    pub(super) async fn confirm(
        &self,
        asked: Asked,
        caller: &Arc<dyn Listener>,
        message: String,
        what: &str,
    ) -> Result<(), Unconfirmed> {
        if self.refused().contains(&asked) {
            return Err(Unconfirmed::AskedBefore);
        }
        let outcome = confirm(caller, message, what).await;
        if outcome == Err(Unconfirmed::NotAgreed) {
            self.refused().insert(asked);
        }
        outcome
    }

    fn refused(&self) -> MutexGuard<'_, BTreeSet<Asked>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks the user to agree to something. The message is cleaned by whoever has made it.
///
/// # Errors
/// They have not, or nobody can be asked whose answer is the user's.
async fn confirm(
    caller: &Arc<dyn Listener>,
    message: String,
    what: &str,
) -> Result<(), Unconfirmed> {
    if !caller.may_decide() || !caller.supports(Capability::ElicitationForm) {
        return Err(Unconfirmed::NobodyToAsk);
    }
    if message.len() > MAX_QUESTION_BYTES {
        return Err(Unconfirmed::TooLong);
    }
    let schema = json!({
        "type": "object",
        "properties": { "agree": { "type": "boolean", "title": what } },
        "required": ["agree"],
    });
    let question = Question {
        id: "dormouse".to_owned(),
        capability: Capability::ElicitationForm,
        params: Map::from_iter([
            ("message".to_owned(), message.into()),
            ("requestedSchema".to_owned(), schema),
        ]),
        text: None,
    };
    let answers = caller.ask(vec![question]).await.unwrap_or_default();
    let answer = answers.first().ok_or(Unconfirmed::NoAnswer)?;
    let content = answer.get("content");
    let agrees = content.as_deref().and_then(|content| content.get("agree"));
    let accepts = answer.get("action").as_deref() == Some(&json!("accept"));
    match accepts && agrees == Some(&json!(true)) {
        true => Ok(()),
        false => Err(Unconfirmed::NotAgreed),
    }
}
