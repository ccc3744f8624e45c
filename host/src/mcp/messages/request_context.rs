//! Context of a request: the facts of it and of its client.

use std::sync::Arc;
use std::time::Duration;

use dormouse_jsonrpc::MessageLimits;
use dormouse_protocol::{ClientEra, Era};
use rmcp::model::{
    ClientCapabilities, NumberOrString, ProgressToken, ProtocolVersion, RequestMetaObject,
};
use serde_json::{Map, Value};
use tokio::sync::SetOnce;

use super::client_request::ClientRequest;
use super::error_object::ErrorObject;
use crate::mcp::calls::call_listener::CallQuestions;
use crate::mcp::client::client_connection::ClientConnection;
use crate::mcp::client::compatibility;
use crate::mcp::client::level;
use crate::mcp::client::level::WantedLogs;
use crate::mcp::client::session_client;
use crate::mcp::lifecycle::Terms;
use crate::mcp::server::Host;

/// Time for which a client that has shaken hands is not asked anything unless it says that it is
/// ready. Some never say so.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// Context of a request: the facts of it, and of its client, that an answer depends on.
pub(in crate::mcp) struct RequestContext<'a> {
    /// The request, without its parameters.
    pub(in crate::mcp) request: &'a ClientRequest,
    /// The era of the request, with its revision.
    pub(in crate::mcp) client_era: ClientEra,
    /// The kinds of content that its version of MCP does not have.
    pub(in crate::mcp) unknown_content: &'static [&'static str],
    pub(in crate::mcp) capabilities: ClientCapabilities,
    /// Whether the answers of the client are those of this host's user: its connection is the
    /// host's own standard streams.
    pub(in crate::mcp) may_decide: bool,
    /// Name of the client in the request; empty where it does not give one.
    pub(in crate::mcp) client: String,
    /// The request's `_meta` for the server that answers it.
    pub(in crate::mcp) meta: Map<String, Value>,
    /// The client's name for the progress of the request, if it wants to hear of it.
    pub(in crate::mcp) token: Option<ProgressToken>,
    /// The logs that it wants to hear.
    pub(in crate::mcp) logs: WantedLogs,
    /// Connection on which notifications and questions can be sent before the answer.
    pub(in crate::mcp) connection: Arc<dyn ClientConnection>,
    /// Error in the request's `_meta`, if there is one.
    wrong: Option<ErrorObject>,
    /// Set when the client has said that it is ready.
    ready: &'a SetOnce<()>,
}

impl<'a> RequestContext<'a> {
    /// Makes the context of a request on that connection.
    pub(in crate::mcp) fn new(
        host: &'a Host,
        request: &'a ClientRequest,
        terms: &Terms,
        connection: Arc<dyn ClientConnection>,
    ) -> Self {
        let version = terms.version.as_ref().map(ProtocolVersion::as_str);
        let client_era = match version {
            Some(version) if is_stateless(version) => ClientEra::Stateless,
            Some(version) => ClientEra::Handshake(version.to_owned()),
            None => ClientEra::default(),
        };
        let meta = &request.meta;
        let logs = host.wanted_logs(client_era.era(), meta);
        let token = progress_token(meta);
        Self {
            request,
            client_era,
            unknown_content: version.map_or(&[], compatibility::unknown_content),
            capabilities: terms.capabilities.clone(),
            may_decide: host.lasting,
            client: client_name(meta),
            meta: passed_on(meta),
            token: token.as_ref().cloned().unwrap_or_default(),
            logs: logs.as_ref().copied().unwrap_or(WantedLogs::Nothing),
            connection,
            wrong: logs.err().or(token.err()),
            ready: host.ready(),
        }
    }

    /// Returns the era of the request.
    pub(in crate::mcp) fn era(&self) -> Era {
        self.client_era.era()
    }

    /// # Errors
    /// The metadata of the request is invalid.
    pub(in crate::mcp) fn check(&self) -> Result<(), ErrorObject> {
        self.wrong.clone().map_or(Ok(()), Err)
    }

    /// Asks the client something by a request, as soon as it may be sent one.
    pub(in crate::mcp) async fn ask(&self, ask: CallQuestions) {
        let _ = tokio::time::timeout(HANDSHAKE, self.ready.wait()).await;
        session_client::ask(&*self.connection, &self.client_era, ask).await;
    }

    /// Checks whether the client can be asked anything.
    pub(in crate::mcp) fn may_be_asked(&self) -> bool {
        let able = &self.capabilities;
        able.elicitation.is_some() || able.sampling.is_some() || able.roots.is_some()
    }
}

/// Returns the token of a request's progress, which is repeated in each notification of it.
///
/// # Errors
/// A token of that length is longer than an id may be.
fn progress_token(meta: &RequestMetaObject) -> Result<Option<ProgressToken>, ErrorObject> {
    let token = meta.get_progress_token();
    let bytes = match &token {
        Some(ProgressToken(NumberOrString::String(token))) => token.len(),
        _ => 0,
    };
    let limit = MessageLimits::default().id_bytes;
    match bytes > limit {
        true => Err(ErrorObject::invalid_params(format!(
            "the `progressToken` in `_meta` has {bytes} bytes, where {limit} are allowed"
        ))),
        false => Ok(token),
    }
}

/// Returns the name of a client in a request, with its version: as much of it as tells clients
/// apart.
pub(in crate::mcp) fn client_name(meta: &RequestMetaObject) -> String {
    let client = meta.get("io.modelcontextprotocol/clientInfo");
    let part = |key| client?.get(key)?.as_str();
    let [name, version] = [part("name"), part("version")].map(Option::unwrap_or_default);
    name_with_version(name, version)
}

/// Returns a client's name and version: as much of both as tells clients apart.
pub(in crate::mcp) fn name_with_version(name: &str, version: &str) -> String {
    const MAX_NAME_BYTES: usize = 128;
    let mut name = format!("{name} {version}");
    name.truncate(name.floor_char_boundary(MAX_NAME_BYTES));
    name
}

/// Returns the `_meta` of a request, without what is about the agent's connection to this host: an
/// upstream is told of the host's own.
fn passed_on(meta: &RequestMetaObject) -> Map<String, Value> {
    const OURS: [&str; 5] = [
        "progressToken",
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientInfo",
        "io.modelcontextprotocol/clientCapabilities",
        level::META,
    ];
    let members = meta.iter();
    members
        .filter(|(name, _)| !OURS.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Whether a version of the protocol has no handshake.
pub(in crate::mcp) fn is_stateless(version: &str) -> bool {
    version >= ProtocolVersion::V_2026_07_28.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_token_of_progress_is_no_longer_than_an_id() {
        let token = |token: Value| {
            let meta = json!({ "progressToken": token });
            progress_token(&meta.as_object().unwrap().clone().into())
        };
        assert!(token(json!("x".repeat(4096))).unwrap().is_some());
        assert!(token(json!(7)).unwrap().is_some());
        let refused = token(json!("x".repeat(4097))).unwrap_err();
        assert!(refused.message.contains("4097 bytes"), "{refused:?}");
    }
}
