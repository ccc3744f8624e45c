//! Agent in the form of rmcp's HTTP server.
#![expect(
    deprecated,
    reason = "what is deprecated since 2026-07-28 is there for legacy clients"
)]

use std::sync::Arc;

use dormouse_protocol::Era;
use hyper::http::request::Parts;
use rmcp::model::{
    CustomRequest, CustomResult, DiscoverResult, ErrorData, InitializeRequestParams,
    InitializeResult, JsonObject, ServerConfig, SetLevelRequestMethod, SetLevelRequestParams,
    SubscribeRequestParams, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext as RmcpContext};
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
use crate::mcp::handler::caught;
use crate::mcp::in_flight_call::RunningCall;
use crate::mcp::listen;
use crate::mcp::peer_connection::PeerConnection;
use crate::mcp::request_context::{RequestContext, is_stateless};
use crate::mcp::session::Session;
use crate::mcp::verbatim;
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

impl Agent {
    /// Answers a request that bypasses rmcp's types, or goes on with the call that was begun for
    /// it.
    async fn answer(
        &self,
        CustomRequest { method, params, .. }: CustomRequest,
        context: &RmcpContext<RoleServer>,
        begun: Option<RunningCall>,
    ) -> Result<CustomResult, ErrorData> {
        let request = RequestContext::of(&self.host, context, begun);
        let answered = if method == listen::METHOD && request.era() == Era::Stateless {
            request.check()?;
            Box::pin(self.host.listen(params, &context.id, &request)).await
        } else {
            self.host.answer(&method, params, &request).await
        };
        answered.map(verbatim::folded)
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
        self.host.info()
    }

    /// Gives rmcp a tool, so that it can check the headers of a call.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let schema = schema(&self.host.common.roster, name)?;
        Some(Tool::new_with_raw(name.to_owned(), None, schema))
    }

    async fn on_custom_request(
        &self,
        mut request: CustomRequest,
        context: RmcpContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if let Some(method) = request.method.strip_prefix(MARK) {
            request.method = method.to_owned();
        }
        let parts = context.extensions.get::<Parts>();
        let extensions = parts.map(|parts| &parts.extensions);
        let begun = extensions.and_then(|given| given.get::<HandedOverCall>()?.take());
        let place = extensions.and_then(|given| given.get::<Arc<AnswerPlace>>().cloned());
        let answer = self.answer(request, &context, begun);
        let answer = caught(&context.id, answer).await?;
        if let Some(place) = place {
            place.take(size(&answer.0)).map_err(NoAnswerRoom::error)?;
        }
        Ok(answer)
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RmcpContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.host.initialize(&request);
        request.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(result)
    }

    async fn discover(
        &self,
        context: RmcpContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        self.host.discover(&context.meta)
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RmcpContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let version = context.protocol_version();
        if version.is_some_and(|version| is_stateless(version.as_str())) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.host.set_level(request.level).await;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RmcpContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        caught(&context.id, self.host.subscribe(request.uri)).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RmcpContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.host.unsubscribe(&request.uri);
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let parts = context.extensions.get::<Parts>();
        let session = parts.and_then(|parts| parts.headers.get(SESSION)?.to_str().ok());
        let Some(client) = context.peer.peer_info() else {
            return;
        };
        if let Some(session) = session {
            let known = SessionInfo {
                host: self.host.clone(),
                version: client.protocol_version.clone(),
                capabilities: able(client.capabilities.clone(), &client.protocol_version),
            };
            self.sessions.know(session, known);
        }
        let connection = Arc::new(PeerConnection::new(&context.peer, None));
        self.host.initialized(connection, &client);
    }

    async fn on_roots_list_changed(&self, _context: NotificationContext<RoleServer>) {
        self.host.roots_changed();
    }
}
