//! The HTTP headers that MCP puts on its messages.

use dormouse_protocol::encode_header_value;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use crate::messages::channel::Outgoing;
use crate::opening::introduction::MODERN;

/// Header for the session that a server has opened (until 2025-11-25).
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Whether a protocol version is of the era of 2026-07-28: without sessions, GET streams and
/// resumption, and with methods and names in the headers, too.
pub(super) fn is_modern(version: Option<&str>) -> bool {
    // They are dates, so the order of their texts is the order of their days.
    version.is_some_and(|version| version >= MODERN)
}

/// Returns the headers of a message that is posted.
pub(super) fn of_post(message: &Outgoing) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let accepted = HeaderValue::from_static("application/json, text/event-stream");
    headers.insert(ACCEPT, accepted);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let version = message.version.as_deref();
    insert(&mut headers, VERSION, version);
    if is_modern(version) {
        insert(&mut headers, METHOD, message.method.as_deref());
        insert(
            &mut headers,
            NAME,
            message.name.as_deref().map(encode_header_value).as_deref(),
        );
    }
    headers
}

/// Returns the headers of a request for a stream, or for the rest of a stream after an event.
pub(super) fn of_get(version: Option<&str>, last_event: Option<&str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    insert(&mut headers, VERSION, version);
    if let Some(Ok(last)) = last_event.map(|id| HeaderValue::from_bytes(id.as_bytes())) {
        headers.insert(LAST_EVENT, last);
    }
    headers
}

/// Returns the headers of a request that ends a session.
pub(super) fn of_delete(version: Option<&str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    insert(&mut headers, VERSION, version);
    headers
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: Option<&str>) {
    // What no header can hold (a method with a line break in it) is refused by the
    // server then, in words that are better than ours would be.
    if let Some(Ok(value)) = value.map(HeaderValue::from_str) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_era_gets_its_own_headers() {
        let mut message = Outgoing {
            text: String::new(),
            method: Some("tools/call".to_owned()),
            id: Some(1),
            name: Some("grüße".to_owned()),
            version: None,
        };
        let names = |headers: &HeaderMap| {
            let mut names: Vec<_> = headers
                .keys()
                .map(|name| name.as_str().to_owned())
                .collect();
            names.sort();
            names
        };
        assert_eq!(names(&of_post(&message)), ["accept", "content-type"]);
        message.version = Some("2025-06-18".to_owned());
        let legacy = of_post(&message);
        assert_eq!(
            names(&legacy),
            ["accept", "content-type", "mcp-protocol-version"]
        );
        message.version = Some("2026-07-28".to_owned());
        let modern = of_post(&message);
        assert_eq!(modern[METHOD], "tools/call");
        assert_eq!(modern[NAME], "=?base64?Z3LDvMOfZQ==?=");
        assert_eq!(modern[VERSION], "2026-07-28");
    }
}
