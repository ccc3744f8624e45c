//! Results that want answers first (MCP 2026-07-28).

use std::sync::Arc;

use dormouse_jsonrpc::{Object, ObjectError};
use dormouse_protocol::{AskError, Listener, check_size};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::channel::Lost;
use super::peer::Peer;
use super::question::{counted_bytes, question};
use crate::Failure;
use crate::http::reading_error;

/// A result that wants answers first (MCP 2026-07-28).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InputRequired<'a> {
    result_type: String,
    #[serde(borrow, default)]
    input_requests: Option<&'a RawValue>,
    #[serde(borrow, default)]
    request_state: Option<&'a RawValue>,
}

impl<'a> InputRequired<'a> {
    const TYPE: &'static str = "input_required";

    pub(crate) fn read(answer: &'a RawValue) -> Option<Self> {
        // Most answers are none, and some are large.
        let members = answer.get().contains(Self::TYPE).then_some(answer.get())?;
        let wanted: Self = serde_json::from_str(members).ok()?;
        (wanted.result_type == Self::TYPE).then_some(wanted)
    }

    /// Asks all questions. Returns the parameters of the request with the answers in them.
    pub(crate) async fn answer(
        self,
        peer: &Peer,
        listener: &Arc<dyn Listener>,
        params: &str,
    ) -> Result<String, Failure> {
        let unreadable = |error: ObjectError| {
            let why = reading_error(&error.to_string());
            Lost::Broken(format!("what the upstream asks cannot be read: {why}"))
        };
        let mut params = Object::read(params).map_err(unreadable)?;
        let requests = self.input_requests.map_or("{}", RawValue::get);
        let requests = Object::read(requests).map_err(unreadable)?;
        let mut responses = Object::new();
        if !requests.is_empty() {
            let unanswered =
                |error| Lost::Broken(format!("what the upstream asks has no answer: {error}"));
            // Before any of them is read: as values they are many times as large.
            let client = listener.client();
            let count = requests.iter().count();
            let counted = peer.questions.take(&peer.server, client, count);
            let _counted = counted.map_err(unanswered)?;
            // Both are kept until there are answers.
            let state = self.request_state.map_or(0, |state| state.get().len());
            let asked = self.input_requests.map_or(0, |asked| asked.get().len());
            let room = peer.room_for(state + asked);
            let _room = room.map_err(|why| unanswered(AskError::Failed(why)))?;
            let mut bytes = 0;
            let mut questions = Vec::new();
            for member in requests.iter() {
                let request = Object::read(&member.value).unwrap_or_default();
                let method = request.string("method").unwrap_or_default();
                let asked = request.get("params");
                let asked = asked.filter(|params| *params != "null");
                bytes += counted_bytes(&method, asked.unwrap_or_default());
                check_size(bytes).map_err(unanswered)?;
                let question = question(&peer.server, &peer.secrets, &member.name, &method, asked);
                questions.push(question.map_err(|(_, why)| {
                    Lost::Broken(format!("the upstream asks what cannot be asked: {why}"))
                })?);
            }
            let answers = listener.put(questions).await.map_err(unanswered)?;
            for (member, answer) in requests.iter().zip(answers) {
                responses.set(&member.name, answer.into_text());
            }
        }
        params.set("inputResponses", responses.into_text().into_owned());
        if let Some(state) = self.request_state {
            params.set("requestState", state.get());
        }
        Ok(params.into_text().into_owned())
    }
}
