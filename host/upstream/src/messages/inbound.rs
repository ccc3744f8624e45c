//! Requests and notifications of an upstream.

use std::sync::Arc;
use std::time::Duration;

use dormouse_jsonrpc::{
    INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RequestId, TextPart, member, text_parts,
};
use dormouse_protocol::attribution::SHOWN_PARAMETERS;
use dormouse_protocol::{
    Answer, AskError, Capability, ClientEra, LEVELS, LONG_TEXT_BYTES, Listener, Question,
    VALUE_BYTES, attribution, check_size,
};
use dormouse_text::log_text::{escaped, logger_name};
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tracing::Level;

use super::known_roots::RootsOwner;
use super::message;
use super::peer::{Oddity, OpenQuestion, Peer};
use crate::connections::callers::{Nobody, is_same};
use crate::server_secrets::ServerSecrets;

/// Time that a question waits for an answer of one call before another call is asked as well.
const UNANSWERED: Duration = Duration::from_secs(2);

/// The longest text of a message that is passed on, in bytes.
const TEXT: usize = 64 << 10;

impl Peer {
    /// Takes room for what the upstream asks and has no answer to yet, by its bytes.
    ///
    /// # Errors
    /// There is not so much. The error says how much there is.
    pub(crate) fn room_for(&self, bytes: usize) -> Result<OwnedSemaphorePermit, String> {
        let room = u32::try_from(bytes)
            .ok()
            .and_then(|bytes| Arc::clone(&self.room).try_acquire_many_owned(bytes).ok());
        room.ok_or_else(|| {
            self.odd(Oddity::TooMuchAsked);
            let limit = self.limits.request_bytes;
            format!("more than {limit} bytes of requests wait for an answer")
        })
    }

    /// Handles a request of the upstream.
    pub(crate) fn asked(
        self: &Arc<Self>,
        method: &str,
        params: Option<&str>,
        id: RequestId<'_>,
        about: Option<u64>,
    ) {
        let Ok(place) = Arc::clone(&self.replies).try_acquire_owned() else {
            return self.odd(Oddity::Flood);
        };
        let room = self.room_for(params.map_or(0, str::len) + id.as_str().len());
        let question = match &room {
            Ok(_) => question(&self.server, &self.secrets, id.as_str(), method, params),
            Err(why) => Err((INTERNAL_ERROR, why.clone())),
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
        let mut early = self.early.begin().filter(|_| !ping);
        let asked_of_client = question.as_ref().ok();
        let method = asked_of_client.map(|(question, _)| question.method());
        let key = id.as_str().to_owned();
        let mine = key.clone();
        // It may be done before it is noted, but not before it is let go.
        let mut asked = self.asked.lock();
        let asking = tokio::spawn(async move {
            let outcome = match question {
                _ if ping => Ok(json!({}).into()),
                Ok((question, listener)) => peer.ask(question, listener, about).await,
                Err(problem) => Err(problem),
            };
            let is_answer = outcome.is_ok();
            peer.reply(&id, outcome).await;
            if let Some(early) = early.as_mut().filter(|_| is_answer) {
                early.answered();
            }
            peer.asked.lock().remove(&mine);
            drop((place, room, early));
        });
        let asking = asking.abort_handle();
        asked.insert(key, OpenQuestion { method, asking });
    }

    /// Returns the client of the one session of the connection, if it can be asked that between its
    /// calls.
    fn between(&self, question: &Question) -> Option<Arc<dyn Listener>> {
        let client = self.client(self.callers.only_session()?)?;
        lacked(client.as_ref(), question)
            .is_none()
            .then_some(client)
    }

    /// Returns the error for a question that nobody can be asked. For a client that takes such
    /// questions, but not this one, there is no other code than for parameters that are wrong (MCP
    /// 2025-11-25, "Error Handling" of elicitation).
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

    /// Asks a caller's client, or answers with the roots that it has named before.
    async fn ask(
        self: &Arc<Self>,
        question: Question,
        listener: Arc<dyn Listener>,
        about: Option<u64>,
    ) -> Result<Answer, (i64, String)> {
        let is_for_roots = question.capability == Capability::Roots;
        let owner = is_for_roots.then(|| self.roots_owner(&listener)).flatten();
        let peer = Arc::clone(self);
        let asking = async move { peer.put(question, listener, about).await };
        match owner {
            Some(owner) => self.callers.roots.ask(owner, asking).await,
            None => asking.await,
        }
    }

    /// Returns the owner of the roots that a client names, where they are known for some time.
    fn roots_owner(&self, listener: &Arc<dyn Listener>) -> Option<RootsOwner> {
        let declared = listener.declared();
        let roots = declared.get("roots");
        let tells = roots.and_then(|roots| roots.get("listChanged")?.as_bool());
        let tells = tells == Some(true) && listener.era() != ClientEra::Stateless;
        match self.callers.only_session().filter(|_| tells) {
            Some(session) => Some(RootsOwner::Session(session)),
            None if self.callers.has(listener) => Some(RootsOwner::call(listener)),
            None => None,
        }
    }

    async fn put(
        &self,
        question: Question,
        listener: Arc<dyn Listener>,
        about: Option<u64>,
    ) -> Result<Answer, (i64, String)> {
        let counted = self.questions.take(&self.server, listener.client(), 1);
        let _counted = counted.map_err(told)?;
        let mut answers = self.put_to_callers(&question, listener, about).await;
        // What is asked while a call runs need not be about it, and may outlive it.
        if let (Err(AskError::Over), Some(client)) = (&answers, self.between(&question)) {
            answers = client.put(vec![question]).await;
        }
        let answer = answers.map_err(told)?;
        let none = || (INTERNAL_ERROR, "the client has not answered".to_owned());
        answer.into_iter().next().ok_or_else(none)
    }

    /// Asks a caller's client, in the call of its that began last; where that ends first, in another one
    /// that still waits. A client of the stateless era is asked by the answer to its call and need not
    /// come back, and nothing tells whether it will: where another call of the same client waits, that
    /// one is asked as well after a while.
    async fn put_to_callers(
        &self,
        question: &Question,
        listener: Arc<dyn Listener>,
        about: Option<u64>,
    ) -> Result<Vec<Answer>, AskError> {
        let able = |listener: &dyn Listener| lacked(listener, question).is_none();
        let asking = listener.put(vec![question.clone()]);
        if about.is_some() {
            return asking.await;
        }
        // A client with a session answers, as long as a call of its is there to be asked in.
        let patience = match listener.era() {
            ClientEra::Stateless => UNANSWERED,
            ClientEra::Handshake(_) => Duration::MAX,
        };
        let mut asking = FuturesUnordered::from_iter([asking]);
        let mut asked = vec![listener];
        loop {
            let is_over = tokio::select! {
                answers = asking.next() => match answers {
                    Some(Err(AskError::Over)) | None => asking.is_empty(),
                    Some(answers) => return answers,
                },
                () = tokio::time::sleep(patience) => false,
            };
            let latest = self.callers.latest(able).ok();
            let is_asked =
                |latest: &Arc<dyn Listener>| asked.iter().any(|asked| is_same(asked, latest));
            match latest.filter(|latest| !is_asked(latest)) {
                Some(latest) => {
                    asking.push(latest.put(vec![question.clone()]));
                    asked.push(latest);
                }
                None if is_over => return Err(AskError::Over),
                None => {}
            }
        }
    }

    /// Handles a notification of the upstream.
    pub(crate) fn told(&self, method: &str, params: Option<&str>, about: Option<u64>) {
        let params = params.unwrap_or("{}");
        match method {
            "notifications/progress" => self.progress(params),
            "notifications/message" => self.log(params, about),
            "notifications/cancelled" => {
                let id = member(params, "requestId");
                if let Some(question) = id.and_then(|id| self.asked.lock().remove(id)) {
                    question.asking.abort();
                }
            }
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed" => self.list_changes.note(),
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
        struct Progress<'t> {
            // Values take many times the memory of their text.
            #[serde(borrow)]
            progress_token: &'t RawValue,
            progress: f64,
            #[serde(default)]
            total: Option<f64>,
            #[serde(default)]
            message: Option<String>,
        }
        let Ok(told) = serde_json::from_str::<Progress<'_>>(params) else {
            return self.odd(Oddity::NoMessage);
        };
        let token = told.progress_token.get();
        let written = token
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let token = written.unwrap_or(token).parse().ok();
        if let Some(listener) = token.and_then(|token| self.listener(token)) {
            let message = told
                .message
                .map(|text| self.secrets.texts().redact_beginning(&text, TEXT))
                .map(|text| attribution::progress_message(&text));
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
        let params = self.secrets.texts().redact_json(params);
        let Ok(told) = serde_json::from_str::<Told>(&params) else {
            return self.odd(Oddity::NoMessage);
        };
        let level = LEVELS.into_iter().find(|level| *level == told.level);
        // Besides its level, a message may have none that is known.
        let level = level.unwrap_or("info");
        let logger = told.logger.as_deref().map(logger_name);
        let logger = attribution::logger(&self.server, logger.as_deref());
        if let Ok(listener) = self.whom(about, |_| true) {
            return listener.log(level, Some(logger), attribution::log_data(told.data));
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
        let data = attribution::log_data(told.data);
        for client in clients {
            client.log(level, Some(logger.clone()), data.clone());
        }
    }
}

/// Returns the code and message of an error that an upstream is told.
fn told(error: AskError) -> (i64, String) {
    match error {
        AskError::Unsupported(why) => (METHOD_NOT_FOUND, why),
        AskError::Invalid(why) => (INVALID_PARAMS, why),
        AskError::Failed(_) | AskError::Over => (INTERNAL_ERROR, error.to_string()),
    }
}

/// Returns a capability that a question needs and a client lacks, if any.
fn lacked(listener: &dyn Listener, question: &Question) -> Option<Capability> {
    let mut needed = question.needs();
    needed.find(|needed| !listener.supports(*needed))
}

/// Reads a question of the upstream, and marks it as the upstream's. All parameters stay but those
/// that differ from known ones in letter case only: the content of a form is between the upstream
/// and the client, and parameters of later versions of MCP pass, too.
pub(crate) fn question(
    server: &str,
    secrets: &ServerSecrets,
    id: &str,
    method: &str,
    params: Option<&str>,
) -> Result<Question, (i64, String)> {
    let text = params.unwrap_or("{}");
    check_size(counted_bytes(method, text)).map_err(told)?;
    let text = &*secrets.redact_learnt_json(text);
    let mut object = message::object(text)
        .map_err(|error| (INVALID_PARAMS, format!("`params` cannot be read: {error}")))?;
    // Readers that ignore case would take these for the ones that are looked at.
    let names = object.iter().map(|member| member.name.clone().into_owned());
    let variants: Vec<String> = names.filter(|name| is_variant(name)).collect();
    for name in variants {
        object.remove(&name);
    }
    let mut params = Map::new();
    for member in object.iter() {
        // All else passes, as the text that it is.
        if !SHOWN_PARAMETERS.contains(&&*member.name) {
            continue;
        }
        // What a person is shown has to be looked at, and clients read more than values can
        // hold, such as `1e999`.
        let value = serde_json::from_str::<Value>(&member.value).map_err(|error| {
            let why = format!("`{}` cannot be read: {error}", member.name);
            (INVALID_PARAMS, why)
        })?;
        params.insert(member.name.clone().into_owned(), value);
    }
    let capability = match method {
        "elicitation/create" => match params.get("mode") {
            Some(Value::String(mode)) if mode == "url" => Capability::ElicitationUrl,
            Some(Value::String(mode)) if mode == "form" => Capability::ElicitationForm,
            None => Capability::ElicitationForm,
            Some(other) => {
                let other = cut(other.to_string(), 64);
                let why = format!("`mode` is `{other}`, and can be `form` or `url`");
                return Err((INVALID_PARAMS, why));
            }
        },
        "sampling/createMessage" => Capability::Sampling,
        "roots/list" => Capability::Roots,
        other => return Err((METHOD_NOT_FOUND, format!("`{other}` is not known here"))),
    };
    let question = Question {
        id: id.to_owned(),
        capability,
        params,
        text: RawValue::from_string(object.into_text().into_owned()).ok(),
    };
    question.attributed(server).map_err(told)
}

/// Returns the bytes of a question that count as its size: its text, and the memory of each value
/// within it. Of a sampling, long texts do not count: images are such, and as values they are no
/// larger.
pub(crate) fn counted_bytes(method: &str, params: &str) -> usize {
    let may_be_long = method == "sampling/createMessage";
    let mut counted = params.len();
    for part in text_parts(params.as_bytes()) {
        match part {
            // Its closing quote does not count to its length.
            TextPart::String(bytes) if may_be_long && bytes - 1 > LONG_TEXT_BYTES => {
                counted -= bytes - 1;
            }
            TextPart::Byte(b',' | b'{' | b'[') => counted += VALUE_BYTES,
            TextPart::Byte(_) | TextPart::String(_) => {}
        }
    }
    counted
}

/// Whether a name is that of a parameter in `SHOWN`, in other letters.
fn is_variant(name: &str) -> bool {
    // There are letters beyond ASCII that are `s` and `k` in upper or lower case.
    let same = |shown: &&str| shown.to_lowercase() == name.to_uppercase().to_lowercase();
    !SHOWN_PARAMETERS.contains(&name) && SHOWN_PARAMETERS.iter().any(same)
}

/// Cuts a text to at most that many bytes.
fn cut(mut text: String, most: usize) -> String {
    text.truncate(text.floor_char_boundary(most));
    text
}

#[cfg(test)]
mod tests;
