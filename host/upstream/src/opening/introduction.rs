//! Introductions of clients to servers, Dormouse itself included.

use dormouse_protocol::{ClientEra, DeclaredCapabilities, Listener};
use serde_json::{Map, Value, json};

/// The version without a handshake.
pub const MODERN: &str = "2026-07-28";

/// Properties of a client by which a server behaves towards it, told once for a connection in the
/// era with a handshake: two clients for which this is the same may share a connection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Introduction {
    pub(crate) era: ClientEra,
    /// Members of MCP `ClientCapabilities`.
    pub(crate) capabilities: Map<String, Value>,
}

impl Introduction {
    /// Returns the introduction of a caller's client.
    pub(crate) fn of(caller: &dyn Listener) -> Self {
        Self {
            era: caller.era(),
            capabilities: caller.declared(),
        }
    }

    /// Returns the introduction of nobody, to find out what there is for all who may come.
    pub(super) fn of_nobody() -> Self {
        Self {
            era: ClientEra::default(),
            capabilities: DeclaredCapabilities::all().into_members(),
        }
    }
}

/// Returns Dormouse's name and version (MCP `Implementation`).
pub(crate) fn us() -> Value {
    json!({ "name": "dormouse", "version": env!("CARGO_PKG_VERSION") })
}
