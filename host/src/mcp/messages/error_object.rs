//! Errors that answer requests.

use std::borrow::Cow;

use dormouse_jsonrpc::{MessageLimits, check_structure};
use rmcp::ErrorData;
use rmcp::model::{ClientCapabilities, ErrorCode, ProtocolVersion, RequestId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::outgoing_message::on_one_line;

/// Error that answers a request, as JSON-RPC has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::mcp) struct ErrorObject {
    pub(in crate::mcp) code: ErrorCode,
    pub(in crate::mcp) message: Cow<'static, str>,
    /// The rest of it, which passes as the text that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<Box<RawValue>>,
    /// Whether a server has answered with it: its code says nothing of the client's connection.
    #[serde(skip)]
    pub(in crate::mcp) is_of_server: bool,
}

/// Longest message of an error that is made here, in bytes of JSON: it may repeat what a client has
/// written.
pub(in crate::mcp) const MAX_MESSAGE_BYTES: usize = 2048;

/// Codes of errors that are about a connection: a message that is none, a session or a wait that is
/// over, and headers and versions that do not fit. What a client lacks is about its request.
const OF_CONNECTIONS: [i64; 4] = [dormouse_jsonrpc::PARSE_ERROR, -32001, -32020, -32022];

/// Longest version of a client that is repeated, in bytes.
const MAX_VERSION_BYTES: usize = 64;

impl ErrorObject {
    pub(in crate::mcp) fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        let message = message.into();
        let mut bytes = "…".len();
        let mut chars = message.char_indices();
        let beyond = chars.find(|(_, letter)| {
            bytes += escaped_bytes(*letter);
            bytes > MAX_MESSAGE_BYTES
        });
        let short = beyond.map(|(end, _)| format!("{}…", message.get(..end).unwrap_or_default()));
        Self {
            code,
            message: short.map_or(message, Cow::Owned),
            data: None,
            is_of_server: false,
        }
    }

    /// Makes the error of a server, whose words are not cut. Where its code would be about the client's
    /// connection to this host, it is told beside its data.
    pub(in crate::mcp) fn of_server(code: i64, message: String, data: Option<String>) -> Self {
        let is_foreign = OF_CONNECTIONS.contains(&code);
        let data = match data {
            data if !is_foreign => data,
            data => {
                let alone = format!(r#"{{"code":{code}}}"#);
                // Within it, it must not become too deep for a client.
                let depth = MessageLimits::default().depth - 2;
                let both = data.map(|data| format!(r#"{{"code":{code},"data":{data}}}"#));
                let both = both.filter(|both| check_structure(both, depth).is_ok());
                Some(both.unwrap_or(alone))
            }
        };
        let code = i32::try_from(code).ok().filter(|_| !is_foreign);
        let error = Self {
            code: code.map_or(ErrorCode::INTERNAL_ERROR, ErrorCode),
            message: message.into(),
            data: None,
            is_of_server: true,
        };
        match data {
            Some(data) => error.with_data(data),
            None => error,
        }
    }

    pub(in crate::mcp) fn parse_error(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::PARSE_ERROR, message)
    }

    pub(in crate::mcp) fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INVALID_REQUEST, message)
    }

    pub(in crate::mcp) fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS, message)
    }

    pub(in crate::mcp) fn internal_error(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INTERNAL_ERROR, message)
    }

    pub(in crate::mcp) fn resource_not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::RESOURCE_NOT_FOUND, message)
    }

    /// Makes the error of a request of a version that is not known.
    pub(in crate::mcp) fn unsupported_protocol_version(requested: ProtocolVersion) -> Self {
        let known = ProtocolVersion::KNOWN_VERSIONS;
        let text = requested.as_str();
        let end = text.floor_char_boundary(MAX_VERSION_BYTES);
        let short = serde_json::from_value(text.get(..end).unwrap_or_default().into());
        ErrorData::unsupported_protocol_version(short.unwrap_or(requested), known).into()
    }

    /// Makes the error of a request whose client lacks what it needs.
    pub(in crate::mcp) fn missing_required_client_capability(lacked: ClientCapabilities) -> Self {
        ErrorData::missing_required_client_capability(lacked).into()
    }

    /// Adds data, which are a text of JSON.
    pub(in crate::mcp) fn with_data(mut self, data: String) -> Self {
        self.data = RawValue::from_string(on_one_line(data)).ok();
        self
    }

    /// Adds data.
    pub(in crate::mcp) fn with_value(self, data: &Value) -> Self {
        self.with_data(data.to_string())
    }

    /// Returns the message with which a request is answered; without an id where that could not be
    /// read: MCP has none that is null.
    pub(in crate::mcp) fn to_message(&self, id: Option<&RequestId>) -> Vec<u8> {
        #[derive(Serialize)]
        struct ErrorMessage<'a> {
            jsonrpc: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<&'a RequestId>,
            error: &'a ErrorObject,
        }
        let message = ErrorMessage {
            jsonrpc: "2.0",
            id,
            error: self,
        };
        // Writing an error into memory cannot fail.
        serde_json::to_vec(&message).unwrap_or_default()
    }
}

/// Returns the bytes that a letter takes in a text of JSON.
fn escaped_bytes(letter: char) -> usize {
    match letter {
        '"' | '\\' => 2,
        letter if letter < ' ' => r"\u0000".len(),
        letter => letter.len_utf8(),
    }
}

impl From<ErrorData> for ErrorObject {
    fn from(error: ErrorData) -> Self {
        let data = error.data.as_ref().map(Value::to_string);
        let made = Self::new(error.code, error.message);
        match data {
            Some(data) => made.with_data(data),
            None => made,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn data_go_out_as_they_are() {
        let odd = "{\"a\":1.10,\n\"result\":\"x\",\"b\":\"\\\"result\\\":\\\"\\u00e9\"}";
        let error = ErrorObject::resource_not_found("no \"it\"").with_data(odd.to_owned());
        let written = String::from_utf8(error.to_message(Some(&RequestId::Number(7)))).unwrap();
        let expected = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{{\"code\":-32002,\
             \"message\":\"no \\\"it\\\"\",\"data\":{}}}}}",
            odd.replace('\n', " ")
        );
        assert_eq!(written, expected);
        let plain = ErrorObject::internal_error("x").to_message(None);
        let plain: Value = serde_json::from_slice(&plain).unwrap();
        let expected = json!({ "jsonrpc": "2.0", "error": { "code": -32603, "message": "x" } });
        assert_eq!(plain, expected);
    }

    #[test]
    fn no_error_of_a_server_is_about_its_clients_connection() {
        let made = |code: i64, data: Option<&str>| {
            let error = ErrorObject::of_server(code, "no".to_owned(), data.map(str::to_owned));
            assert!(error.is_of_server);
            serde_json::to_value(&error).unwrap()
        };
        let data = r#"{"supported":["2024-11-05"]}"#;
        for code in [-32700, -32001, -32020, -32022] {
            let expected = json!({ "code": -32603, "message": "no", "data": { "code": code } });
            assert_eq!(made(code, None), expected);
            let told = made(code, Some(data));
            assert_eq!(told["code"], -32603);
            let expected = json!({ "code": code, "data": { "supported": ["2024-11-05"] } });
            assert_eq!(told["data"], expected);
        }
        // What it has no room for is left out.
        let deep = format!("{}{}", "[".repeat(125), "]".repeat(125));
        assert_eq!(made(-32001, Some(&deep))["data"], json!({ "code": -32001 }));
        // What servers say of a request stays.
        for code in [
            -32600, -32601, -32602, -32603, -32000, -32002, -32021, -32042, 7,
        ] {
            let expected = json!({ "code": code, "message": "no", "data": [1] });
            assert_eq!(made(code, Some("[1]")), expected);
        }
        assert_eq!(made(i64::MAX, None)["code"], -32603);
    }

    #[test]
    fn a_message_is_short_however_it_is_escaped() {
        for letter in ["x", "\"", "\u{1}", "é", "\u{1f600}"] {
            let error = ErrorObject::invalid_params(letter.repeat(4096));
            let text = serde_json::to_string(&error.message).unwrap();
            assert!(text.len() <= MAX_MESSAGE_BYTES + 2, "{letter:?}");
            assert!(text.len() > MAX_MESSAGE_BYTES - 8 && text.ends_with("…\""));
        }
        let fits = "x".repeat(MAX_MESSAGE_BYTES - 8);
        assert_eq!(ErrorObject::invalid_params(fits.clone()).message, fits);
    }
}
