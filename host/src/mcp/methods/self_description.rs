//! Description that this server gives of itself, in a handshake and without one.

use std::sync::Arc;

use dormouse_protocol::Era;
use rmcp::model::{
    DiscoverResult, Implementation, InitializeRequestParams, InitializeResult, ProtocolVersion,
    RequestMetaObject, ServerCapabilities, ServerConfig,
};

use super::instructions;
use crate::mcp::client::level;
use crate::mcp::lifecycle::negotiated;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::server::Host;
use crate::roster::Offer;

/// Returns the description that this server gives of itself.
pub(in crate::mcp) fn server_info() -> Implementation {
    Implementation::new("dormouse", env!("CARGO_PKG_VERSION")).with_title("Dormouse")
}

impl Host {
    /// Returns the capabilities that some server has.
    fn capabilities(&self) -> ServerCapabilities {
        let snapshot = self.snapshot();
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

    /// Returns the description of this server: its capabilities and instructions.
    pub(in crate::mcp) fn info(&self) -> ServerConfig {
        ServerConfig::new(self.capabilities())
            .with_server_info(server_info())
            .with_instructions(instructions::OWN)
    }

    /// Answers a handshake.
    pub(in crate::mcp) fn initialize(&self, asked: &InitializeRequestParams) -> InitializeResult {
        let mut result = self.info();
        result.protocol_version = negotiated(&asked.protocol_version);
        let snapshot = self.snapshot();
        let name = &asked.client_info.name;
        self.client_name.lock().clone_from(name);
        let mode = self.exposure(Era::Handshake, &snapshot).mode;
        let said = instructions::for_client(&snapshot, name, mode);
        result.instructions = Some(said);
        result
    }

    /// Tells a client without a handshake what this server is.
    pub(in crate::mcp) fn discover(
        &self,
        meta: &RequestMetaObject,
    ) -> Result<DiscoverResult, ErrorObject> {
        level::wanted(meta)?;
        let versions = ProtocolVersion::KNOWN_VERSIONS.to_vec();
        let client = meta.get("io.modelcontextprotocol/clientInfo");
        let client = client.and_then(|client| client.get("name")?.as_str());
        let snapshot = self.snapshot();
        let mode = self.exposure(Era::Stateless, &snapshot).mode;
        let said = instructions::for_client(&snapshot, client.unwrap_or_default(), mode);
        let info = self.info().with_instructions(said);
        Ok(DiscoverResult::from_server_info(versions, info))
    }
}
