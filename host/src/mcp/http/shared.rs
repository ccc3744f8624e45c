//! State that all agents of one server share.

use std::sync::Arc;

use dormouse_jsonrpc::member;
use dormouse_protocol::{HEADER_KEYWORD, HeaderArgument};
use tokio_util::sync::CancellationToken;

use crate::mcp::common::Common;
use crate::mcp::server::Host;
use crate::mcp::session::AgentSession;
use crate::roster::UnknownProfile;

/// State that all agents of one server share.
pub(super) struct SharedHttpState {
    common: Arc<Common>,
    /// Host for all requests of the stateless era that name no profile: none of them belongs to a
    /// session.
    stateless: Arc<Host>,
    /// Cancelled to end running calls.
    pub(super) ending: CancellationToken,
    /// Cancelled to end requests that wait for changes.
    pub(super) closed: CancellationToken,
}

impl SharedHttpState {
    pub(super) fn new(common: Arc<Common>) -> Self {
        let (closed, ending) = (CancellationToken::new(), CancellationToken::new());
        let stateless = Host::new(common.clone(), None, closed.clone(), ending.clone());
        let stateless = stateless.for_many_clients();
        Self {
            common,
            stateless: Arc::new(stateless),
            ending,
            closed,
        }
    }

    /// Checks that clients may name a profile.
    ///
    /// # Errors
    /// It is not served; the error names those that are.
    pub(super) fn check_profile(&self, profile: Option<&str>) -> Result<(), UnknownProfile> {
        profile.map_or(Ok(()), |name| self.common.roster.check_profile(name))
    }

    /// Returns the host for requests of the stateless era that name that profile, or none. Nothing is
    /// kept in it from one request to the next.
    pub(super) fn stateless(&self, profile: Option<&Arc<str>>) -> Arc<Host> {
        if profile.is_none() {
            return Arc::clone(&self.stateless);
        }
        let (closed, ending) = (self.closed.clone(), self.ending.clone());
        let host = Host::new(self.common.clone(), None, closed, ending);
        Arc::new(host.for_many_clients().of_profile(profile.cloned()))
    }

    /// Begins a session of clients that see that profile, or all, and makes the host for it.
    pub(super) fn host_of_session(&self, profile: Option<&Arc<str>>) -> (AgentSession, Host) {
        let session = AgentSession::begin(self.common.clone());
        let closed = self.closed.child_token();
        let common = self.common.clone();
        let host = Host::new(common, Some(session.id()), closed, self.ending.clone());
        let host = host.for_many_clients().of_profile(profile.cloned());
        (session, host)
    }

    /// Returns the arguments that a tool wants in headers; none of one that wants them wrongly.
    pub(super) fn header_arguments(
        &self,
        profile: Option<&str>,
        name: &str,
    ) -> Vec<HeaderArgument> {
        let snapshot = self.common.roster.view(profile);
        let shown = snapshot.find(name).and_then(|shown| shown.declared());
        // Hardly any tool has such arguments, and a schema is long.
        let tool = shown.map(|declared| declared.tool.get());
        let tool = tool.filter(|tool| tool.contains(HEADER_KEYWORD));
        let schema = tool.and_then(|tool| member(tool, "inputSchema"));
        let schema = schema.and_then(|schema| serde_json::from_str(schema).ok());
        let wanted = schema.map(|schema| HeaderArgument::of_schema(&schema));
        wanted.and_then(Result::ok).unwrap_or_default()
    }
}
