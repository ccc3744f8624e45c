//! Results that want answers first (MCP 2026-07-28).

use std::sync::Arc;

use dormouse_jsonrpc::{INVALID_PARAMS, MessageLimits, Object, ObjectError, member};
use dormouse_protocol::{Answer, AskError, Listener, check_size};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::channel::Lost;
use super::large::{SHOWING_TIMES, without_blocking};
use super::peer::Peer;
use super::question::UnreadQuestion;
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
        let state = self.request_state.map_or("", RawValue::get);
        let asked = self.input_requests.map_or("{}", RawValue::get);
        let bytes = params.len() + state.len() + asked.len();
        let read = without_blocking(bytes, || {
            Ok::<_, ObjectError>((Object::read(params)?, Object::read(asked)?))
        });
        let (mut params, requests) = read.map_err(|error| {
            let why = reading_error(&error.to_string());
            Lost::Broken(format!("what the upstream asks cannot be read: {why}"))
        })?;
        let mut answers = Vec::new();
        // Both are kept until there are answers.
        let kept = state.len() + asked.len();
        if !requests.is_empty() {
            answers = put(peer, listener, &requests, kept).await?;
        }
        Ok(without_blocking(bytes, || {
            let mut responses = Object::new();
            for (member, answer) in requests.iter().zip(answers) {
                responses.set(&member.name, answer.into_text());
            }
            params.set("inputResponses", responses.into_text().into_owned());
            if self.request_state.is_some() {
                params.set("requestState", state);
            }
            params.into_text().into_owned()
        }))
    }
}

/// Asks a client all questions, each by its name, if there is somebody to ask and room for `kept`
/// bytes until there are answers. Returns these in the same order.
async fn put(
    peer: &Peer,
    listener: &Arc<dyn Listener>,
    requests: &Object<'_>,
    kept: usize,
) -> Result<Vec<Answer>, Lost> {
    let unanswered = |error| Lost::Broken(format!("what the upstream asks has no answer: {error}"));
    let unfit = |(_, why): (i64, String)| {
        Lost::Broken(format!("the upstream asks what cannot be asked: {why}"))
    };
    // Before any of them is read: as values they are many times as large.
    let count = requests.iter().count();
    let counted = peer.questions.take(&peer.server, listener.client(), count);
    let _counted = counted.map_err(unanswered)?;
    let room = peer.room_for(kept);
    let _room = room.map_err(|why| unanswered(AskError::Failed(why)))?;
    let unread = without_blocking(kept, || {
        let unread = requests.iter().map(|request| {
            check_name(&request.name)?;
            let method = member(&request.value, "method");
            let method = method.and_then(|method| serde_json::from_str::<String>(method).ok());
            let params = member(&request.value, "params").filter(|params| *params != "null");
            let unread = UnreadQuestion::of(&method.unwrap_or_default(), params)?;
            Ok((&*request.name, unread))
        });
        unread.collect::<Result<Vec<_>, _>>()
    });
    let unread = unread.map_err(unfit)?;
    check_size(unread.iter().map(|(_, one)| one.bytes).sum()).map_err(unanswered)?;
    let needs = unread.iter().flat_map(|(_, one)| &one.needs).copied();
    listener.check_support(needs).map_err(unanswered)?;
    let turn = peer.questions.reading().await;
    let questions = without_blocking(kept.saturating_mul(SHOWING_TIMES), || {
        let read = unread.into_iter();
        let read = read.map(|(name, one)| one.read(&peer.server, &peer.secrets, name));
        read.collect::<Result<Vec<_>, _>>()
    });
    drop(turn);
    let questions = questions.map_err(unfit)?;
    listener.put(questions).await.map_err(unanswered)
}

/// Checks that the name of a question is no longer than an id of a request: it is its id.
fn check_name(name: &str) -> Result<(), (i64, String)> {
    let (bytes, most) = (name.len(), MessageLimits::default().id_bytes);
    match bytes > most {
        true => Err((
            INVALID_PARAMS,
            format!("the name of a question has {bytes} bytes, and {most} are allowed"),
        )),
        false => Ok(()),
    }
}
