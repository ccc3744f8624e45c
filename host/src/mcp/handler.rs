//! What the host answers to each kind of request.
#![expect(
    deprecated,
    reason = "MCP's logging is deprecated since 2026-07-28, not gone"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rmcp::model::{
    CustomRequest, CustomResult, ErrorCode, ErrorData, Implementation, LoggingLevel,
    ProtocolVersion, ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::relay;
use crate::roster::Roster;
use crate::runtime::SessionId;

/// How many calls of one agent may be on their way. rmcp starts a task for each
/// request without bound; how many of them *run* is each server's own limit, so
/// that one server's crowd never keeps another's waiting.
const IN_FLIGHT: usize = 4096;

/// One agent's view of the host.
pub(super) struct Host {
    pub(super) roster: Arc<Roster>,
    pub(super) session: SessionId,
    pub(super) in_flight: Arc<Semaphore>,
    /// Cancelled when the agent has closed its end.
    pub(super) closed: CancellationToken,
    /// Cancelled when calls that still run are to end.
    pub(super) ending: CancellationToken,
    /// The least severe level that a legacy client wants to hear.
    level: AtomicU8,
}

impl Host {
    pub(super) fn new(roster: Arc<Roster>, session: SessionId, closed: CancellationToken) -> Self {
        Self {
            roster,
            session,
            in_flight: Arc::new(Semaphore::new(IN_FLIGHT)),
            closed,
            ending: CancellationToken::new(),
            level: AtomicU8::new(relay::severity("info")),
        }
    }

    /// Shares what it may have in flight, and the end of it, with other agents.
    pub(super) fn sharing(mut self, in_flight: Arc<Semaphore>, ending: CancellationToken) -> Self {
        self.in_flight = in_flight;
        self.ending = ending;
        self
    }

    /// Ends the calls that still run, when cancelled.
    pub(super) fn ending(&self) -> CancellationToken {
        self.ending.clone()
    }

    /// The least severe level that is to be told to the client of a request. From
    /// 2026-07-28 on each request says so itself, and one that does not wants to
    /// hear nothing.
    pub(super) fn log_level(&self, context: &RequestContext<RoleServer>) -> Option<u8> {
        if stateless(context) {
            context.meta.log_level().map(severity)
        } else {
            Some(self.level.load(Ordering::Relaxed))
        }
    }
}

/// Whether a request is of the era without a handshake.
pub(super) fn stateless(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

fn severity(level: LoggingLevel) -> u8 {
    relay::severity(match level {
        LoggingLevel::Debug => "debug",
        LoggingLevel::Info => "info",
        LoggingLevel::Notice => "notice",
        LoggingLevel::Warning => "warning",
        LoggingLevel::Error => "error",
        LoggingLevel::Critical => "critical",
        LoggingLevel::Alert => "alert",
        LoggingLevel::Emergency => "emergency",
    })
}

impl ServerHandler for Host {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("dormouse", env!("CARGO_PKG_VERSION")).with_title("Dormouse"),
            )
            .with_instructions(
                "The tools of several servers. A tool's name begins with the name of its server; \
                 each server is started by the first call of one of its tools.",
            )
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        match request.method.as_str() {
            "tools/list" => self.list_tools(request.params, &context),
            "tools/call" => self.call_tool(request.params, &context).await,
            _ => Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("there is no method `{}`", request.method),
                None,
            )),
        }
        .map(CustomResult)
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if stateless(&context) {
            return Err(ErrorData::method_not_found::<
                rmcp::model::SetLevelRequestMethod,
            >());
        }
        self.level.store(severity(request.level), Ordering::Relaxed);
        Ok(())
    }

    /// Legacy clients hear of every change of the list, unasked.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut changes = self.roster.changes();
        let closed = self.closed.clone();
        let peer = context.peer;
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    changed = changes.changed() => if changed.is_err() { return },
                    () = closed.cancelled() => return,
                }
                if peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    /// Clients without a handshake hear of changes as long as they listen.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.roster.changes();
        let wanted = context.accepted().tools_list_changed == Some(true);
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.closed.cancelled() => return Ok(()),
                changed = changes.changed(), if wanted => if changed.is_err() { return Ok(()) },
            }
            if context.sink().notify_tool_list_changed().await.is_err() {
                return Ok(());
            }
        }
    }
}
