//! Headers that no plugin writes.

use http::HeaderName;

/// Headers that belong to a connection and not to a request, and the host's name, which is that of the
/// URL by which the request was judged. Trailers are given to nobody.
const FORBIDDEN: [&str; 11] = [
    "connection",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Whether a header is not a plugin's to write.
#[must_use]
pub fn is_forbidden_header(name: &HeaderName) -> bool {
    FORBIDDEN.contains(&name.as_str())
}
