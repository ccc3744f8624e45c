//! Questions to a stateless client, sent in the answers to its own requests.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use dormouse_protocol::{Answer, AskError, Capability, Question, QuestionOrigin, attribution};
use dormouse_runtime::check_answer;
use dormouse_text::visible::line_beginning;
use serde_json::Value;

use super::call_listener::CallQuestions;

/// Longest reason for which a question is asked again that is told, in characters.
const MAX_REASON_CHARACTERS: usize = 1000;

/// Number of times that questions are asked again after an answer that does not fit, with the
/// reason. After that the call gets an error, so that the client is not asked for ever.
const AGAIN: u32 = 2;

/// Questions that were asked together, with the answers so far.
struct PendingQuestions {
    ask: CallQuestions,
    answered: HashMap<String, Answer>,
    /// Errors of the last answers to the questions still open, by question id.
    wrong: HashMap<String, String>,
    /// Number of rounds in which an answer was wrong.
    failed: u32,
}

/// Questions of one result of a call: those that were asked at the same time.
#[derive(Default)]
pub(in crate::mcp) struct QuestionRound(Vec<PendingQuestions>);

impl QuestionRound {
    /// Adds questions, unless a server asks them and the request came with their answers. What the
    /// host asks its user is shown first, whatever the client has said before: nobody has agreed to
    /// what they had not seen.
    pub(in crate::mcp) fn add(
        &mut self,
        ask: CallQuestions,
        responses: &mut HashMap<String, Answer>,
    ) {
        let is_shown_first = |question: &Question| question.origin == QuestionOrigin::Host;
        if ask.questions.iter().any(is_shown_first) {
            self.0.push(PendingQuestions::new(ask));
            return;
        }
        self.0.extend(PendingQuestions::new(ask).answer(responses));
    }

    pub(in crate::mcp) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives the answers on where all are there, and returns the questions that are still open. Of
    /// two questions of one name the first one gets the answer, and the other one is asked in the
    /// next round.
    pub(in crate::mcp) fn answer(self, responses: &mut HashMap<String, Answer>) -> Option<Self> {
        let open = self.0.into_iter();
        let open: Vec<_> = open.filter_map(|asked| asked.answer(responses)).collect();
        (!open.is_empty()).then_some(Self(open))
    }

    /// Returns the questions without an answer as `inputRequests`. As text, because a plugin or an
    /// upstream may have written them.
    pub(in crate::mcp) fn to_text(&self) -> String {
        let mut requests = String::from("{");
        let mut names = HashSet::new();
        for asked in &self.0 {
            asked.write(&mut requests, &mut names);
        }
        requests.push('}');
        requests
    }
}

impl PendingQuestions {
    fn new(ask: CallQuestions) -> Self {
        Self {
            ask,
            answered: HashMap::new(),
            wrong: HashMap::new(),
            failed: 0,
        }
    }

    /// Gives the answers on if all are there, or else returns `self`. Each response is for one
    /// question only. Invalid answers are asked for again, and answers to unknown questions are
    /// ignored (SEP-2322).
    fn answer(mut self, responses: &mut HashMap<String, Answer>) -> Option<Self> {
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

    /// Writes the questions without an answer, and whose names are not in `names` yet.
    fn write<'a>(&'a self, requests: &mut String, names: &mut HashSet<&'a str>) {
        let questions = self.ask.questions.iter();
        for question in questions.filter(|question| !self.answered.contains_key(&question.id)) {
            if !names.insert(&question.id) {
                continue;
            }
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
    }

    /// Returns the text of a question's parameters, with the error of the last answer where the
    /// question has a message that a person reads. The id of a URL elicitation is left out, which
    /// this era does not have: its client learns the outcome by asking again.
    fn params(&self, question: &Question) -> String {
        let message = question.params.get("message").and_then(Value::as_str);
        let mut params = match self.wrong.get(&question.id).zip(message) {
            None => Answer::Verbatim(question.to_text()),
            Some((why, message)) => {
                // It has names and patterns of whoever asks in it.
                let why = attribution::remark(&line_beginning(why, MAX_REASON_CHARACTERS));
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

    fn asked() -> (PendingQuestions, Answers) {
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
            origin: QuestionOrigin::Server,
            capability,
            params: params.as_object().unwrap().clone(),
            text: None,
        };
        let (answers, answered) = oneshot::channel();
        let questions = vec![
            question("who", Capability::ElicitationForm, form),
            question("where", Capability::Roots, json!({})),
        ];
        (
            PendingQuestions::new(CallQuestions { questions, answers }),
            answered,
        )
    }

    fn answer(asked: PendingQuestions, responses: Value) -> Option<PendingQuestions> {
        let responses = responses.as_object().unwrap().clone().into_iter();
        let mut responses = responses.map(|(id, value)| (id, value.into())).collect();
        asked.answer(&mut responses)
    }

    fn open(asked: &PendingQuestions) -> Value {
        let mut requests = String::from("{");
        asked.write(&mut requests, &mut HashSet::new());
        requests.push('}');
        serde_json::from_str(&requests).unwrap()
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

    fn roots(id: &str, origin: QuestionOrigin) -> (CallQuestions, Answers) {
        let (answers, answered) = oneshot::channel();
        let question = Question {
            id: id.into(),
            origin,
            capability: Capability::Roots,
            params: serde_json::Map::new(),
            text: None,
        };
        let questions = vec![question];
        (CallQuestions { questions, answers }, answered)
    }

    fn given(ids: &[&str]) -> HashMap<String, Answer> {
        let answers = ids.iter();
        answers
            .map(|id| ((*id).to_owned(), json!({ "roots": [] }).into()))
            .collect()
    }

    #[test]
    fn what_the_host_asks_is_answered_by_nothing_that_was_said_before() {
        let mut round = QuestionRound::default();
        let mut along = given(&["own", "theirs"]);
        let (own, mut answered) = roots("own", QuestionOrigin::Host);
        round.add(own, &mut along);
        let (theirs, mut theirs_answered) = roots("theirs", QuestionOrigin::Server);
        round.add(theirs, &mut along);
        assert!(theirs_answered.try_recv().is_ok());
        assert!(answered.try_recv().is_err());
        assert!(round.to_text().starts_with("{\"own\":"));
        assert!(round.answer(&mut given(&["own"])).is_none());
        assert!(answered.try_recv().is_ok());
    }

    #[test]
    fn what_is_asked_at_the_same_time_is_one_round() {
        let mut round = QuestionRound::default();
        let mut along = given(&["along"]);
        let mut waiting = Vec::new();
        for id in ["along", "1", "2", "1"] {
            let (ask, answered) = roots(id, QuestionOrigin::Server);
            round.add(ask, &mut along);
            waiting.push(answered);
        }
        assert!(waiting[0].try_recv().is_ok());
        let text: Value = serde_json::from_str(&round.to_text()).unwrap();
        let names: Vec<_> = text.as_object().unwrap().keys().collect();
        assert_eq!(names, ["1", "2"]);
        let round = round.answer(&mut given(&["1", "2"])).unwrap();
        assert!(waiting[1].try_recv().is_ok() && waiting[2].try_recv().is_ok());
        assert!(waiting[3].try_recv().is_err());
        assert!(round.to_text().starts_with("{\"1\":"));
        assert!(round.answer(&mut given(&["1"])).is_none());
        assert!(waiting[3].try_recv().is_ok());
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
