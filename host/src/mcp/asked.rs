//! Questions that a stateless client is asked: by the answer to a request of its own.

use std::collections::HashMap;
use std::fmt::Write as _;

use dormouse_protocol::{Answer, AskError, Capability, Question, attribution};
use dormouse_runtime::check_answer;
use serde_json::Value;

use super::line::Ask;

/// How often questions are asked again because of an answer that does not fit, with
/// the reason. After that it is the call's to deal with: nobody is asked for ever.
const AGAIN: u32 = 2;

/// Questions, and the answers that are there already.
pub(super) struct Asked {
    ask: Ask,
    answered: HashMap<String, Answer>,
    /// What was wrong with the last answers to others.
    wrong: HashMap<String, String>,
    /// How often something was.
    failed: u32,
}

impl Asked {
    pub(super) fn new(ask: Ask) -> Self {
        Self {
            ask,
            answered: HashMap::new(),
            wrong: HashMap::new(),
            failed: 0,
        }
    }

    /// Lets the call go on if all is answered now; what is not is handed back. Each
    /// response is for one question only. What is no answer is asked for again, and
    /// what nobody asked is ignored (SEP-2322).
    pub(super) fn answer(mut self, responses: &mut HashMap<String, Answer>) -> Option<Self> {
        let mut failure = None;
        for question in &self.ask.questions {
            let Some(response) = responses.remove(&question.id) else {
                continue;
            };
            match check_answer(question, &response) {
                Ok(()) => {
                    self.answered.insert(question.id.clone(), response);
                }
                Err(why) => {
                    self.wrong.insert(question.id.clone(), why.clone());
                    failure = Some(why);
                }
            }
        }
        let outcome = match failure {
            Some(why) if self.failed == AGAIN => Err(AskError::Failed(why)),
            failure => {
                self.failed += u32::from(failure.is_some());
                let answers = self.ask.questions.iter();
                let answers = answers.map(|question| self.answered.get(&question.id).cloned());
                let Some(answers) = answers.collect::<Option<Vec<_>>>() else {
                    return Some(self);
                };
                Ok(answers)
            }
        };
        // Whoever asked may have gone, and then nobody minds.
        let _ = self.ask.answers.send(outcome);
        None
    }

    /// The questions that have no answer yet, as `inputRequests`. Text, because they
    /// may have been written elsewhere.
    pub(super) fn to_text(&self) -> String {
        let mut requests = String::from("{");
        let questions = self.ask.questions.iter();
        for question in questions.filter(|question| !self.answered.contains_key(&question.id)) {
            let comma = if requests.len() == 1 { "" } else { "," };
            // Writing to a string cannot fail.
            let _ = write!(
                requests,
                "{comma}{}:{{\"method\":{},\"params\":{}}}",
                Value::from(question.id.as_str()),
                Value::from(question.method()),
                self.params(question),
            );
        }
        requests.push('}');
        requests
    }

    /// The text of a question's parameters, with what was wrong with the last answer
    /// where somebody reads that. A page has no name in this era: its client learns what
    /// has become of it by asking again.
    fn params(&self, question: &Question) -> String {
        let message = question.params.get("message").and_then(Value::as_str);
        let mut params = match self.wrong.get(&question.id).zip(message) {
            None => Answer::Verbatim(question.to_text()),
            Some((why, message)) => {
                // It has names and patterns of whoever asks in it.
                let why = attribution::remark(why);
                let message = format!("{message}\n\nThis is asked again: {why}.");
                let mut again = question.clone();
                again.set("message", message.into());
                Answer::Verbatim(again.to_text())
            }
        };
        if question.capability == Capability::ElicitationUrl {
            params.remove("elicitationId");
        }
        params.into_text()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::sync::oneshot;

    use super::*;

    type Answers = oneshot::Receiver<Result<Vec<Answer>, AskError>>;

    fn asked() -> (Asked, Answers) {
        let form = json!({
            "message": "Who?",
            "requestedSchema": {
                "type": "object",
                "properties": { "name": { "type": "string" } },
                "required": ["name"],
            },
        });
        let question = |id: &str, capability, params: Value| Question {
            id: id.into(),
            capability,
            params: params.as_object().unwrap().clone(),
            text: None,
        };
        let (answers, answered) = oneshot::channel();
        let questions = vec![
            question("who", Capability::ElicitationForm, form),
            question("where", Capability::Roots, json!({})),
        ];
        (Asked::new(Ask { questions, answers }), answered)
    }

    fn answer(asked: Asked, responses: Value) -> Option<Asked> {
        let responses = responses.as_object().unwrap().clone().into_iter();
        let mut responses = responses.map(|(id, value)| (id, value.into())).collect();
        asked.answer(&mut responses)
    }

    fn open(asked: &Asked) -> Value {
        serde_json::from_str(&asked.to_text()).unwrap()
    }

    fn named(name: Value) -> Value {
        json!({ "who": { "action": "accept", "content": { "name": name } } })
    }

    #[test]
    fn what_does_not_fit_is_asked_again_with_the_reason() {
        let (asked, mut answers) = asked();
        assert_eq!(open(&asked)["who"]["params"]["message"], "Who?");
        let asked = answer(asked, json!({ "where": { "roots": [] } })).unwrap();
        let asked = answer(asked, named(json!(5))).unwrap();
        let again = open(&asked);
        assert!(again.get("where").is_none(), "{again}");
        let message = again["who"]["params"]["message"].as_str().unwrap();
        assert!(message.starts_with("Who?\n\n"), "{message}");
        assert!(message.contains("`/name`"), "{message}");
        // No answer at all is none that does not fit, however often.
        let mut asked = asked;
        for _ in 0..5 {
            asked = answer(asked, json!({})).unwrap();
        }
        assert!(answer(asked, named(json!("Ada"))).is_none());
        assert_eq!(answers.try_recv().unwrap().unwrap().len(), 2);
    }

    #[test]
    fn but_not_for_ever() {
        let (mut asked, mut answers) = asked();
        for _ in 0..AGAIN {
            asked = answer(asked, named(json!(5))).unwrap();
        }
        assert!(answer(asked, named(json!(5))).is_none());
        let Err(AskError::Failed(why)) = answers.try_recv().unwrap() else {
            panic!("it was taken")
        };
        assert!(why.contains("`/name`"), "{why}");
    }
}
