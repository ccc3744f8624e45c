//! Asking a client's user to agree to something that is theirs to decide.

use std::sync::Arc;

use serde_json::{Map, json};

use crate::runtime::{Capability, Listener, Question};

/// How long a question may be, in bytes. What is longer nobody reads in a form.
const MAX_QUESTION_BYTES: usize = 32 << 10;

/// Why nobody has agreed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unconfirmed {
    #[error("there is no client here whose user could be asked")]
    NobodyToAsk,
    #[error("there is more to be read than fits into a form")]
    TooLong,
    #[error("its user was asked and has not agreed")]
    NotAgreed,
}

/// Asks the user to agree to something. The message is cleaned by whoever has made it.
///
/// # Errors
/// They have not, or nobody can be asked whose answer is the user's.
pub(super) async fn confirm(
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
    let answers = caller.ask(vec![question]).await;
    let agreed = answers.is_ok_and(|answers| {
        answers.first().is_some_and(|answer| {
            let content = answer.get("content");
            let agrees = content.as_deref().and_then(|content| content.get("agree"));
            answer.get("action").as_deref() == Some(&json!("accept"))
                && agrees == Some(&json!(true))
        })
    });
    if agreed {
        Ok(())
    } else {
        Err(Unconfirmed::NotAgreed)
    }
}
