//! Headers that no plugin writes.

use http::HeaderName;

/// Headers that belong to a connection and not to a request, and those that stand for the host's name, the
/// method or the path: these are the ones by which the request was judged. Trailers are given to nobody.
const FORBIDDEN: [&str; 36] = [
    "connection",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "script-name",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-envoy-original-dst-host",
    "x-envoy-original-host",
    "x-envoy-original-path",
    "x-forwarded",
    "x-host",
    "x-http-host-override",
    "x-http-method",
    "x-http-method-override",
    "x-http-path-override",
    "x-method",
    "x-method-override",
    "x-ms-original-url",
    "x-original-host",
    "x-original-method",
    "x-original-uri",
    "x-original-url",
    "x-override-url",
    "x-proxy-host",
    "x-proxy-url",
    "x-replaced-path",
    "x-rewrite-url",
    "x-script-name",
    "x-waws-unencoded-url",
];

/// Beginning of headers by which proxies say how they were asked, `x-forwarded-host` and the like.
const FORWARDED: &str = "x-forwarded-";

/// Whether a header is not a plugin's to write. Many hosts take `_` in a name for `-`, and some whatever is
/// neither a letter nor a digit.
#[must_use]
pub fn is_forbidden_header(name: &HeaderName) -> bool {
    let name = name.as_str();
    let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    FORBIDDEN.contains(&name.as_str()) || name.starts_with(FORWARDED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stands_for_the_host_the_method_or_the_path_by_which_a_request_was_judged() {
        for (name, is_forbidden) in [
            ("Host", true),
            ("Forwarded", true),
            ("X-Forwarded-Host", true),
            ("X-Forwarded-Prefix", true),
            ("X-Forwarded-Uri", true),
            ("X-Forwarded-Method", true),
            ("X-HTTP-Method-Override", true),
            ("X_HTTP_Method_Override", true),
            ("X.HTTP.Method.Override", true),
            ("X~HTTP|Method!Override", true),
            ("X-Forwarded", true),
            ("Script_Name", true),
            ("X-HTTP-Method", true),
            ("X-Method-Override", true),
            ("X-Original-Method", true),
            ("X-Original-URL", true),
            ("X-Rewrite-URL", true),
            ("X-Original-Host", true),
            ("X-Host", true),
            ("Transfer_Encoding", true),
            ("Accept", false),
            ("Authorization", false),
            ("X-Api-Key", false),
            ("X-Original-Name", false),
        ] {
            let header = name.parse().unwrap();
            assert_eq!(is_forbidden_header(&header), is_forbidden, "{name}");
        }
    }
}
