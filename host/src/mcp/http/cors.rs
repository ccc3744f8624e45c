//! Headers that a browser requires before it lets a page read an answer (CORS). Only pages that the
//! guard lets in are ever told anything.

use hyper::header::HeaderValue;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use hyper::{HeaderMap, Method, StatusCode};

use super::answers::answer;
use super::answers::answer::Response;

/// Checks whether a browser asks for permission to send a request. It does so without the token
/// that it will send, so there is none to check yet.
pub(super) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Returns the answer to a preflight request. A page may send any headers: those of MCP depend on
/// the tool.
pub(super) fn preflight(headers: &HeaderMap) -> Response {
    let mut response = answer::empty(StatusCode::NO_CONTENT);
    let answer = response.headers_mut();
    let methods = HeaderValue::from_static("GET, POST, DELETE");
    answer.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    if let Some(wanted) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// Lets the page that has asked read an answer.
pub(super) fn open(response: &mut Response, origin: HeaderValue) {
    let answer = response.headers_mut();
    answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    answer.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("mcp-session-id, www-authenticate, retry-after"),
    );
    answer.append(VARY, HeaderValue::from_static("origin"));
}
