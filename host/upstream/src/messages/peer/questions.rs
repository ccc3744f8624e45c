//! Requests of an upstream: its questions to the clients of those who call.

use std::sync::Arc;
use std::time::Duration;

use dormouse_jsonrpc::{INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RequestId};
use dormouse_protocol::attribution;
use dormouse_protocol::{
    Answer, AskError, Capability, ClientEra, Listener, Question, WaitingQuestions,
};
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use super::Peer;
use crate::connections::callers::{Nobody, is_same};
use crate::messages::known_roots::RootsOwner;
use crate::messages::message::Refusal;
use crate::messages::oddity::Oddity;
use crate::messages::question::{UnreadQuestion, told};

/// Time for which an answer waits for lists. The upstream may tell them only once it has the answer.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);

/// Time that a question waits for an answer of one call before another call is asked as well.
const UNANSWERED: Duration = Duration::from_secs(2);

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
    pub(super) fn asked(
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
            Ok(_) => UnreadQuestion::of(method, params),
            Err(why) => Err((INTERNAL_ERROR, why.clone())),
        };
        // Who is there now, not by the time that anybody gets around to asking. A question that nobody
        // is asked is not read.
        let question = question.and_then(|question| {
            let able = |listener: &dyn Listener| lacked(listener, &question.needs).is_none();
            let listener = self.whom(about, able);
            let listener = listener.or_else(|nobody| self.between(&question.needs).ok_or(nobody));
            let listener = listener.map_err(|nobody| self.unanswered(&question, about, nobody))?;
            let counted = match question.capability {
                // Of those that ask for the same roots, one goes to the client.
                Capability::Roots => None,
                _ => Some(self.counted(&listener)?),
            };
            let question = question.read(&self.server, &self.secrets, id.as_str())?;
            self.note_page(&question, &listener);
            Ok((question, listener, counted))
        });
        let (peer, id) = (Arc::clone(self), id.into_owned());
        let ping = method == "ping";
        let mut early = self.early.begin().filter(|_| !ping);
        let asked_of_client = question.as_ref().ok();
        let method = asked_of_client.map(|(question, ..)| question.method());
        let key = id.as_str().to_owned();
        let ask = async move |number| {
            let outcome = match question {
                _ if ping => Ok(json!({}).into()),
                Ok((question, listener, counted)) => {
                    peer.ask(question, listener, about, counted).await
                }
                Err(problem) => Err(problem),
            };
            let is_answer = outcome.is_ok();
            peer.reply(&id, outcome).await;
            if let Some(early) = early.as_mut().filter(|_| is_answer) {
                early.answered();
            }
            peer.asked.lock().remove(number);
            drop((place, room, early));
        };
        // It may be done before it is noted, but not before it is let go.
        let mut asked = self.asked.lock();
        asked.add(key, method, |number| {
            tokio::spawn(ask(number)).abort_handle()
        });
    }

    /// Counts a question to a client as waiting.
    fn counted(&self, listener: &Arc<dyn Listener>) -> Result<WaitingQuestions, (i64, String)> {
        let counted = self.questions.take(&self.server, listener.client(), 1);
        counted.map_err(told)
    }

    /// Notes whom a question asks to open a page, before anybody can do so.
    fn note_page(&self, question: &Question, listener: &Arc<dyn Listener>) {
        if question.capability == Capability::ElicitationUrl {
            self.add_page(question.params.get("elicitationId"), listener);
        }
    }

    /// Notes the pages that a caller's client has to open before it calls again.
    pub(super) fn note_pages(&self, refusal: &Refusal, listener: &Arc<dyn Listener>) {
        if refusal.code != attribution::PAGES_REQUIRED {
            return;
        }
        let data = refusal.data.as_deref().unwrap_or_default();
        let shown = attribution::error_data(&self.server, refusal.code, data.to_owned());
        let Ok(shown) = serde_json::from_str::<Value>(&shown) else {
            return;
        };
        let pages = shown.get("elicitations").and_then(Value::as_array);
        for page in pages.into_iter().flatten() {
            self.add_page(page.get("elicitationId"), listener);
        }
    }

    fn add_page(&self, id: Option<&Value>, listener: &Arc<dyn Listener>) {
        // In the stateless era pages have no ids: clients ask again.
        let has_ids = listener.era() != ClientEra::Stateless;
        if let Some(id) = id.and_then(Value::as_str).filter(|_| has_ids) {
            let caller = self.callers.session_of(listener);
            let session = caller.unwrap_or_else(|| self.callers.only_session());
            self.pages.lock().add(id, listener, session);
        }
    }

    /// Returns the client of the one session of the connection, if it can be asked for that between its
    /// calls.
    fn between(&self, needs: &[Capability]) -> Option<Arc<dyn Listener>> {
        let client = self.client(self.callers.only_session()?)?;
        lacked(client.as_ref(), needs).is_none().then_some(client)
    }

    /// Returns the error for a question that nobody can be asked. For a client that takes such
    /// questions, but not this one, there is no other code than for parameters that are wrong (MCP
    /// 2025-11-25, "Error Handling" of elicitation).
    fn unanswered(
        &self,
        question: &UnreadQuestion<'_>,
        about: Option<u64>,
        nobody: Nobody,
    ) -> (i64, String) {
        const KINDS: [Capability; 4] = [
            Capability::ElicitationForm,
            Capability::ElicitationUrl,
            Capability::Sampling,
            Capability::Roots,
        ];
        let method = question.capability.method();
        let kinds = KINDS.into_iter().filter(|kind| kind.method() == method);
        let kinds: Vec<_> = kinds.collect();
        let takes = |listener: &dyn Listener| kinds.iter().any(|kind| listener.supports(*kind));
        let some = self.whom(about, takes).ok();
        let lacked = some.and_then(|listener| lacked(listener.as_ref(), &question.needs));
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
        counted: Option<WaitingQuestions>,
    ) -> Result<Answer, (i64, String)> {
        let is_for_roots = question.capability == Capability::Roots;
        let owner = is_for_roots.then(|| self.roots_owner(&listener)).flatten();
        let peer = Arc::clone(self);
        let Some(owner) = owner else {
            let (answer, answered) = peer.put(question, listener, about, counted).await?;
            // Roots are no answer of the user's, and what a server offers may depend on them.
            let patience = (!is_for_roots).then_some(ANSWER_PATIENCE);
            self.check_answer(&answered, about, patience).await?;
            return Ok(answer);
        };
        let caller = Arc::clone(&listener);
        // What comes of it is for all who wait for it.
        let asking = async move {
            let (answer, _) = peer.put(question, listener, about, counted).await?;
            Ok(answer)
        };
        let roots = self.callers.roots.ask(owner, asking).await?;
        self.check_answer(&caller, about, None).await?;
        Ok(roots)
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

    /// Asks a client what counts as waiting, or counts it. Returns its answer with the listener by which
    /// it was asked.
    async fn put(
        &self,
        question: Question,
        listener: Arc<dyn Listener>,
        about: Option<u64>,
        counted: Option<WaitingQuestions>,
    ) -> Result<(Answer, Arc<dyn Listener>), (i64, String)> {
        let _counted = match counted {
            Some(counted) => counted,
            None => self.counted(&listener)?,
        };
        let mut answers = self.put_to_callers(&question, listener, about).await;
        // What is asked while a call runs need not be about it, and may outlive it.
        if matches!(answers, Err(AskError::Over)) {
            let needs: Vec<_> = question.needs().collect();
            if let Some(client) = self.between(&needs) {
                answers = self.put_to(client, &question).await;
            }
        }
        let (answers, answered) = answers.map_err(told)?;
        let none = || (INTERNAL_ERROR, "the client has not answered".to_owned());
        let answer = answers.into_iter().next().ok_or_else(none)?;
        Ok((answer, answered))
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
    ) -> Result<(Vec<Answer>, Arc<dyn Listener>), AskError> {
        if about.is_some() {
            return self.put_to(listener, question).await;
        }
        // What one client was asked is nothing to another's.
        let client = listener.client();
        let needs: Vec<_> = question.needs().collect();
        let able =
            |other: &dyn Listener| other.client() == client && lacked(other, &needs).is_none();
        // A client with a session answers, as long as a call of its is there to be asked in.
        let patience = match listener.era() {
            ClientEra::Stateless => UNANSWERED,
            ClientEra::Handshake(_) => Duration::MAX,
        };
        let mut asking =
            FuturesUnordered::from_iter([self.put_to(Arc::clone(&listener), question)]);
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
                    asking.push(self.put_to(Arc::clone(&latest), question));
                    asked.push(latest);
                }
                None if is_over => return Err(AskError::Over),
                None => {}
            }
        }
    }

    /// Asks a client by a listener of its.
    async fn put_to(
        &self,
        listener: Arc<dyn Listener>,
        question: &Question,
    ) -> Result<(Vec<Answer>, Arc<dyn Listener>), AskError> {
        let answers = listener.put(vec![question.clone()]).await?;
        Ok((answers, listener))
    }

    /// Checks that the upstream may have the answer of a caller's client: what the call is for may be
    /// another thing by the time that it answers, and its user has answered for the tool as it was.
    /// Where nothing says which call a question is about, that holds for all calls of the client. With a
    /// `patience`, what depends on lists waits for them (see [`check_admitted`](Self::check_admitted)).
    async fn check_answer(
        &self,
        listener: &Arc<dyn Listener>,
        about: Option<u64>,
        patience: Option<Duration>,
    ) -> Result<(), (i64, String)> {
        // It may have been asked between its calls.
        let is_its_own = about.is_some() && self.callers.has(listener);
        let subjects = || self.callers.subjects(listener, is_its_own);
        let admitted = self.check_admitted(patience, subjects).await;
        admitted.map_err(|why| {
            tracing::debug!(
                "server `{}` has no answer of its caller's: {why}",
                self.server
            );
            let why = "the call that this is asked in may not go on";
            (INTERNAL_ERROR, why.to_owned())
        })
    }
}

/// Returns a capability that is needed and that a client lacks, if any.
fn lacked(listener: &dyn Listener, needs: &[Capability]) -> Option<Capability> {
    let mut needs = needs.iter().copied();
    needs.find(|needed| !listener.supports(*needed))
}
