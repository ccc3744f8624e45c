//! Answers of the host to each kind of request.
#![expect(
    deprecated,
    reason = "MCP's logging is deprecated since 2026-07-28, not gone"
)]

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use dormouse_protocol::{Answer, ClientKey, Era, SessionId};
use futures::FutureExt as _;
use parking_lot::Mutex;
use rmcp::model::{
    ErrorCode, InitializeRequestParams, LoggingLevel, RequestId, RequestMetaObject,
    SetLevelRequestParams, SubscribeRequestParams, UnsubscribeRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::sync::SetOnce;
use tokio_util::sync::CancellationToken;

use super::client::announce;
use super::client::announce::{ChangeFeed, announce};
use super::client::client_connection::ClientConnection;
use super::client::level;
use super::client::level::{WantedLogLevel, WantedLogs};
use super::client::session_client::SessionClient;
use super::common::Common;
use super::exposure::LoadedTools;
use super::lifecycle::{DISCOVER, Terms};
use super::messages::client_request::ClientRequest;
use super::messages::error_object::ErrorObject;
use super::messages::request_context::RequestContext;
use super::methods::listen;
use super::methods::pages::ReadPages;
use super::methods::resources::ClientSubscriptions;
use super::methods::tools::ListedTools;
use crate::roster::{OfferRefusal, Snapshot};

/// View that one agent has of the host.
pub(super) struct Host {
    pub(super) common: Arc<Common>,
    /// Profile that the agent has named: it sees no more than that has.
    pub(super) profile: Option<Arc<str>>,
    /// The agent's; none where each request is for itself.
    pub(super) session: Option<SessionId>,
    /// Whether the session is a connection's, and so lasts longer than a request.
    pub(super) lasting: bool,
    /// Cancelled when the agent has closed its end.
    pub(super) closed: CancellationToken,
    /// Cancelled when calls that still run are to end.
    pub(super) ending: CancellationToken,
    /// Least severe level that a legacy client wants to hear.
    level: Arc<WantedLogLevel>,
    pub(super) subscriptions: Arc<ClientSubscriptions>,
    /// Tools that the agent has been shown.
    pub(super) listed: ListedTools,
    /// Tools that the agent has loaded into its list.
    pub(super) loaded: LoadedTools,
    /// Name that the agent's client has given itself in its handshake; empty without one.
    pub(super) client_name: Mutex<String>,
    /// Servers of which the agent has read pages.
    pub(super) pages: ReadPages,
    /// Set when the client has said that it is ready: from then on it is sent questions, and
    /// notifications that belong to none of its requests.
    ready: SetOnce<()>,
}

impl Host {
    /// Makes the only host of its process, whose calls end when `ending` is cancelled.
    pub(super) fn new(
        common: Arc<Common>,
        session: Option<SessionId>,
        closed: CancellationToken,
        ending: CancellationToken,
    ) -> Self {
        Self {
            common,
            profile: None,
            session,
            lasting: true,
            closed,
            ending,
            level: Arc::default(),
            subscriptions: Arc::default(),
            listed: ListedTools::default(),
            loaded: LoadedTools::default(),
            client_name: Mutex::default(),
            pages: ReadPages::default(),
            ready: SetOnce::new(),
        }
    }

    /// Makes one of many hosts over HTTP, which end together, for agents that see no more than that
    /// profile has, if they have named one. A request of the stateless era belongs to no connection
    /// there, and so neither does a call that waits.
    pub(super) fn over_http(
        common: Arc<Common>,
        session: Option<SessionId>,
        profile: Option<Arc<str>>,
        closed: CancellationToken,
        ending: CancellationToken,
    ) -> Self {
        Self {
            profile,
            lasting: false,
            ..Self::new(common, session, closed, ending)
        }
    }

    /// Returns the servers and tools as its agent sees them.
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.common.roster.view(self.profile.as_deref())
    }

    /// Set when the client has said that it is ready.
    pub(super) fn ready(&self) -> &SetOnce<()> {
        &self.ready
    }

    /// Returns the logs that are to be sent to the client of a request. From 2026-07-28 on each
    /// request says so itself, and one that does not wants none.
    ///
    /// # Errors
    /// MCP has no such level.
    pub(super) fn wanted_logs(
        &self,
        era: Era,
        meta: &RequestMetaObject,
    ) -> Result<WantedLogs, ErrorObject> {
        match era {
            Era::Stateless => level::wanted(meta),
            Era::Handshake => Ok(self.level.wanted()),
        }
    }
}

/// Returns the error of a request that is not understood: its parameters, if the era has
/// that method, or else its method.
pub(super) fn unsupported_request(method: &str, era: Era) -> ErrorObject {
    let known: &[&str] = if era == Era::Stateless {
        &["server/discover", listen::METHOD]
    } else {
        &[
            "initialize",
            "logging/setLevel",
            "ping",
            "resources/subscribe",
            "resources/unsubscribe",
        ]
    };
    if known.contains(&method) {
        let why = format!("the parameters of `{method}` are not those that MCP has there");
        return ErrorObject::invalid_params(why);
    }
    let why = format!("there is no method `{method}`");
    ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, why)
}

/// Returns the MCP error of a refusal. A resource that does not exist has a code of its own in the
/// era with sessions, and [`Host::dispatch`] gives it its newer one in the other.
pub(super) fn refusal(refusal: OfferRefusal) -> ErrorObject {
    let text = refusal.to_string();
    match refusal {
        OfferRefusal::NotFound(_) => ErrorObject::resource_not_found(text),
        OfferRefusal::Invalid(_) => ErrorObject::invalid_params(text),
        OfferRefusal::Upstream { code, data, .. } => ErrorObject::of_server(code, text, data),
        OfferRefusal::Failed(_) => ErrorObject::internal_error(text),
    }
}

impl Host {
    /// Answers a request other than `initialize` on those terms, also where that panics: what belongs
    /// to it and goes out before its answer goes over `connection`.
    pub(super) async fn answer_request(
        &self,
        mut request: ClientRequest,
        terms: &Terms,
        connection: Arc<dyn ClientConnection>,
    ) -> Result<Answer, ErrorObject> {
        let params = std::mem::take(&mut request.params);
        let answered = async {
            let context = RequestContext::new(self, &request, terms, connection);
            self.dispatch(params, &context).await
        };
        catch_panic(&request.id, answered).await
    }

    /// Answers a request other than `initialize`, with those parameters.
    async fn dispatch(
        &self,
        params: Map<String, Value>,
        context: &RequestContext<'_>,
    ) -> Result<Answer, ErrorObject> {
        let (method, era) = (context.request.method.as_str(), context.era());
        if Self::is_of_servers(method) {
            context.check()?;
            if method.ends_with("/list") {
                self.common.roster.lists_settled().await;
            }
        }
        let done = || Answer::Made(json!({}));
        // What waits for a plugin is large, and is moved about by those who wait for
        // it: a box is moved in no time.
        let answered = match method {
            DISCOVER => self
                .discover(&context.request.meta)
                .map(|found| json!(found).into()),
            "ping" if era == Era::Handshake => Ok(done()),
            "logging/setLevel" if era == Era::Handshake => {
                let asked: SetLevelRequestParams = with_params(method, params)?;
                self.set_level(asked.level).await;
                Ok(done())
            }
            "resources/subscribe" if era == Era::Handshake => {
                let asked: SubscribeRequestParams = with_params(method, params)?;
                self.subscribe(asked.uri).await.map(|()| done())
            }
            "resources/unsubscribe" if era == Era::Handshake => {
                let asked: UnsubscribeRequestParams = with_params(method, params)?;
                self.unsubscribe(&asked.uri);
                Ok(done())
            }
            listen::METHOD if era == Era::Stateless => {
                context.check()?;
                Box::pin(self.listen(params, context)).await
            }
            "tools/list" => self.list_tools(&params, context),
            "tools/call" => Box::pin(self.call_tool(params, context)).await,
            "prompts/list" => self.list_prompts(&params, context),
            "prompts/get" => Box::pin(self.get_prompt(params, context)).await,
            "resources/list" => self.list_resources(&params, context),
            "resources/templates/list" => self.list_templates(&params, context),
            "resources/read" => Box::pin(self.read_resource(params, context)).await,
            "completion/complete" => Box::pin(self.complete_argument(params, context)).await,
            method => Err(unsupported_request(method, era)),
        };
        answered.map_err(|mut error| {
            // The newer era has no code of its own for that.
            if era == Era::Stateless && error.code == ErrorCode::RESOURCE_NOT_FOUND {
                error.code = ErrorCode::INVALID_PARAMS;
            }
            error
        })
    }

    /// Whether the answer to a method is made of what servers have.
    pub(super) fn is_of_servers(method: &str) -> bool {
        matches!(
            method,
            "tools/list"
                | "tools/call"
                | "prompts/list"
                | "prompts/get"
                | "resources/list"
                | "resources/templates/list"
                | "resources/read"
                | "completion/complete"
        )
    }

    pub(super) async fn set_level(&self, level: LoggingLevel) {
        self.level.set(level::of(level));
        // Before the answer: what comes next is logged at that level.
        if let Some(session) = self.session {
            self.common.roster.level_changed(session).await;
        }
    }

    /// Sends a client that has shaken hands every change of a list, unasked, and other notifications
    /// that belong to none of its requests.
    pub(super) fn initialized(
        &self,
        connection: Arc<dyn ClientConnection>,
        said: &InitializeRequestParams,
    ) {
        if self.ready.set(()).is_err() {
            return;
        }
        let roster = self.common.roster.clone();
        let closed = self.closed.clone();
        let key = match self.session {
            Some(session) => ClientKey::Session(session),
            None => ClientKey::Name(String::new()),
        };
        let client = SessionClient::new(connection.clone(), said, self.level.clone(), key);
        if let Some(session) = self.session {
            roster.attend(session, client.clone());
        }
        let end = closed.clone();
        tokio::spawn(async move { client.run(end).await });
        let audience = announce::Legacy {
            connection,
            subscriptions: self.subscriptions.clone(),
            roster: roster.clone(),
            profile: self.profile.clone(),
        };
        // From now on, not from when the task is run for the first time.
        let news = ChangeFeed::of(roster.changes(), self.profile.as_deref());
        tokio::spawn(announce(news, audience, closed));
    }

    /// Cancels a call that waits: a request of the stateless era that was answered with a question has
    /// ended, but its call has not.
    pub(super) fn cancelled(&self, request: &RequestId) {
        if let Some(session) = self.session {
            self.common.suspended_calls.cancel(session, request);
        }
    }

    pub(super) fn roots_changed(&self) {
        if let Some(session) = self.session {
            self.common.roster.roots_changed(session);
        }
    }
}

/// Returns the parameters of a request as those of its method.
///
/// # Errors
/// They are something else.
pub(super) fn with_params<T: DeserializeOwned>(
    method: &str,
    params: Map<String, Value>,
) -> Result<T, ErrorObject> {
    serde_json::from_value(params.into()).map_err(|_| unsupported_request(method, Era::Handshake))
}

/// Returns the outcome of a request, also where it has panicked: it would never be answered.
async fn catch_panic<T>(
    id: &RequestId,
    handled: impl Future<Output = Result<T, ErrorObject>>,
) -> Result<T, ErrorObject> {
    AssertUnwindSafe(handled)
        .catch_unwind()
        .await
        .unwrap_or_else(|_| {
            tracing::error!(%id, "a request ended in a panic");
            Err(ErrorObject::internal_error(
                "this request met a bug in dormouse; its log says more",
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_answered() {
        let answered = catch_panic(&RequestId::Number(1), async { panic!("a bug") });
        let error: Result<(), ErrorObject> = answered.await;
        assert_eq!(error.unwrap_err().code, ErrorCode::INTERNAL_ERROR);
    }
}
