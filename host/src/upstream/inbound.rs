//! What an upstream says and asks by itself.

use std::sync::Arc;

use dormouse_jsonrpc::{INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RequestId, member};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tracing::Level;

use super::callers::Nobody;
use super::message;
use super::peer::{Oddity, Peer, lock};
use super::question_links;
use super::words::{escaped, logger_name};
use crate::runtime::{Answer, AskError, Capability, LEVELS, Listener, Question, attribution};

/// Parameters of questions that a person is shown, or that lead them somewhere.
const SHOWN: [&str; 7] = [
    "elicitationId",
    "message",
    "messages",
    "mode",
    "requestedSchema",
    "systemPrompt",
    "url",
];

/// The longest text of a message that is passed on, in bytes.
const TEXT: usize = 64 << 10;

impl Peer {
    /// A request of the upstream's.
    pub(super) fn asked(
        self: &Arc<Self>,
        (method, params): (&str, Option<&str>),
        id: RequestId<'_>,
        about: Option<u64>,
    ) {
        let Ok(place) = Arc::clone(&self.replies).try_acquire_owned() else {
            return self.odd(Oddity::Flood);
        };
        let bytes = params.map_or(0, str::len) + id.as_str().len();
        let room = u32::try_from(bytes)
            .ok()
            .and_then(|bytes| Arc::clone(&self.room).try_acquire_many_owned(bytes).ok());
        let question = match &room {
            Some(_) => question(&self.server, id.as_str(), method, params),
            None => {
                self.odd(Oddity::TooMuchAsked);
                let limit = self.limits.request_bytes;
                let why = format!("more than {limit} bytes of requests wait for an answer");
                Err((INTERNAL_ERROR, why))
            }
        };
        // Who is there now, not by the time that anybody gets around to asking.
        let question = question.and_then(|question| {
            let able = |listener: &dyn Listener| lacked(listener, &question).is_none();
            let listener = self.whom(about, able);
            let listener = listener.or_else(|nobody| self.between(&question).ok_or(nobody));
            let listener = listener.map_err(|nobody| self.unanswered(&question, about, nobody))?;
            Ok((question, listener))
        });
        let (peer, id) = (Arc::clone(self), id.into_owned());
        let ping = method == "ping";
        let key = id.as_str().to_owned();
        let mine = key.clone();
        // It may be done before it is noted, but not before it is let go.
        let mut asked = lock(&self.asked);
        let asking = tokio::spawn(async move {
            let outcome = match question {
                _ if ping => Ok(json!({}).into()),
                Ok((question, listener)) => peer.ask(question, listener.as_ref()).await,
                Err(problem) => Err(problem),
            };
            peer.reply(&id, outcome).await;
            lock(&peer.asked).remove(&mine);
            drop((place, room));
        });
        asked.insert(key, asking.abort_handle());
    }

    /// The client of the one session whose connection this is, if it can be asked that
    /// between its calls.
    fn between(&self, question: &Question) -> Option<Arc<dyn Listener>> {
        let client = self.client(self.callers.only_session()?)?;
        lacked(client.as_ref(), question)
            .is_none()
            .then_some(client)
    }

    /// What the upstream is told that asks what nobody can be asked. A client that takes
    /// such questions, but not this one, has no other code for it than for parameters
    /// that are wrong (MCP 2025-11-25, "Error Handling" of elicitation).
    fn unanswered(&self, question: &Question, about: Option<u64>, nobody: Nobody) -> (i64, String) {
        const KINDS: [Capability; 4] = [
            Capability::ElicitationForm,
            Capability::ElicitationUrl,
            Capability::Sampling,
            Capability::Roots,
        ];
        let method = question.method();
        let kinds = KINDS.into_iter().filter(|kind| kind.method() == method);
        let kinds: Vec<_> = kinds.collect();
        let takes = |listener: &dyn Listener| kinds.iter().any(|kind| listener.supports(*kind));
        let some = self.whom(about, takes).ok();
        let lacked = some.and_then(|listener| lacked(listener.as_ref(), question));
        match lacked {
            Some(lacked) => (INVALID_PARAMS, format!("the client has no `{lacked}`")),
            None => {
                let wanted = question.capability;
                let why = format!("nobody can be asked for `{wanted}`: {nobody}");
                (METHOD_NOT_FOUND, why)
            }
        }
    }

    /// Has a caller's client asked.
    async fn ask(
        &self,
        question: Question,
        listener: &dyn Listener,
    ) -> Result<Answer, (i64, String)> {
        let told = |error| match error {
            AskError::Unsupported(why) => (METHOD_NOT_FOUND, why),
            AskError::Invalid(why) => (INVALID_PARAMS, why),
            AskError::Failed(_) | AskError::Over => (INTERNAL_ERROR, error.to_string()),
        };
        let counted = self.questions.take(&self.server, listener.client(), 1);
        let _counted = counted.map_err(told)?;
        let mut answers = listener.put(vec![question.clone()]).await;
        // What is asked while a call runs need not be about it, and may outlive it.
        if let (Err(AskError::Over), Some(client)) = (&answers, self.between(&question)) {
            answers = client.put(vec![question]).await;
        }
        let answer = answers.map_err(told)?;
        let none = || (INTERNAL_ERROR, "the client has not answered".to_owned());
        answer.into_iter().next().ok_or_else(none)
    }

    /// A notification of the upstream's.
    pub(super) fn told(&self, (method, params): (&str, Option<&str>), about: Option<u64>) {
        let params = params.unwrap_or("{}");
        match method {
            "notifications/progress" => self.progress(params),
            "notifications/message" => self.log(params, about),
            "notifications/cancelled" => {
                let id = member(params, "requestId");
                if let Some(asking) = id.and_then(|id| lock(&self.asked).remove(id)) {
                    asking.abort();
                }
            }
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed" => self.changed.notify_one(),
            "notifications/subscriptions/acknowledged" => self.acknowledged.notify_one(),
            "notifications/resources/updated" => {
                let uri = member(params, "uri");
                let uri = uri.and_then(|uri| serde_json::from_str::<String>(uri).ok());
                if let (Some(gate), Some(uri)) = (&self.gate, uri) {
                    gate.updated(&uri);
                }
            }
            _ => {}
        }
    }

    fn progress(&self, params: &str) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Progress {
            progress_token: Value,
            progress: f64,
            #[serde(default)]
            total: Option<f64>,
            #[serde(default)]
            message: Option<String>,
        }
        let Ok(told) = serde_json::from_str::<Progress>(params) else {
            return self.odd(Oddity::NoMessage);
        };
        let token = match &told.progress_token {
            Value::String(text) => text.parse().ok(),
            token => token.as_u64(),
        };
        if let Some(listener) = token.and_then(|token| self.listener(token)) {
            let message = told
                .message
                .map(|text| self.hidden.redact(&cut(text, TEXT)));
            listener.progress(told.progress, told.total, message);
        }
    }

    fn log(&self, params: &str, about: Option<u64>) {
        #[derive(Deserialize)]
        struct Told {
            #[serde(default)]
            level: String,
            #[serde(default)]
            logger: Option<String>,
            #[serde(default)]
            data: Value,
        }
        if params.len() > TEXT {
            return self.odd(Oddity::NoMessage);
        }
        // Like what a program prints: it goes into logs that are shown to others.
        let params = self.hidden.redact_json(params);
        let Ok(told) = serde_json::from_str::<Told>(&params) else {
            return self.odd(Oddity::NoMessage);
        };
        let level = LEVELS.into_iter().find(|level| *level == told.level);
        // Besides its level, a message may have none that is known.
        let level = level.unwrap_or("info");
        let logger = told.logger.as_deref().map(logger_name);
        let logger = attribution::logger(&self.server, logger.as_deref());
        if let Ok(listener) = self.whom(about, |_| true) {
            return listener.log(level, Some(logger), told.data);
        }
        // It may be about any of the calls that run, and some may be another agent's.
        let clients = match self.callers.is_idle() {
            true => self.clients(),
            false => Vec::new(),
        };
        // In the stateless era a log belongs to a request, and one that comes between
        // two of them has nobody to hear it but whoever reads ours.
        if clients.is_empty() && tracing::enabled!(Level::INFO) {
            let data = escaped(&told.data.to_string());
            if let Some(data) = self.log.take(&data) {
                tracing::info!(server = %self.server, "{data}");
            }
        }
        for client in clients {
            client.log(level, Some(logger.clone()), told.data.clone());
        }
    }
}

/// What of all that a question needs a client lacks.
fn lacked(listener: &dyn Listener, question: &Question) -> Option<Capability> {
    let mut needed = question.needs();
    needed.find(|needed| !listener.supports(*needed))
}

/// What the upstream wants to have asked, marked as its question, with all other parameters
/// as they are: what a form of its may be is between it and the client, and what comes with
/// a later version of MCP passes too.
pub(super) fn question(
    server: &str,
    id: &str,
    method: &str,
    params: Option<&str>,
) -> Result<Question, (i64, String)> {
    let text = params.unwrap_or("{}");
    let object = message::object(text)
        .map_err(|error| (INVALID_PARAMS, format!("`params` cannot be read: {error}")))?;
    let mut params = Map::new();
    for member in object.iter() {
        match serde_json::from_str::<Value>(&member.value) {
            Ok(value) => {
                params.insert(member.name.clone().into_owned(), value);
            }
            // What a person is shown has to be looked at, and clients read more than values
            // can hold, such as `1e999`.
            Err(error) if SHOWN.contains(&&*member.name) => {
                let why = format!("`{}` cannot be read: {error}", member.name);
                return Err((INVALID_PARAMS, why));
            }
            // All else passes, as the text that it is.
            Err(_) => {}
        }
    }
    let capability = match method {
        "elicitation/create" if params.get("mode").and_then(Value::as_str) == Some("url") => {
            Capability::ElicitationUrl
        }
        "elicitation/create" => Capability::ElicitationForm,
        "sampling/createMessage" => Capability::Sampling,
        "roots/list" => Capability::Roots,
        other => return Err((METHOD_NOT_FOUND, format!("`{other}` is not known here"))),
    };
    question_links::check(capability, &params).map_err(|why| (INVALID_PARAMS, why))?;
    let question = Question {
        id: id.to_owned(),
        capability,
        params,
        text: RawValue::from_string(text.to_owned()).ok(),
    };
    let attributed = question.attributed(server);
    attributed.map_err(|error| (INVALID_PARAMS, error.to_string()))
}

/// A text of at most that many bytes.
fn cut(mut text: String, most: usize) -> String {
    text.truncate(text.floor_char_boundary(most));
    text
}
