//! Era of a message, by its headers and its metadata.

use dormouse_protocol::HeaderArgument;
use hyper::HeaderMap;
use rmcp::model::{ErrorCode, ProtocolVersion};

use super::header::only;
use super::repeated_headers::{self, VERSION};
use crate::mcp::lifecycle::{Agreed, DISCOVER, Terms};
use crate::mcp::messages::client_request::ClientRequest;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::request_context::is_stateless;

/// Era of a request.
pub(super) enum RequestEra {
    /// It belongs to a session, or begins one.
    Session,
    /// It is complete by itself.
    Stateless(Box<Terms>),
}

/// Checks whether a message that is no request, or the request for a stream, is of the era with
/// sessions: a client that does not say so is.
///
/// # Errors
/// The header names a version that is not known.
pub(super) fn has_session(headers: &HeaderMap) -> Result<bool, ErrorObject> {
    match only(headers, VERSION) {
        Ok(None) => Ok(true),
        Ok(Some(version)) if is_known(version) => Ok(!is_stateless(version)),
        Ok(Some(version)) => Err(unknown(version)),
        Err(()) => Err(no_text()),
    }
}

/// Returns the era of a request. `arguments_in_headers` gives those that a tool wants there.
///
/// # Errors
/// Its headers and its body contradict each other, or its metadata lack what they have to have.
pub(super) fn of_request(
    request: &ClientRequest,
    headers: &HeaderMap,
    arguments_in_headers: impl Fn(&str) -> Vec<HeaderArgument>,
) -> Result<RequestEra, ErrorObject> {
    let header = only(headers, VERSION).map_err(|()| no_text())?;
    let wanted = request.params.get("protocolVersion");
    let wanted = wanted.and_then(|wanted| wanted.as_str());
    // Versions without a handshake have no such method.
    let is_handshake =
        request.method == "initialize" && (wanted.is_some() || !header.is_some_and(is_stateless));
    if is_handshake {
        if let (Some(header), Some(wanted)) = (header, wanted)
            && header != wanted
        {
            let why =
                format!("the header `{VERSION}` is `{header}`, where the handshake has `{wanted}`");
            return Err(ErrorObject::invalid_request(why));
        }
        // What goes by headers on the way has to know a handshake for what it is.
        if headers.contains_key(repeated_headers::METHOD) {
            check_repeated(request, headers, arguments_in_headers)?;
        }
        return Ok(RequestEra::Session);
    }
    let meta = request.meta.protocol_version();
    match (header, &meta) {
        (Some(header), None) if !is_known(header) => return Err(unknown(header)),
        (Some(header), Some(meta)) if header != meta.as_str() => {
            return Err(mismatch(format!(
                "the header `{VERSION}` is `{header}`, where the `_meta` of the request has `{meta}`"
            )));
        }
        (None, Some(meta)) => {
            return Err(mismatch(format!(
                "the header `{VERSION}` is missing, where the `_meta` of the request has `{meta}`"
            )));
        }
        _ => {}
    }
    check_repeated(request, headers, arguments_in_headers)?;
    let is_complete = request
        .meta
        .missing_required_keys(&ProtocolVersion::V_2026_07_28);
    let is_stateless =
        is_complete.is_empty() || request.method == DISCOVER || header.is_some_and(is_stateless);
    if !is_stateless {
        return Ok(RequestEra::Session);
    }
    let terms = Agreed::Stateless.terms(&request.method, &request.meta)?;
    Ok(RequestEra::Stateless(Box::new(terms)))
}

/// Checks the headers of a notification, where its version has such.
///
/// # Errors
/// They do not repeat what they have to.
pub(super) fn check_notification(method: &str, headers: &HeaderMap) -> Result<(), ErrorObject> {
    repeated_headers::check_method(method, headers).map_err(mismatch)
}

fn check_repeated(
    request: &ClientRequest,
    headers: &HeaderMap,
    arguments_in_headers: impl Fn(&str) -> Vec<HeaderArgument>,
) -> Result<(), ErrorObject> {
    repeated_headers::check(
        &request.method,
        &request.params,
        &request.original,
        headers,
        arguments_in_headers,
    )
    .map_err(mismatch)
}

fn is_known(version: &str) -> bool {
    let mut known = ProtocolVersion::KNOWN_VERSIONS.iter();
    known.any(|known| known.as_str() == version)
}

fn unknown(version: &str) -> ErrorObject {
    let known = ProtocolVersion::KNOWN_VERSIONS.iter();
    let known: Vec<&str> = known.map(ProtocolVersion::as_str).collect();
    let why = format!(
        "the header `{VERSION}` is `{version}`, and no version of MCP\nhint: known are {}",
        known.join(", ")
    );
    ErrorObject::invalid_request(why)
}

fn no_text() -> ErrorObject {
    mismatch(format!(
        "the header `{VERSION}` is there twice, or is no text"
    ))
}

fn mismatch(why: String) -> ErrorObject {
    ErrorObject::new(ErrorCode::HEADER_MISMATCH, why)
}

#[cfg(test)]
mod tests {
    use rmcp::model::RequestId;
    use serde_json::{Value, json};

    use super::*;
    use crate::mcp::messages::client_request::Original;
    use crate::mcp::messages::message_room::TakenRoom;

    const STATELESS: &str = "2026-07-28";

    /// Returns the metadata of a request of a version, with what a client can do.
    fn meta(version: &str) -> Value {
        json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        })
    }

    fn era(method: &str, params: Value, lines: &[(&'static str, &str)]) -> Result<bool, i32> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        let read = ClientRequest::read(
            RequestId::Number(1),
            method,
            Some(&params.to_string()),
            Original::default(),
            &TakenRoom::default(),
        );
        match of_request(&read.unwrap(), &headers, |_| Vec::new()) {
            Ok(era) => Ok(matches!(era, RequestEra::Stateless(_))),
            Err(error) => Err(error.code.0),
        }
    }

    #[test]
    fn a_request_is_of_the_era_that_it_says() {
        const MISMATCH: Result<bool, i32> = Err(-32020);
        const INVALID: Result<bool, i32> = Err(-32600);
        const METHOD: &str = repeated_headers::METHOD;
        let old = json!({ "protocolVersion": "2025-11-25" });
        let half = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": STATELESS } });
        let named = |version: &str| json!({ "_meta": meta(version) });
        for (method, params, lines, expected) in [
            ("ping", json!({}), &[][..], Ok(false)),
            ("ping", json!({}), &[(VERSION, "2025-06-18")], Ok(false)),
            ("ping", json!({}), &[(VERSION, "2025-06-19")], INVALID),
            (
                "ping",
                json!({}),
                &[(VERSION, STATELESS), (METHOD, "ping")],
                Err(-32602),
            ),
            ("ping", json!({}), &[(VERSION, STATELESS)], MISMATCH),
            (
                "ping",
                named(STATELESS),
                &[(VERSION, STATELESS), (METHOD, "ping")],
                Ok(true),
            ),
            (
                "ping",
                named(STATELESS),
                &[(VERSION, STATELESS), (METHOD, "pong")],
                MISMATCH,
            ),
            (
                "ping",
                named(STATELESS),
                &[(VERSION, "2025-11-25")],
                MISMATCH,
            ),
            ("ping", named(STATELESS), &[], MISMATCH),
            (
                "ping",
                named("2025-11-25"),
                &[(VERSION, "2025-11-25")],
                Ok(true),
            ),
            (
                "ping",
                named("2099-01-01"),
                &[(VERSION, "2099-01-01")],
                MISMATCH,
            ),
            (
                "ping",
                named("2099-01-01"),
                &[(VERSION, "2099-01-01"), (METHOD, "ping")],
                Err(-32022),
            ),
            (
                "ping",
                half.clone(),
                &[(VERSION, STATELESS), (METHOD, "ping")],
                Err(-32602),
            ),
            (DISCOVER, json!({}), &[], Err(-32602)),
            (
                DISCOVER,
                named(STATELESS),
                &[(VERSION, STATELESS), (METHOD, DISCOVER)],
                Ok(true),
            ),
            ("initialize", old.clone(), &[], Ok(false)),
            (
                "initialize",
                old.clone(),
                &[(VERSION, "2025-11-25")],
                Ok(false),
            ),
            (
                "initialize",
                old.clone(),
                &[(VERSION, "2025-06-18")],
                INVALID,
            ),
            (
                "initialize",
                old.clone(),
                &[(METHOD, "tools/list")],
                Ok(false),
            ),
            (
                "initialize",
                json!({ "protocolVersion": STATELESS }),
                &[(VERSION, STATELESS), (METHOD, "tools/list")],
                MISMATCH,
            ),
            ("initialize", json!({}), &[], Ok(false)),
            (
                "initialize",
                named(STATELESS),
                &[(VERSION, STATELESS), (METHOD, "initialize")],
                Ok(true),
            ),
        ] {
            assert_eq!(
                era(method, params.clone(), lines),
                expected,
                "{method} {params} {lines:?}"
            );
        }
    }

    #[test]
    fn other_messages_are_of_the_era_of_their_header() {
        for (version, expected) in [
            (None, Ok(true)),
            (Some("2025-03-26"), Ok(true)),
            (Some(STATELESS), Ok(false)),
            (Some("2025-03-27"), Err(-32600)),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(version) = version {
                headers.insert(VERSION, version.parse().unwrap());
            }
            let found = has_session(&headers).map_err(|error| error.code.0);
            assert_eq!(found, expected, "{version:?}");
        }
    }
}
