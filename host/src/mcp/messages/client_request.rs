//! Requests of clients, as they were read.

use std::fmt;

use bytes::Bytes;
use dormouse_jsonrpc::{self as jsonrpc, member};
use rmcp::model::{RequestId, RequestMetaObject};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::map::Entry;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::error_object::ErrorObject;
use super::message_room::{TakenRoom, bytes_of_values};

/// Longest parameters of `initialize`, in bytes: they are kept as long as their session.
const MAX_HANDSHAKE_BYTES: usize = 64 << 10;

/// Most memory of their values, in bytes: each call has a copy of what the client can do. A hundred
/// objects take as much.
const MAX_HANDSHAKE_VALUE_BYTES: usize = 256 << 10;

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

/// Text of a request's message. Values cannot hold all that JSON can say; the parts that go to an
/// upstream are taken from here.
#[derive(Clone, Default)]
pub(in crate::mcp) struct Original(Bytes);

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
        let params = params.unwrap_or_default().as_bytes();
        if method == "initialize" {
            check_handshake(params)?;
        }
        let mut params = read_params(params)?;
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

impl Original {
    /// Checks whether a request's text is kept: parts of it may go to an upstream.
    pub(in crate::mcp) fn is_kept_of(method: &str) -> bool {
        matches!(method, "tools/call" | "prompts/get" | "resources/read")
    }

    pub(in crate::mcp) fn new(message: impl Into<Bytes>) -> Self {
        Self(message.into())
    }

    /// Returns the text of a parameter that is an object.
    pub(in crate::mcp) fn object(&self, name: &str) -> Option<Box<RawValue>> {
        let value = member(member(self.text()?, "params")?, name)?;
        let object = value.starts_with('{').then(|| value.to_owned())?;
        RawValue::from_string(object).ok()
    }

    fn text(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.0).ok()?;
        // Some clients put a byte order mark before it.
        Some(text.trim_start_matches('\u{feff}'))
    }
}

/// Checks that a handshake takes no more memory than it may.
fn check_handshake(params: &[u8]) -> Result<(), ErrorObject> {
    let bytes = params.len();
    let of_values = bytes_of_values(params);
    let why = if bytes > MAX_HANDSHAKE_BYTES {
        format!("have {bytes} bytes, where {MAX_HANDSHAKE_BYTES} are allowed")
    } else if of_values > MAX_HANDSHAKE_VALUE_BYTES {
        format!(
            "have so many values that they may take {of_values} bytes, where \
             {MAX_HANDSHAKE_VALUE_BYTES} are allowed"
        )
    } else {
        return Ok(());
    };
    let why = format!("the `params` of `initialize` {why}");
    Err(ErrorObject::invalid_params(why))
}

/// Reads the parameters of a request.
///
/// # Errors
/// The parameters are invalid.
fn read_params(text: &[u8]) -> Result<Map<String, Value>, ErrorObject> {
    let refuse = |why: String| Err(ErrorObject::invalid_params(why));
    let params = match text {
        b"" | b"null" => Map::new(),
        text => match serde_json::from_slice(text) {
            Ok(UniqueParams(params)) => params,
            Err(error) => return refuse(format!("`params` cannot be read: {error}")),
        },
    };
    match params.get("_meta") {
        None | Some(Value::Object(_) | Value::Null) => Ok(params),
        Some(meta) => refuse(format!("`_meta` has to be an object, and is `{meta}`")),
    }
}

/// Parameters, each of which is there once: with two of one name it would be open which one the
/// headers repeat.
struct UniqueParams(Map<String, Value>);

impl<'de> Deserialize<'de> for UniqueParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = UniqueParams;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<UniqueParams, A::Error> {
                let mut params = Map::new();
                while let Some((name, value)) = all.next_entry::<String, Value>()? {
                    match params.entry(name) {
                        Entry::Vacant(place) => place.insert(value),
                        Entry::Occupied(there) => {
                            let twice = format!("`{}` is there twice", there.key());
                            return Err(serde::de::Error::custom(twice));
                        }
                    };
                }
                Ok(UniqueParams(params))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// Returns the id of a request in the form that is compared and written.
pub(in crate::mcp) fn id_of(id: &jsonrpc::RequestId<'_>) -> Option<RequestId> {
    serde_json::from_str(id.as_str()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_handshake_takes_little_memory() {
        let read = |capabilities: Value, method: &str| {
            let params = json!({
                "protocolVersion": "2025-06-18", "capabilities": capabilities,
                "clientInfo": { "name": "test", "version": "1" },
            });
            let original = Original::new(Vec::new());
            let params = params.to_string();
            let room = TakenRoom::default();
            ClientRequest::read(RequestId::Number(1), method, Some(&params), original, &room)
        };
        let extensions: Map<_, _> = (0..32)
            .map(|number| (format!("x/{number}"), json!({ "types": ["a", "b"] })))
            .collect();
        let usual = json!({ "roots": { "listChanged": true }, "extensions": extensions });
        assert!(read(usual, "initialize").is_ok());
        for (capabilities, why) in [
            (
                json!({ "experimental": { "x": vec![json!({ "": 0 }); 5000] } }),
                "so many values",
            ),
            (
                json!({ "experimental": { "x": "x".repeat(70_000) } }),
                "bytes, where 65536",
            ),
        ] {
            let refused = read(capabilities.clone(), "initialize").err().unwrap();
            assert!(refused.message.contains(why), "{refused:?}");
            assert!(read(capabilities, "tools/list").is_ok());
        }
    }
}
