//! Headers that repeat parts of a request's body, so that proxies can tell requests apart without
//! reading them (SEP-2243).

use dormouse_jsonrpc::member;
use dormouse_protocol::{HEADER_KEYWORD, HeaderArgument, decode_header_value};
use hyper::HeaderMap;
use rmcp::model::ProtocolVersion;
use serde_json::{Map, Value};

use super::header::only;
use crate::mcp::messages::client_request::Original;
use crate::roster::Snapshot;

pub(super) const METHOD: &str = "mcp-method";
pub(super) const NAME: &str = "mcp-name";
pub(super) const VERSION: &str = "mcp-protocol-version";

/// Checks whether the version of a request has such headers.
pub(super) fn are_wanted(headers: &HeaderMap) -> bool {
    let version = only(headers, VERSION).ok().flatten();
    version.is_some_and(|version| version >= ProtocolVersion::STANDARD_HEADERS.as_str())
}

/// Returns the arguments that a tool wants in headers; none of one that wants them wrongly.
pub(super) fn header_arguments(snapshot: &Snapshot, name: &str) -> Vec<HeaderArgument> {
    let shown = snapshot.find(name).and_then(|shown| shown.declared());
    // Hardly any tool has such arguments, and a schema is long.
    let tool = shown.map(|declared| declared.tool.get());
    let tool = tool.filter(|tool| tool.contains(HEADER_KEYWORD));
    let schema = tool.and_then(|tool| member(tool, "inputSchema"));
    let schema = schema.and_then(|schema| serde_json::from_str(schema).ok());
    let wanted = schema.map(|schema| HeaderArgument::of_schema(&schema));
    wanted.and_then(Result::ok).unwrap_or_default()
}

/// Checks whether the header of a notification or request has its method, where it has to.
///
/// # Errors
/// It is missing, or says something else; with the reason.
pub(super) fn check_method(method: &str, headers: &HeaderMap) -> Result<(), String> {
    match are_wanted(headers) {
        true => is_said(headers, METHOD, |said| said == method, method),
        false => Ok(()),
    }
}

/// Checks whether the headers of a request match its body, where they have to. `wanted` gives the
/// arguments that a tool wants in headers.
///
/// # Errors
/// A header is missing, or says something else; with the reason.
pub(super) fn check(
    method: &str,
    params: &Map<String, Value>,
    original: &Original,
    headers: &HeaderMap,
    wanted: impl Fn(&str) -> Vec<HeaderArgument>,
) -> Result<(), String> {
    if !are_wanted(headers) {
        return Ok(());
    }
    check_method(method, headers)?;
    let name = match method {
        "tools/call" | "prompts/get" => params.get("name"),
        "resources/read" => params.get("uri"),
        _ => None,
    };
    // Without a name there is nothing to repeat; the handler says what is missing.
    let Some(name) = name.and_then(Value::as_str) else {
        return Ok(());
    };
    let is_name = |said: &str| decode_header_value(said).as_deref() == Some(name);
    is_said(headers, NAME, is_name, name)?;
    if method != "tools/call" {
        return Ok(());
    }
    let arguments = params.get("arguments");
    let wanted = wanted(name);
    // Its text goes on to the server, and a value has one of two members only.
    let text = (!wanted.is_empty()).then(|| original.object("arguments"));
    let text = text.flatten();
    wanted.iter().try_for_each(|wanted| {
        let header = &wanted.header;
        if text
            .as_deref()
            .is_some_and(|text| wanted.is_twice(text.get()))
        {
            return Err(format!(
                "the header `{header}` has to repeat an argument of the tool, which is there twice"
            ));
        }
        match (only(headers, header), wanted.value(arguments)) {
            (Ok(None), argument) if !argument.is_some_and(is_repeatable) => Ok(()),
            (Ok(Some(said)), Some(argument))
                if decode_header_value(said).is_some_and(|said| is_the_same(&said, argument)) =>
            {
                Ok(())
            }
            _ => Err(format!(
                "the header `{header}` has to repeat an argument of the tool, and does not"
            )),
        }
    })
}

/// Checks whether a header is there and says what it has to.
fn is_said(
    headers: &HeaderMap,
    header: &str,
    is_right: impl Fn(&str) -> bool,
    expected: &str,
) -> Result<(), String> {
    match only(headers, header) {
        Ok(Some(said)) if is_right(said) => Ok(()),
        Ok(Some(said)) => Err(format!(
            "the header `{header}` is `{said}`, where the body has `{expected}`"
        )),
        Ok(None) => Err(format!("the header `{header}` is missing")),
        Err(()) => Err(format!(
            "the header `{header}` is there twice, or is no text"
        )),
    }
}

fn is_repeatable(argument: &Value) -> bool {
    matches!(
        argument,
        Value::String(_) | Value::Bool(_) | Value::Number(_)
    )
}

/// Checks whether a header has the value of an argument: `42.0` is `42`, and `1e3` is `1000`.
fn is_the_same(said: &str, argument: &Value) -> bool {
    match argument {
        Value::String(text) => said == text,
        Value::Bool(truth) => said == truth.to_string(),
        Value::Number(number) => {
            // Two that differ only where a float has no digits left are two.
            let float = |text: &str| text.parse::<f64>().ok().filter(|float| float.is_finite());
            let whole = |text: &str| text.parse::<i128>().ok();
            let number = number.to_string();
            match (whole(said), whole(&number)) {
                (Some(said), Some(number)) => said == number,
                _ => float(said).is_some() && float(said) == float(&number),
            }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    type Lines<'a> = &'a [(&'static str, &'a str)];

    fn checked(body: &Value, lines: Lines<'_>) -> Result<(), String> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        let wanted = |name: &str| {
            let schema = json!({"properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "deep": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            }});
            let wanted = HeaderArgument::of_schema(&schema).unwrap();
            match name {
                "annotated" => wanted,
                _ => Vec::new(),
            }
        };
        let params = body["params"].as_object().cloned().unwrap_or_default();
        let original = Original::new(body.to_string());
        let method = body["method"].as_str().unwrap();
        check(method, &params, &original, &headers, wanted)
    }

    fn call(name: &str, arguments: Value) -> Value {
        json!({"method": "tools/call", "params": {"arguments": arguments, "name": name}})
    }

    #[test]
    fn headers_repeat_what_they_have_to() {
        const NEW: (&str, &str) = (VERSION, "2026-07-28");
        const CALL: (&str, &str) = (METHOD, "tools/call");
        let plain = call("t", json!({}));
        let cased = call("Größe ", json!({}));
        let annotated = call("annotated", json!({"region": "eu", "deep": {"n": 7}}));
        let half = call("annotated", json!({"deep": {}}));
        let list = json!({"method": "tools/list"});
        let read = json!({"method": "resources/read",
                          "params": {"uri": "a://b", "name": "c"}});
        let nameless = json!({"method": "tools/call"});
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
            let checked = checked(body, lines);
            assert_eq!(checked.is_ok(), *expected, "{body} {lines:?}: {checked:?}");
        }
    }
}
