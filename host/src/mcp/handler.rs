//! Answers of the host to each kind of request.
#![expect(
    deprecated,
    reason = "MCP's logging is deprecated since 2026-07-28, not gone"
)]

use std::sync::Arc;

use dormouse_protocol::{Answer, ClientKey, SessionId};
use rmcp::model::{
    CancelledNotificationParam, CustomRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData,
    Implementation, InitializeRequestParams, InitializeResult, RequestMetaObject,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::SetOnce;
use tokio_util::sync::CancellationToken;

use super::announce::{self, ChangeFeed, announce};
use super::caller::{Caller, is_stateless};
use super::client::Client;
use super::commands;
use super::common::Common;
use super::in_flight_call::RunningCall;
use super::instructions;
use super::level::{self, Level, WantedLogs};
use super::listen;
use super::pages::ReadPages;
use super::peer_connection::PeerConnection;
use super::resources::{Subscriptions, with_uri};
use super::tools::ListedTools;
use super::verbatim;
use crate::roster::{Offer, Refusal};

/// View that one agent has of the host.
pub(super) struct Host {
    pub(super) common: Arc<Common>,
    /// The agent's; none where each request is for itself.
    pub(super) session: Option<SessionId>,
    /// Whether the session is a connection's, and so lasts longer than a request.
    pub(super) lasting: bool,
    /// Cancelled when the agent has closed its end.
    pub(super) closed: CancellationToken,
    /// Cancelled when calls that still run are to end.
    pub(super) ending: CancellationToken,
    /// Least severe level that a legacy client wants to hear.
    level: Arc<Level>,
    subscriptions: Arc<Subscriptions>,
    /// Tools that the agent has been shown.
    pub(super) listed: ListedTools,
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
        (closed, ending): (CancellationToken, CancellationToken),
    ) -> Self {
        Self {
            common,
            session,
            lasting: true,
            closed,
            ending,
            level: Arc::default(),
            subscriptions: Arc::default(),
            listed: ListedTools::default(),
            pages: ReadPages::default(),
            ready: SetOnce::new(),
        }
    }

    /// Makes it one of many hosts over HTTP, which end together. A request of the stateless era
    /// belongs to no connection there, and so neither does a call that waits.
    pub(super) fn among_others(mut self) -> Self {
        self.lasting = false;
        self
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
        stateless: bool,
        meta: &RequestMetaObject,
    ) -> Result<WantedLogs, ErrorData> {
        match stateless {
            true => level::wanted(meta),
            false => Ok(self.level.wanted()),
        }
    }
}

/// Returns the description that this server gives of itself.
pub(super) fn ourselves() -> Implementation {
    Implementation::new("dormouse", env!("CARGO_PKG_VERSION")).with_title("Dormouse")
}

/// Returns the error of a request that rmcp does not understand: its parameters, if the era has
/// that method, or else its method.
pub(super) fn misunderstood(method: &str, stateless: bool) -> ErrorData {
    let known: &[&str] = if stateless {
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
        return ErrorData::invalid_params(why, None);
    }
    let why = format!("there is no method `{method}`");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, why, None)
}

/// Returns the MCP error of a refusal. A resource that does not exist has a code of its own in the
/// era with sessions; rmcp gives it its newer one in the other.
pub(super) fn refusal(refusal: Refusal) -> ErrorData {
    let text = refusal.to_string();
    match refusal {
        Refusal::NotFound(_) => ErrorData::resource_not_found(text, None),
        Refusal::Invalid(_) => ErrorData::invalid_params(text, None),
        Refusal::Upstream { code, data, .. } => {
            let code = i32::try_from(code).map_or(ErrorCode::INTERNAL_ERROR, ErrorCode);
            ErrorData::new(code, text, data.map(verbatim::data))
        }
        Refusal::Failed(_) => ErrorData::internal_error(text, None),
    }
}

impl Host {
    /// Answers a request for something of a plugin.
    pub(super) async fn answer(
        &self,
        method: &str,
        params: Option<Value>,
        caller: &Caller<'_>,
    ) -> Result<Answer, ErrorData> {
        caller.check()?;
        if method.ends_with("/list") {
            self.common.roster.lists_settled().await;
        }
        // What waits for a plugin is large, and is moved about by those who wait for
        // it: a box is moved in no time.
        match method {
            "tools/list" => self.list_tools(params.as_ref(), caller),
            "tools/call" => Box::pin(self.call_tool(params, caller)).await,
            "prompts/list" => self.list_prompts(params.as_ref(), caller),
            "prompts/get" => Box::pin(self.get_prompt(params, caller)).await,
            "resources/list" => self.list_resources(params.as_ref(), caller),
            "resources/templates/list" => self.list_templates(params.as_ref(), caller),
            "resources/read" => Box::pin(self.read_resource(params, caller)).await,
            "completion/complete" => Box::pin(self.complete_argument(params, caller)).await,
            method => Err(misunderstood(method, caller.stateless)),
        }
    }

    /// Answers a request that bypasses rmcp's types, or goes on with the call that was begun for
    /// it.
    pub(super) async fn answer_custom(
        &self,
        CustomRequest { method, params, .. }: CustomRequest,
        context: &RequestContext<RoleServer>,
        begun: Option<RunningCall>,
    ) -> Result<CustomResult, ErrorData> {
        let caller = Caller::of(self, context, begun);
        let answered = if method == listen::METHOD && caller.stateless {
            caller.check()?;
            Box::pin(self.listen(params, &context.id, &caller)).await
        } else {
            self.answer(&method, params, &caller).await
        };
        answered.map(verbatim::folded)
    }

    /// Returns the capabilities that some server has.
    fn capabilities(&self) -> ServerCapabilities {
        let snapshot = self.common.roster.snapshot();
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        // Any plugin may log; without one there is nobody who could.
        if !snapshot.servers().is_empty() {
            capabilities.logging = Some(serde_json::Map::new());
        }
        // Dormouse's own commands are prompts whose argument is completed, and its
        // status is a resource (see `commands`).
        let prompts = capabilities.prompts.get_or_insert_default();
        prompts.list_changed = Some(true);
        let told = |offer: &Arc<Offer>| offer.declared().is_some_and(|item| item.subscribe);
        let all = snapshot.resources().iter();
        let subscribe = all.chain(snapshot.templates().iter()).any(told);
        let resources = capabilities.resources.get_or_insert_default();
        resources.list_changed = Some(true);
        resources.subscribe = subscribe.then_some(true);
        capabilities.completions = Some(serde_json::Map::new());
        capabilities
    }
}

impl ServerHandler for Host {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(self.capabilities())
            .with_server_info(ourselves())
            .with_instructions(instructions::OWN)
    }

    /// Answers a handshake. rmcp's own would keep the requested version, which matters for a second
    /// handshake on the same connection.
    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.negotiate_initialize(&request)?;
        let snapshot = self.common.roster.snapshot();
        let said = instructions::for_client(&snapshot, &request.client_info.name);
        result.instructions = Some(said);
        request.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(result)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        level::wanted(&context.meta)?;
        let versions = self.supported_protocol_versions().into_owned();
        let client = context.meta.get("io.modelcontextprotocol/clientInfo");
        let client = client.and_then(|client| client.get("name")?.as_str());
        let snapshot = self.common.roster.snapshot();
        let said = instructions::for_client(&snapshot, client.unwrap_or_default());
        let info = self.get_info().with_instructions(said);
        Ok(DiscoverResult::from_server_info(versions, info))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.answer_custom(request, &context, None).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let version = context.protocol_version();
        if version.is_some_and(|version| is_stateless(version.as_str())) {
            return Err(ErrorData::method_not_found::<
                rmcp::model::SetLevelRequestMethod,
            >());
        }
        self.level.set(level::of(request.level));
        // Before the answer: what comes next is logged at that level.
        if let Some(session) = self.session {
            self.common.roster.level_changed(session).await;
        }
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let roster = &self.common.roster;
        if commands::is_status(&request.uri) || instructions::is_one(&request.uri) {
            let why = format!(
                "of changes of `{}` nobody is told\nhint: read it again to see how it is",
                request.uri
            );
            return Err(ErrorData::invalid_params(why, None));
        }
        if let Err(unresolved) = roster.resource(&request.uri) {
            return Err(with_uri(unresolved.refusal(&request.uri), &request.uri));
        }
        self.subscriptions.add(request.uri, roster)?.await;
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    /// Sends a legacy client every change of a list, unasked, and other notifications that belong
    /// to none of its requests.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.ready.set(()).is_err() {
            return;
        }
        let roster = self.common.roster.clone();
        let closed = self.closed.clone();
        let key = match self.session {
            Some(session) => ClientKey::Session(session),
            None => ClientKey::Name(String::new()),
        };
        let connection = Arc::new(PeerConnection::new(&context.peer, None));
        let said = context.peer.peer_info();
        let client = Client::new(connection.clone(), said.as_deref(), self.level.clone(), key);
        if let Some(session) = self.session {
            roster.attend(session, client.clone());
        }
        let end = closed.clone();
        tokio::spawn(async move { client.run(end).await });
        let audience = announce::Legacy {
            connection,
            subscriptions: self.subscriptions.clone(),
        };
        // From now on, not from when the task is run for the first time.
        let news = ChangeFeed::of(roster.changes());
        tokio::spawn(announce(news, audience, closed));
    }

    /// Cancels a call that waits. rmcp cancels a running request itself; a request of the stateless
    /// era that was answered with a question has ended for rmcp, but its call has not.
    async fn on_cancelled(
        &self,
        cancelled: CancelledNotificationParam,
        _context: NotificationContext<RoleServer>,
    ) {
        if let (Some(session), Some(id)) = (self.session, &cancelled.request_id) {
            self.common.suspended_calls.cancel(session, id);
        }
    }

    async fn on_roots_list_changed(&self, _context: NotificationContext<RoleServer>) {
        if let Some(session) = self.session {
            self.common.roster.roots_changed(session);
        }
    }
}
