//! Headers that repeat parts of a request's body, so that proxies can tell requests apart without
//! reading them (SEP-2243).

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hyper::HeaderMap;
use rmcp::model::{JsonObject, ProtocolVersion};
use serde_json::{Map, Value};

use super::header::only;

pub(super) const METHOD: &str = "mcp-method";
pub(super) const NAME: &str = "mcp-name";
pub(super) const VERSION: &str = "mcp-protocol-version";

/// Checks whether the version of a request has such headers.
pub(super) fn are_wanted(headers: &HeaderMap) -> bool {
    let version = only(headers, VERSION).ok().flatten();
    version.is_some_and(|version| version >= ProtocolVersion::STANDARD_HEADERS.as_str())
}

/// Checks whether the headers of a request match its body, where they have to. `schema` gives the
/// input schema of a tool that has arguments in headers.
pub(super) fn are_in_order(
    method: &str,
    params: &Map<String, Value>,
    headers: &HeaderMap,
    schema: impl Fn(&str) -> Option<Arc<JsonObject>>,
) -> bool {
    if !are_wanted(headers) {
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
        match (said, argument) {
            (Ok(None), argument) => !argument.is_some_and(is_repeatable),
            (Ok(Some(said)), Some(argument)) => {
                decoded(said).is_some_and(|said| is_the_same(&said, argument))
            }
            _ => false,
        }
    })
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

/// Returns the headers in which a schema wants arguments, with the arguments themselves.
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

/// Decodes a header's value that was encoded to fit a header.
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
