//! Requests of clients, as they were read.

use dormouse_jsonrpc as jsonrpc;
use rmcp::model::{RequestId, RequestMetaObject};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::error_object::ErrorObject;
use super::message_room::TakenRoom;
use super::original::Original;
use super::request_params;

/// Request of a client.
pub(in crate::mcp) struct ClientRequest {
    pub(in crate::mcp) id: RequestId,
    pub(in crate::mcp) method: String,
    /// The parameters, without `_meta`.
    pub(in crate::mcp) params: Map<String, Value>,
    pub(in crate::mcp) meta: RequestMetaObject,
    /// The request as it was written.
    pub(in crate::mcp) original: Original,
    /// Cancelled when its client wants no answer any more, or nobody can give it one.
    pub(in crate::mcp) cancel: CancellationToken,
    /// Room of its message, which is taken until it was dealt with.
    _room: TakenRoom,
}

impl ClientRequest {
    /// Reads a request, whose message has that text and room, from the text of its parameters.
    ///
    /// # Errors
    /// The parameters cannot be read.
    pub(in crate::mcp) fn read(
        id: RequestId,
        method: &str,
        params: Option<&str>,
        original: Original,
        room: &TakenRoom,
    ) -> Result<Self, ErrorObject> {
        let mut params = request_params::read(params.unwrap_or_default().as_bytes())?;
        let meta = match params.remove("_meta") {
            Some(Value::Object(meta)) => meta.into(),
            _ => RequestMetaObject::default(),
        };
        Ok(Self {
            id,
            method: method.to_owned(),
            params,
            meta,
            original,
            cancel: CancellationToken::new(),
            _room: room.clone(),
        })
    }
}

/// Returns the id of a request in the form that is compared and written.
pub(in crate::mcp) fn id_of(id: &jsonrpc::RequestId<'_>) -> Option<RequestId> {
    serde_json::from_str(id.as_str()).ok()
}
