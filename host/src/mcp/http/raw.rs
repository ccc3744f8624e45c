//! Reads the outside of a message, and marks the requests that go around rmcp's
//! types.
//!
//! rmcp parses a known method into a type that drops what it does not know. So
//! the methods whose content is the plugins' are given a name that it does not
//! know, and arrive at the handler as they are. What rmcp would check of them,
//! the headers that repeat parts of the body, is checked here first; a message
//! that is not in order stays as it is, and rmcp says what is wrong with it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::HeaderValue;
use rmcp::model::{ErrorData, JsonObject, JsonRpcError, ProtocolVersion, RequestId};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::header::only;
use crate::mcp::listen;

/// Comes before the names of methods that go around rmcp's types.
pub(super) const MARK: &str = "raw:";

/// The methods that do.
pub(super) const RAW: [&str; 9] = [
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
    listen::METHOD,
];

const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
pub(super) const VERSION: &str = "mcp-protocol-version";

/// What a message is, as far as one has to know to pass it on.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) kind: Kind,
    /// Where in the text the method's name begins, quotation mark included.
    method: usize,
    /// Where in the text the parameters are.
    pub(super) params: Range<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request {
        id: RequestId,
        method: String,
    },
    /// That the answer to a request is not wanted any more.
    Cancelled(RequestId),
    Notification,
    Response,
}

#[derive(Deserialize)]
struct Outside<'a> {
    #[serde(borrow)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// A value that is there, also where it is null.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(value).map(Some)
}

/// Parameters, each of which is there once.
struct Params(Map<String, Value>);

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Params;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Params, A::Error> {
                let mut params = Map::new();
                while let Some((name, value)) = all.next_entry::<String, Value>()? {
                    if params.insert(name, value).is_some() {
                        return Err(serde::de::Error::custom("a member is there twice"));
                    }
                }
                Ok(Params(params))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// Reads a message.
///
/// # Errors
/// It is none; what is answered to it.
pub(super) fn read(body: &[u8]) -> Result<Message, Box<JsonRpcError>> {
    let refuse = |id, error| Box::new(JsonRpcError::new(id, error));
    let text = std::str::from_utf8(body).map_err(|error| {
        let message = format!("the body is not UTF-8: {error}");
        refuse(None, ErrorData::parse_error(message, None))
    })?;
    let invalid = |id: Option<RequestId>, what: &str| {
        let error = ErrorData::invalid_request(what.to_owned(), None);
        Err(refuse(id, error))
    };
    let outside: Outside<'_> = match serde_json::from_str(text) {
        _ if text.trim_start().starts_with('[') && is_json(text) => {
            let why = "batches are not part of this protocol: send one message at a time";
            return invalid(None, why);
        }
        Ok(outside) => outside,
        Err(error) if is_json(text) => {
            let why = format!("this is not a JSON-RPC 2.0 message: {error}");
            return invalid(None, &why);
        }
        Err(error) => {
            let message = format!("the body is not JSON: {error}");
            return Err(refuse(None, ErrorData::parse_error(message, None)));
        }
    };
    let id = outside
        .id
        .map(|id| serde_json::from_str::<RequestId>(id.get()));
    let id = match id.transpose() {
        Ok(id) => id,
        // An error that answers nothing has no id.
        Err(_) if outside.method.is_none() => None,
        // rmcp would take it for a notification, and nobody would be answered.
        Err(_) => return invalid(None, "the `id` of a request is a string or an integer"),
    };
    if outside
        .jsonrpc
        .is_none_or(|version| version.get() != "\"2.0\"")
    {
        return invalid(id, "`jsonrpc` has to be \"2.0\"");
    }
    let Some(name) = outside.method else {
        return Ok(Message {
            kind: Kind::Response,
            method: 0,
            params: 0..0,
        });
    };
    let Ok(method) = serde_json::from_str::<String>(name.get()) else {
        return invalid(id, "`method` has to be a string");
    };
    if outside
        .params
        .is_some_and(|params| !params.get().starts_with(['{', 'n']))
    {
        return invalid(id, "`params` have to be an object");
    }
    let kind = match id {
        Some(id) => Kind::Request { id, method },
        None if method == "notifications/cancelled" => cancelled(outside.params),
        None => Kind::Notification,
    };
    Ok(Message {
        kind,
        method: place(text, name).start,
        params: outside.params.map_or(0..0, |params| place(text, params)),
    })
}

/// A notification that a request is cancelled, if it says which.
fn cancelled(params: Option<&RawValue>) -> Kind {
    #[derive(Deserialize)]
    struct Cancelled {
        #[serde(rename = "requestId")]
        id: RequestId,
    }
    let cancelled = params.map(|params| serde_json::from_str::<Cancelled>(params.get()));
    match cancelled {
        Some(Ok(cancelled)) => Kind::Cancelled(cancelled.id),
        _ => Kind::Notification,
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Where in a text a part of it is.
fn place(text: &str, part: &RawValue) -> Range<usize> {
    let start = (part.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + part.get().len()
}

/// Whether a method is one that goes around rmcp's types. What bears the mark already
/// gets another one, and so is as unknown as it was.
pub(super) fn is_concerned(method: &str) -> bool {
    RAW.contains(&method) || method.starts_with(MARK)
}

/// Marks a request that is to go around rmcp's types, in its body and its headers.
pub(super) fn mark(message: &Message, body: &Bytes, headers: &mut HeaderMap) -> Bytes {
    let Kind::Request { method, .. } = &message.kind else {
        return body.clone();
    };
    if headers
        .get(METHOD)
        .is_some_and(|said| said == method.as_str())
        && let Ok(marked) = HeaderValue::from_str(&format!("{MARK}{method}"))
    {
        headers.insert(METHOD, marked);
    }
    // Behind the quotation mark.
    let (before, after) = body.split_at((message.method + 1).min(body.len()));
    [before, MARK.as_bytes(), after].concat().into()
}

/// The parameters of a request. `None` where one of them is there twice, say: which
/// of the two the headers repeat is not for us to choose.
pub(super) fn params(text: &[u8]) -> Option<Map<String, Value>> {
    match text {
        b"" | b"null" => Some(Map::new()),
        text => serde_json::from_slice(text).ok().map(|Params(all)| all),
    }
}

/// Whether the headers of a request say what its body says, where they have to.
/// `schema` gives the input schema of a tool that has arguments in headers.
pub(super) fn in_order(
    method: &str,
    params: &Map<String, Value>,
    headers: &HeaderMap,
    schema: impl Fn(&str) -> Option<Arc<JsonObject>>,
) -> bool {
    let modern = headers
        .get(VERSION)
        .and_then(|version| version.to_str().ok())
        .is_some_and(|version| version >= ProtocolVersion::STANDARD_HEADERS.as_str());
    if !modern {
        return true;
    }
    if !matches!(only(headers, METHOD), Ok(Some(said)) if said == method) {
        return false;
    }
    let named = matches!(method, "tools/call" | "prompts/get" | "resources/read");
    if !named {
        return true;
    }
    let name = if method == "resources/read" {
        params.get("uri")
    } else {
        params.get("name")
    };
    // Without a name there is nothing to repeat; the handler says what is missing.
    let Some(name) = name.and_then(Value::as_str) else {
        return true;
    };
    if !matches!(only(headers, NAME), Ok(Some(said)) if decoded(said).as_deref() == Some(name)) {
        return false;
    }
    let Some(schema) = (method == "tools/call").then(|| schema(name)).flatten() else {
        return true;
    };
    let arguments = params.get("arguments");
    let mut annotated = Vec::new();
    annotations(schema.get("properties"), arguments, &mut annotated);
    annotated.into_iter().all(|(header, argument)| {
        let said = only(
            headers,
            format!("mcp-param-{}", header.to_ascii_lowercase()),
        );
        let argument = match argument {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Bool(truth)) => Some(truth.to_string()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        match (said, argument) {
            (Ok(None), None) => true,
            (Ok(Some(said)), Some(argument)) => decoded(said).is_some_and(|said| said == argument),
            _ => false,
        }
    })
}

/// The headers that a schema wants arguments in, with the arguments themselves.
fn annotations<'a>(
    properties: Option<&'a Value>,
    arguments: Option<&'a Value>,
    found: &mut Vec<(&'a str, Option<&'a Value>)>,
) {
    let Some(Value::Object(properties)) = properties else {
        return;
    };
    for (name, schema) in properties {
        let argument = arguments.and_then(|arguments| arguments.get(name));
        if let Some(Value::String(header)) = schema.get("x-mcp-header")
            && !header.is_empty()
        {
            found.push((header, argument));
        }
        annotations(schema.get("properties"), argument, found);
    }
}

/// A header's value as it was before it was made fit for a header.
fn decoded(value: &str) -> Option<Cow<'_, str>> {
    match value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    {
        Some(encoded) => {
            let bytes = BASE64_STANDARD.decode(encoded).ok()?;
            String::from_utf8(bytes).ok().map(Cow::Owned)
        }
        None => Some(Cow::Borrowed(value)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    type Lines<'a> = &'a [(&'static str, &'a str)];

    fn marked(body: &Value, lines: Lines<'_>) -> (String, Option<String>) {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        let body = Bytes::from(body.to_string());
        let message = read(&body).unwrap();
        let schema = |name: &str| {
            let schema = json!({"properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "deep": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            }});
            (name == "annotated").then(|| Arc::new(schema.as_object().unwrap().clone()))
        };
        let params = params(body.get(message.params.clone()).unwrap());
        let ordered = |method| {
            let params = params.as_ref();
            params.is_some_and(|params| in_order(method, params, &headers, schema))
        };
        let body = match &message.kind {
            Kind::Request { method, .. } if is_concerned(method) && ordered(method) => {
                mark(&message, &body, &mut headers)
            }
            _ => body,
        };
        let body: Value = serde_json::from_slice(&body).unwrap();
        let method = headers
            .get(METHOD)
            .map(|method| method.to_str().unwrap().into());
        (body["method"].as_str().unwrap().into(), method)
    }

    fn call(name: &str, arguments: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
               "params": {"arguments": arguments, "name": name}})
    }

    #[test]
    fn what_is_in_order_is_marked() {
        const NEW: (&str, &str) = (VERSION, "2026-07-28");
        const CALL: (&str, &str) = (METHOD, "tools/call");
        let plain = call("t", json!({}));
        let cased = call("Größe ", json!({}));
        let annotated = call("annotated", json!({"region": "eu", "deep": {"n": 7}}));
        let half = call("annotated", json!({"deep": {}}));
        let list = json!({"jsonrpc": "2.0", "id": "x", "method": "tools/list"});
        let read = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read",
                          "params": {"uri": "a://b", "name": "c"}});
        let nameless = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call"});
        let table: &[(&Value, Lines<'_>, bool)] = &[
            // Before 2026-07-28 headers repeat nothing.
            (&plain, &[], true),
            (&plain, &[(VERSION, "2025-11-25"), (METHOD, "x")], true),
            (&plain, &[NEW, CALL, (NAME, "t")], true),
            (&plain, &[NEW, CALL, (NAME, "=?base64?dA==?=")], true),
            (
                &cased,
                &[NEW, CALL, (NAME, "=?base64?R3LDtsOfZSA=?=")],
                true,
            ),
            (&plain, &[NEW, CALL], false),
            (&plain, &[NEW, (NAME, "t")], false),
            (&plain, &[NEW, CALL, (NAME, "u")], false),
            (&plain, &[NEW, CALL, (NAME, "=?base64?dA=?=")], false),
            (&plain, &[NEW, (METHOD, "tools/list"), (NAME, "t")], false),
            (&plain, &[NEW, CALL, CALL, (NAME, "t")], false),
            (&plain, &[NEW, CALL, (NAME, "t"), (NAME, "t")], false),
            (&nameless, &[NEW, CALL], true),
            (&list, &[NEW, (METHOD, "tools/list")], true),
            (&list, &[NEW], false),
            (
                &read,
                &[NEW, (METHOD, "resources/read"), (NAME, "a://b")],
                true,
            ),
            (
                &read,
                &[NEW, (METHOD, "resources/read"), (NAME, "c")],
                false,
            ),
            (
                &annotated,
                &[
                    NEW,
                    CALL,
                    (NAME, "annotated"),
                    ("mcp-param-region", "eu"),
                    ("mcp-param-n", "7"),
                ],
                true,
            ),
            (
                &annotated,
                &[
                    NEW,
                    CALL,
                    (NAME, "annotated"),
                    ("mcp-param-region", "us"),
                    ("mcp-param-n", "7"),
                ],
                false,
            ),
            (
                &annotated,
                &[NEW, CALL, (NAME, "annotated"), ("mcp-param-n", "7")],
                false,
            ),
            (&half, &[NEW, CALL, (NAME, "annotated")], true),
            (
                &half,
                &[NEW, CALL, (NAME, "annotated"), ("mcp-param-n", "7")],
                false,
            ),
        ];
        for (body, lines, expected) in table {
            let (method, header) = marked(body, lines);
            assert_eq!(method.starts_with(MARK), *expected, "{body} {lines:?}");
            if *expected && lines.contains(&NEW) {
                assert_eq!(header, Some(method), "{body} {lines:?}");
            }
        }
    }

    #[test]
    fn only_what_concerns_the_plugins_is_marked() {
        for method in ["ping", "initialize", "logging/setLevel", "tools/calls", "x"] {
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": method});
            assert_eq!(marked(&body, &[]).0, method);
            let body = json!({"jsonrpc": "2.0", "method": "tools/call"});
            assert_eq!(marked(&body, &[]).0, "tools/call");
        }
        // Nobody gets past the checks by marking a method himself.
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "raw:tools/call"});
        assert_eq!(marked(&body, &[]).0, "raw:raw:tools/call");
    }

    #[test]
    fn nothing_else_changes() {
        let text =
            r#" { "x" : {"method":"tools/call"}, "method" :"tools\/call" ,"id":1.0e0,"n":1.10}"#;
        assert!(read(text.as_bytes()).is_err());
        let text =
            r#" { "x" : {"method":"a"}, "method" :"tools\/call" ,"id":7,"n":1.10,"jsonrpc":"2.0"}"#;
        let body = Bytes::from(text);
        let marked = mark(&read(&body).unwrap(), &body, &mut HeaderMap::new());
        assert_eq!(marked, text.replace(r#""tools\/"#, r#""raw:tools\/"#));
    }

    #[test]
    fn what_is_no_message_is_refused_with_its_id() {
        for (body, id, code) in [
            ("", None, -32700),
            ("{", None, -32700),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x"} x"#, None, -32700),
            ("[]", None, -32600),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
                None,
                -32600,
            ),
            (r#"["2.0",1,"ping",{}]"#, None, -32600),
            ("[", None, -32700),
            ("7", None, -32600),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                None,
                -32600,
            ),
            (r#"{"id":1,"method":"ping"}"#, Some(1), -32600),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                Some(1),
                -32600,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":1}"#, Some(1), -32600),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
                None,
                -32600,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                None,
                -32600,
            ),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, None, -32600),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#,
                Some(1),
                -32600,
            ),
        ] {
            let refused = read(body.as_bytes()).unwrap_err();
            assert_eq!(
                (refused.id, refused.error.code.0),
                (id.map(RequestId::Number), code),
                "{body}"
            );
        }
        assert_eq!(read(b"\"\xff\"").unwrap_err().error.code.0, -32700);
        let response = read(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap();
        assert_eq!(response.kind, Kind::Response);
        let error = br#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#;
        assert_eq!(read(error).unwrap().kind, Kind::Response);
    }
}
