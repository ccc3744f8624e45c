//! Marking of requests that bypass rmcp's types.
//!
//! rmcp parses a known method into a type that drops unknown members. So methods whose content is
//! the plugins' get a name that rmcp does not know, and reach the handler unchanged. The check that
//! rmcp would make, on headers that repeat parts of the body, is made before (see `repeated`); an
//! invalid message stays as it is, and rmcp reports its fault.

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::HeaderValue;

use super::message::{Kind, Message};
use super::repeated::{self, METHOD};
use crate::mcp::listen;

/// Prefix of the names of methods that bypass rmcp's types.
pub(super) const MARK: &str = "raw:";

/// Methods that bypass rmcp's types.
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

/// Checks whether a request bypasses rmcp's types. A method with the mark already gets another one,
/// and so stays unknown. In the era without a handshake rmcp answers methods that no longer or do
/// not yet exist in its own way.
pub(super) fn is_concerned(method: &str, headers: &HeaderMap) -> bool {
    RAW.contains(&method)
        || method.starts_with(MARK)
        || (repeated::are_wanted(headers) && method != "initialize")
}

/// Marks a request that is to bypass rmcp's types, in its body and its headers.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::super::message;
    use super::super::repeated::{NAME, VERSION};
    use super::*;
    use crate::mcp::request_params;

    type Lines<'a> = &'a [(&'static str, &'a str)];

    fn marked(body: &Value, lines: Lines<'_>) -> (String, Option<String>) {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        let body = Bytes::from(body.to_string());
        let message = message::read(&body).unwrap();
        let schema = |name: &str| {
            let schema = json!({"properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "deep": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            }});
            (name == "annotated").then(|| Arc::new(schema.as_object().unwrap().clone()))
        };
        let params = request_params::read(body.get(message.params.clone()).unwrap()).unwrap();
        let ordered = |method| repeated::are_in_order(method, &params, &headers, schema);
        let body = match &message.kind {
            Kind::Request { method, .. } if is_concerned(method, &headers) && ordered(method) => {
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
                &[
                    NEW,
                    CALL,
                    (NAME, "annotated"),
                    ("mcp-param-region", "eu"),
                    ("mcp-param-n", "7.0"),
                ],
                true,
            ),
            (
                &annotated,
                &[
                    NEW,
                    CALL,
                    (NAME, "annotated"),
                    ("mcp-param-region", "eu"),
                    ("mcp-param-n", "seven"),
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
        assert!(message::read(text.as_bytes()).is_err());
        let text =
            r#" { "x" : {"method":"a"}, "method" :"tools\/call" ,"id":7,"n":1.10,"jsonrpc":"2.0"}"#;
        let body = Bytes::from(text);
        let marked = mark(&message::read(&body).unwrap(), &body, &mut HeaderMap::new());
        assert_eq!(marked, text.replace(r#""tools\/"#, r#""raw:tools\/"#));
    }
}
