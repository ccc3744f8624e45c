//! Life cycle of a connection: what client and host have agreed on, and what may be asked by then.

use std::sync::Arc;

use rmcp::model::{
    ClientCapabilities, InitializeRequestParams, ProtocolVersion, RequestMetaObject,
};

use super::client::session_client::able;
use super::messages::error_object::ErrorObject;
use super::messages::request_context::is_stateless;

/// Method that tells what a server is, before anything is agreed on.
pub(super) const DISCOVER: &str = "server/discover";

/// Agreement of client and host over one connection.
#[derive(Clone, Default)]
pub(super) enum Agreed {
    /// Nothing yet.
    #[default]
    Nothing,
    /// The client has begun without a handshake: each of its requests is complete by itself.
    Stateless,
    /// The client has shaken hands. What it has said, with the version that was agreed on.
    Handshake(Arc<InitializeRequestParams>),
}

/// A request's terms: those of its own metadata, or else of the handshake.
pub(super) struct Terms {
    /// Version of MCP, where it is known.
    pub(super) version: Option<ProtocolVersion>,
    pub(super) capabilities: ClientCapabilities,
}

impl Agreed {
    /// Returns the terms of a request other than `initialize`.
    ///
    /// # Errors
    /// Its metadata name a version that is not known, or lack what they have to have.
    pub(super) fn terms(
        &self,
        method: &str,
        meta: &RequestMetaObject,
    ) -> Result<Terms, ErrorObject> {
        let own = meta.protocol_version();
        if let Some(version) = &own
            && !ProtocolVersion::KNOWN_VERSIONS.contains(version)
        {
            return Err(ErrorObject::unsupported_protocol_version(version.clone()));
        }
        let is_new = |version: &ProtocolVersion| is_stateless(version.as_str());
        let is_complete = method == DISCOVER
            || !matches!(self, Self::Handshake(_))
            || own.as_ref().is_some_and(is_new);
        if is_complete {
            let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
            if !missing.is_empty() {
                let missing = missing.join(", ");
                let why =
                    format!("request _meta is missing or has malformed required fields: {missing}");
                return Err(ErrorObject::invalid_params(why));
            }
        }
        let said = match self {
            Self::Handshake(said) => Some(said),
            Self::Nothing | Self::Stateless => None,
        };
        let version = own.or_else(|| said.map(|said| said.protocol_version.clone()));
        let declared = meta.client_capabilities();
        let declared = declared.or_else(|| said.map(|said| said.capabilities.clone()));
        let declared = declared.unwrap_or_default();
        Ok(Terms {
            capabilities: match &version {
                Some(version) => able(declared, version),
                None => declared,
            },
            version,
        })
    }
}

/// Returns the version that is agreed on by a handshake in which the client wants that one: the
/// newest with a handshake where the host does not know it.
pub(super) fn negotiated(wanted: &ProtocolVersion) -> ProtocolVersion {
    let known = ProtocolVersion::KNOWN_VERSIONS.iter();
    let known = known.filter(|version| version.has_initialize());
    match known.clone().any(|version| version == wanted) {
        true => wanted.clone(),
        false => {
            let newest = known.max_by(|one, other| one.as_str().cmp(other.as_str()));
            newest.cloned().unwrap_or(ProtocolVersion::V_2025_11_25)
        }
    }
}
