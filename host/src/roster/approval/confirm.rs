//! Questions to a client's user about decisions that only they can make.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dormouse_protocol::{
    Answer, Capability, Listener, MAX_WAIT_FOR_OTHER, Question, QuestionOrigin,
};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use crate::roster::Roster;

/// Longest question, in bytes, with the marks of lines that are broken. A longer one is not read in a
/// form.
pub(super) const MAX_QUESTION_BYTES: usize = 36 << 10;

/// Reason for which the user has not agreed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(in super::super) enum Unconfirmed {
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
    #[error("it is no longer what its user was shown")]
    Changed,
}

/// Subject of a question.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ConfirmationSubject {
    /// Trust in the project that the host works in.
    Trust,
    /// Approval of a server's pending items, by the server's name.
    Approval(String),
}

/// Outcome of a form, once it is closed.
pub(super) type FormOutcome = Result<(), Unconfirmed>;

/// Questions that users are being asked, and those that they have refused.
#[derive(Default)]
pub(in super::super) struct Questions(Mutex<QuestionsState>);

#[derive(Default)]
struct QuestionsState {
    /// Subjects that are not asked about again.
    refused: BTreeSet<ConfirmationSubject>,
    /// Open form of each subject, at most one.
    open: BTreeMap<ConfirmationSubject, OpenForm>,
}

#[derive(Clone)]
struct OpenForm {
    message: Arc<str>,
    outcome: watch::Receiver<Option<FormOutcome>>,
}

/// Form of this call. No other one about the same subject opens until this is dropped.
pub(in super::super) struct OwnForm<'q> {
    questions: &'q Questions,
    asked: ConfirmationSubject,
    message: Arc<str>,
    outcome: watch::Sender<Option<FormOutcome>>,
}

/// Form in which a user has agreed.
pub(in super::super) enum AgreedForm<'q> {
    /// The form of this call, just now; its caller now does what was agreed to.
    Now(OwnForm<'q>),
    /// The form of another call, which has done what was agreed to.
    WithAnother,
}

/// Form by which a question is answered.
enum FormTurn<'q> {
    Own(OwnForm<'q>),
    Other(OpenForm),
}

impl Questions {
    /// Opens a form, unless one about the same thing is open.
    ///
    /// # Errors
    /// The user has refused it.
    fn turn(
        &self,
        asked: &ConfirmationSubject,
        message: &str,
    ) -> Result<FormTurn<'_>, Unconfirmed> {
        let mut state = self.0.lock();
        if state.refused.contains(asked) {
            return Err(Unconfirmed::AskedBefore);
        }
        if let Some(open) = state.open.get(asked) {
            return Ok(FormTurn::Other(open.clone()));
        }
        let (sender, outcome) = watch::channel(None);
        let message: Arc<str> = message.into();
        let open = OpenForm {
            message: Arc::clone(&message),
            outcome,
        };
        state.open.insert(asked.clone(), open);
        Ok(FormTurn::Own(OwnForm {
            questions: self,
            asked: asked.clone(),
            message,
            outcome: sender,
        }))
    }

    /// Returns the open form about a subject, if there is one.
    ///
    /// # Errors
    /// The user has refused it.
    fn open(&self, asked: &ConfirmationSubject) -> Result<Option<OpenForm>, Unconfirmed> {
        let state = self.0.lock();
        match state.refused.contains(asked) {
            true => Err(Unconfirmed::AskedBefore),
            false => Ok(state.open.get(asked).cloned()),
        }
    }

    /// Lets no other call wait for a form, if it is still the open one.
    fn pass_over(&self, asked: &ConfirmationSubject, message: &Arc<str>) {
        let mut state = self.0.lock();
        let open = state.open.get(asked);
        if open.is_some_and(|open| Arc::ptr_eq(&open.message, message)) {
            state.open.remove(asked);
        }
    }
}

impl<'q> OwnForm<'q> {
    /// Takes the answer. A refusal counts from here on, for all calls that wait for this form, too.
    fn answered(self, outcome: FormOutcome) -> Result<AgreedForm<'q>, Unconfirmed> {
        let mut state = self.questions.0.lock();
        let outcome = match outcome {
            Ok(()) if state.refused.contains(&self.asked) => Err(Unconfirmed::AskedBefore),
            outcome => outcome,
        };
        if outcome == Err(Unconfirmed::NotAgreed) {
            state.refused.insert(self.asked.clone());
        }
        drop(state);
        match outcome {
            Ok(()) => Ok(AgreedForm::Now(self)),
            Err(why) => {
                self.outcome.send_replace(Some(Err(why)));
                Err(why)
            }
        }
    }

    /// Tells all calls that wait for this form whether what was agreed to could be done.
    pub(in super::super) fn done(self, is_done: bool) {
        let outcome = match is_done {
            true => Ok(()),
            false => Err(Unconfirmed::Changed),
        };
        self.outcome.send_replace(Some(outcome));
    }
}

impl Drop for OwnForm<'_> {
    fn drop(&mut self) {
        self.questions.pass_over(&self.asked, &self.message);
    }
}

impl Roster {
    /// Asks the user to agree to something, unless they have refused it before: a model could
    /// otherwise ask until they are tired of it. A refusal holds for as long as the host runs,
    /// which is one session: there are no such questions over HTTP.
    ///
    /// One form about a subject is open at a time, whose outcome is that of all calls which ask
    /// meanwhile: with many forms, one accepted by mistake would outweigh all refused ones.
    ///
    /// # Errors
    /// They do not agree, or nobody can be asked whose answer is the user's.
    pub(super) async fn confirm(
        &self,
        asked: ConfirmationSubject,
        caller: &Arc<dyn Listener>,
        message: String,
        what: &str,
    ) -> Result<AgreedForm<'_>, Unconfirmed> {
        can_ask(caller, &message)?;
        loop {
            let form = match self.questions.turn(&asked, &message)? {
                FormTurn::Own(form) => return form.answered(confirm(caller, message, what).await),
                FormTurn::Other(form) => form,
            };
            let is_the_same = *form.message == *message;
            match self.outcome_of(&asked, form).await {
                None => {}
                Some(Err(why)) => return Err(why),
                Some(Ok(())) if is_the_same => return Ok(AgreedForm::WithAnother),
                Some(Ok(())) => return Err(Unconfirmed::Changed),
            }
        }
    }

    /// Returns what is decided about a subject before a question on it is worked out: that it is not
    /// asked, or the outcome of the form that is open, whatever that shows. None where the caller is
    /// to ask.
    pub(super) async fn decided_before(
        &self,
        asked: &ConfirmationSubject,
        caller: &Arc<dyn Listener>,
    ) -> Option<FormOutcome> {
        let open = can_ask(caller, "").and_then(|()| self.questions.open(asked));
        match open {
            Err(why) => Some(Err(why)),
            Ok(form) => self.outcome_of(asked, form?).await,
        }
    }

    /// Waits for the outcome of another call's form. None where nobody has heard an answer: no call
    /// waits for that form any more.
    async fn outcome_of(
        &self,
        asked: &ConfirmationSubject,
        mut form: OpenForm,
    ) -> Option<FormOutcome> {
        let answered = form.outcome.wait_for(Option::is_some);
        let outcome = match tokio::time::timeout(MAX_WAIT_FOR_OTHER, answered).await {
            Ok(Ok(outcome)) => *outcome,
            // Where whoever had it open is gone, nobody has heard an answer.
            Ok(Err(_)) | Err(_) => None,
        };
        if outcome.is_none() {
            self.questions.pass_over(asked, &form.message);
        }
        outcome
    }
}

/// Checks that a user can be asked, and can read the question.
pub(super) fn can_ask(caller: &Arc<dyn Listener>, message: &str) -> FormOutcome {
    if !caller.may_decide() || !caller.supports(Capability::ElicitationForm) {
        return Err(Unconfirmed::NobodyToAsk);
    }
    if message.len() > MAX_QUESTION_BYTES {
        return Err(Unconfirmed::TooLong);
    }
    Ok(())
}

/// Asks the user to agree to something. The message has to be free of control characters already.
///
/// # Errors
/// They have not.
async fn confirm(caller: &Arc<dyn Listener>, message: String, what: &str) -> FormOutcome {
    let schema = json!({
        "type": "object",
        "properties": { "agree": { "type": "boolean", "title": what } },
        "required": ["agree"],
    });
    let answer = answer_to(caller, message, schema).await;
    let answer = answer.ok_or(Unconfirmed::NoAnswer)?;
    match accepted_field(&answer, "agree") == Some(json!(true)) {
        true => Ok(()),
        false => Err(Unconfirmed::NotAgreed),
    }
}

/// Returns what a user has filled into a field of a form; none where they have not accepted it.
pub(super) fn accepted_field(answer: &Answer, name: &str) -> Option<Value> {
    let is_accepted = answer.get("action").as_deref() == Some(&json!("accept"));
    let content = answer.get("content").filter(|_| is_accepted)?;
    content.get(name).cloned()
}

/// Checks whether a user has declined a form, and not closed it.
pub(super) fn is_declined(answer: &Answer) -> bool {
    answer.get("action").as_deref() == Some(&json!("decline"))
}

/// Returns the schema of a field in which one of some answers is chosen, each with the words by
/// which it is shown.
pub(super) fn choice(
    title: &str,
    answers: impl IntoIterator<Item = (&'static str, &'static str)>,
) -> Value {
    let (answers, names): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
    json!({ "type": "string", "title": title, "enum": answers, "enumNames": names })
}

/// Returns the schema of a form that asks whether something is allowed, by its field `answer`. The last
/// of the answers is that which lasts, and is left out where nothing can.
pub(super) fn allowing(answers: &[(&'static str, &'static str)], can_last: bool) -> Value {
    let count = answers.len() - usize::from(!can_last);
    let answers = answers.iter().copied().take(count);
    json!({
        "type": "object",
        "properties": { "answer": choice("Allow this", answers) },
        "required": ["answer"],
    })
}

/// Returns the answer to a form; none where nobody gives one. The message has to be free of control
/// characters already.
pub(super) async fn answer_to(
    caller: &Arc<dyn Listener>,
    message: String,
    schema: Value,
) -> Option<Answer> {
    let asked = blake3::hash(format!("{message}{schema}").as_bytes()).to_hex();
    let question = Question {
        // An answer to another question than this one has another name.
        id: format!("dormouse-{}", &asked[..16]),
        origin: QuestionOrigin::Host,
        capability: Capability::ElicitationForm,
        params: Map::from_iter([
            ("message".to_owned(), message.into()),
            ("requestedSchema".to_owned(), schema),
        ]),
        text: None,
    };
    let answers = caller.ask(vec![question]).await.unwrap_or_default();
    answers.into_iter().next()
}

#[cfg(test)]
mod tests;
