//! `dormouse:plugin/client`: questions to the client of the running call.

use std::collections::BTreeSet;

use dormouse_protocol::{AskError, Capability, Question, check_size};
use dormouse_upstream::{SHOWING_TIMES, without_blocking};

use super::{CANCELLED, InstanceState};
use crate::ask::{QuestionSize, answered, capability_for, question};
use crate::bindings::dormouse::plugin::client;

/// Most questions that are asked at once.
const QUESTIONS: usize = 32;

impl client::Host for InstanceState {
    fn supported(&mut self) -> client::Capabilities {
        let known = [
            (
                Capability::ElicitationForm,
                client::Capabilities::ELICITATION_FORM,
            ),
            (
                Capability::ElicitationUrl,
                client::Capabilities::ELICITATION_URL,
            ),
            (Capability::Sampling, client::Capabilities::SAMPLING),
            (Capability::Roots, client::Capabilities::ROOTS),
        ];
        let mut supported = client::Capabilities::empty();
        for (capability, flag) in known {
            let call = self.call.as_ref();
            if call.is_some_and(|call| call.listener.supports(capability)) {
                supported |= flag;
            }
        }
        supported
    }

    async fn ask(
        &mut self,
        requests: Vec<client::Request>,
    ) -> wasmtime::Result<Result<Vec<client::Answer>, client::AskError>> {
        let answers = self.questions(requests).await;
        self.goes_on()?;
        Ok(answers.map_err(|error| match error {
            AskError::Unsupported(why) => client::AskError::Unsupported(why),
            AskError::Invalid(why) => client::AskError::Invalid(why),
            error => client::AskError::Failed(error.to_string()),
        }))
    }
}

impl InstanceState {
    /// Converts questions to MCP, each under its own id.
    fn asked(&self, requests: Vec<client::Request>) -> Result<Vec<Question>, AskError> {
        let mut ids = BTreeSet::new();
        let questions = requests.into_iter().map(|request| {
            let question = question(request)?.attributed(&self.server)?;
            match ids.insert(question.id.clone()) {
                true => Ok(question),
                false => Err(AskError::Invalid(format!(
                    "two questions have the id `{}`",
                    question.id
                ))),
            }
        });
        questions.collect()
    }

    async fn questions(
        &mut self,
        requests: Vec<client::Request>,
    ) -> Result<Vec<client::Answer>, AskError> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        if requests.len() > QUESTIONS {
            return Err(AskError::Invalid(format!(
                "{} questions were asked at once, and {QUESTIONS} may be",
                requests.len()
            )));
        }
        let Some(call) = &self.call else {
            return Err(AskError::Failed("no call is running".into()));
        };
        // Before values are made of the questions: a guest that is refused may ask again, for ever.
        let asked = requests.iter().map(|request| &request.question);
        call.listener.check_support(asked.map(capability_for))?;
        let size = QuestionSize::of(&requests);
        check_size(size.words)?;
        let client = call.listener.client();
        let counted = self.questions.take(&self.server, client, requests.len())?;
        let Some(held) = self.memory.charge(size.memory()).await else {
            self.memory.refused = None;
            return Err(AskError::Failed(format!(
                "there is no memory for questions of {} bytes in all\n\
                 hint: ask for less at once, or give the server more `limits.memory`",
                size.bytes()
            )));
        };
        // Patterns of a form take far longer than as many bytes of other things.
        let is_form =
            |request: &client::Request| matches!(request.question, client::Question::Form(_));
        let bytes = match requests.iter().any(is_form) {
            true => usize::MAX,
            false => usize::try_from(size.bytes()).unwrap_or(usize::MAX),
        };
        let bytes = bytes.saturating_mul(SHOWING_TIMES);
        let turn = self.questions.reading().await;
        let questions = without_blocking(bytes, || self.asked(requests))?;
        drop(turn);
        let Some(call) = &self.call else {
            return Err(AskError::Failed("no call is running".into()));
        };
        let cancelled = || AskError::Failed(CANCELLED.to_owned());
        if call.cancel.is_cancelled() {
            return Err(cancelled());
        }
        let asking = call.listener.put(questions.clone());
        let answers = call.pace.wait(call.unless_cancelled(asking)).await?;
        let answers = answers.ok_or_else(cancelled)??;
        drop((counted, held));
        without_blocking(bytes, || {
            questions
                .iter()
                .zip(&answers)
                .map(|(question, answer)| answered(question, answer).map_err(AskError::Failed))
                .collect()
        })
    }
}
