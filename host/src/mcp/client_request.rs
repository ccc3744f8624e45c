//! Requests of clients, as they were read.

use rmcp::model::{ErrorData, RequestId, RequestMetaObject};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::message_room::TakenRoom;
use super::original::Original;
use super::request_params;

/// Request of a client.
pub(super) struct ClientRequest {
    pub(super) id: RequestId,
    pub(super) method: String,
    /// The parameters, without `_meta`.
    pub(super) params: Map<String, Value>,
    pub(super) meta: RequestMetaObject,
    /// The request as it was written.
    pub(super) original: Original,
    /// Cancelled when its client wants no answer any more, or nobody can give it one.
    pub(super) cancel: CancellationToken,
    /// Room of its message, which is taken until it was dealt with.
    _room: TakenRoom,
}

impl ClientRequest {
    /// Reads a request from the text of its message and that of its parameters.
    ///
    /// # Errors
    /// The parameters cannot be read.
    pub(super) fn read(
        (id, method): (RequestId, &str),
        params: Option<&str>,
        text: &str,
        room: &TakenRoom,
    ) -> Result<Self, ErrorData> {
        let mut params = request_params::read(params.unwrap_or_default().as_bytes())?;
        let meta = match params.remove("_meta") {
            Some(Value::Object(meta)) => meta.into(),
            _ => RequestMetaObject::default(),
        };
        let original = match Original::is_kept_of(method) {
            true => Original::new(text.to_owned()),
            false => Original::default(),
        };
        Ok(Self {
            _room: room.clone(),
            ..Self::of_parts((id, method), params, meta, original)
        })
    }

    /// Makes a request of what was read of it elsewhere, where its text keeps its room.
    pub(super) fn of_parts(
        (id, method): (RequestId, &str),
        params: Map<String, Value>,
        meta: RequestMetaObject,
        original: Original,
    ) -> Self {
        Self {
            id,
            method: method.to_owned(),
            params,
            meta,
            original,
            cancel: CancellationToken::new(),
            _room: TakenRoom::default(),
        }
    }
}
