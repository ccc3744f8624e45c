//! Agent in the form of rmcp's HTTP server.
#![expect(
    deprecated,
    reason = "what is deprecated since 2026-07-28 is there for legacy clients"
)]

use std::borrow::Cow;
use std::sync::Arc;

use hyper::http::request::Parts;
use rmcp::model::{
    CustomRequest, CustomResult, DiscoverResult, ErrorData, InitializeRequestParams,
    InitializeResult, JsonObject, ProtocolVersion, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::answer_room::{AnswerPlace, NoAnswerRoom};
use super::bypass::MARK;
use super::endpoint::SESSION;
use super::fast_path::HandedOverCall;
use super::sessions::{SessionInfo, Sessions, size};
use crate::mcp::client::able;
use crate::mcp::common::Common;
use crate::mcp::handler::Host;
use crate::mcp::service::caught;
use crate::mcp::session::Session;
use crate::roster::Roster;

/// A legacy session, or a single request that rmcp answers. Everything that was kept for it is
/// dropped with it.
pub(super) struct Agent {
    host: Arc<Host>,
    sessions: Sessions,
    _session: Session,
}

/// State that all agents of one server share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) common: Arc<Common>,
    pub(super) sessions: Sessions,
    /// Host for all requests of the stateless era: none of them belongs to a session.
    pub(super) stateless: Arc<Host>,
    /// Cancelled to end running calls.
    pub(super) ending: CancellationToken,
    /// Cancelled to end requests that wait for changes.
    pub(super) closed: CancellationToken,
}

impl Shared {
    pub(super) fn new(common: Arc<Common>, sessions: Sessions) -> Self {
        let (closed, ending) = (CancellationToken::new(), CancellationToken::new());
        let ends = (closed.clone(), ending.clone());
        let stateless = Host::new(common.clone(), None, ends).among_others();
        Self {
            common,
            sessions,
            stateless: Arc::new(stateless),
            ending,
            closed,
        }
    }

    pub(super) fn agent(&self) -> Agent {
        let session = Session::begin(self.common.clone());
        let ends = (self.closed.child_token(), self.ending.clone());
        let host = Host::new(self.common.clone(), Some(session.id()), ends).among_others();
        Agent {
            host: Arc::new(host),
            sessions: self.sessions.clone(),
            _session: session,
        }
    }

    /// The input schema of a tool some of whose arguments go into headers.
    pub(super) fn schema(&self, name: &str) -> Option<Arc<JsonObject>> {
        schema(&self.common.roster, name)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.host.closed.cancel();
    }
}

fn schema(roster: &Roster, name: &str) -> Option<Arc<JsonObject>> {
    #[derive(Deserialize)]
    struct Declared {
        #[serde(rename = "inputSchema")]
        input_schema: JsonObject,
    }
    let snapshot = roster.snapshot();
    let tool = snapshot.find(name)?.declared()?.tool.get();
    // Hardly any tool has such arguments, and a schema is long.
    if !tool.contains("x-mcp-header") {
        return None;
    }
    let declared: Declared = serde_json::from_str(tool).ok()?;
    Some(Arc::new(declared.input_schema))
}

/// Every request that the host answers is passed on to it: the marked methods under their own
/// names, and the rest as rmcp understands it.
impl ServerHandler for Agent {
    fn get_info(&self) -> ServerConfig {
        self.host.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.host.supported_protocol_versions()
    }

    /// Gives rmcp a tool, so that it can check the headers of a call.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let schema = schema(&self.host.common.roster, name)?;
        Some(Tool::new_with_raw(name.to_owned(), None, schema))
    }

    async fn on_custom_request(
        &self,
        mut request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if let Some(method) = request.method.strip_prefix(MARK) {
            request.method = method.to_owned();
        }
        let parts = context.extensions.get::<Parts>();
        let extensions = parts.map(|parts| &parts.extensions);
        let begun = extensions.and_then(|given| given.get::<HandedOverCall>()?.take());
        let place = extensions.and_then(|given| given.get::<Arc<AnswerPlace>>().cloned());
        let answer = self.host.answer_custom(request, &context, begun);
        let answer = caught(&context.id, answer).await?;
        if let Some(place) = place {
            place.take(size(&answer.0)).map_err(NoAnswerRoom::error)?;
        }
        Ok(answer)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.host.initialize(request, context).await
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        self.host.discover(context).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.host.set_level(request, context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let id = context.id.clone();
        caught(&id, self.host.subscribe(request, context)).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let id = context.id.clone();
        caught(&id, self.host.unsubscribe(request, context)).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let parts = context.extensions.get::<Parts>();
        let session = parts.and_then(|parts| parts.headers.get(SESSION)?.to_str().ok());
        if let Some((session, client)) = session.zip(context.peer.peer_info()) {
            let known = SessionInfo {
                host: self.host.clone(),
                version: client.protocol_version.clone(),
                capabilities: able(client.capabilities.clone(), &client.protocol_version),
            };
            self.sessions.know(session, known);
        }
        self.host.on_initialized(context).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.host.on_roots_list_changed(context).await;
    }
}
