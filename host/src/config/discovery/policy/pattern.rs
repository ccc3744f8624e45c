//! Patterns of URLs in a policy.

use crate::config::bridge;

/// Whether a URL is one that a pattern means. `*` stands for any characters within
/// a part of it: what is allowed for one host is not for `https://other/?that.host`.
pub(super) fn is_like(url: &str, pattern: &str) -> bool {
    let Some(url) = Parts::of(url) else {
        return false;
    };
    let Some(pattern) = Parts::of(pattern) else {
        // `*` alone, or with something else that is no URL.
        return bridge::matches(
            pattern,
            &format!("{}://{}{}", url.scheme, url.host, url.path),
        );
    };
    let path = match pattern.path.as_str() {
        "" => "*",
        path => path,
    };
    let or_root = match url.path.as_str() {
        "" => "/",
        path => path,
    };
    bridge::matches(&pattern.scheme, &url.scheme)
        && bridge::matches(&pattern.host, &url.host)
        && bridge::matches(path, or_root)
}

/// A URL, or a pattern of one.
struct Parts {
    scheme: String,
    /// With its port, where that is not the usual one.
    host: String,
    /// From the first `/` on.
    path: String,
}

impl Parts {
    fn of(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let scheme = scheme.to_lowercase();
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (host, path) = rest.split_at_checked(end)?;
        // What stands before an `@` is for the host, and no part of its name.
        let host = host.rsplit('@').next().unwrap_or(host).to_lowercase();
        let port = match scheme.as_str() {
            "https" => ":443",
            "http" => ":80",
            _ => "",
        };
        let host = host.strip_suffix(port).unwrap_or(&host);
        let host = match host.rsplit_once(':') {
            Some((name, port)) => format!("{}:{port}", name.trim_end_matches('.')),
            None => host.trim_end_matches('.').to_owned(),
        };
        Some(Self {
            scheme,
            host,
            path: path.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_like_a_pattern_part_by_part() {
        for (pattern, url, like) in [
            (
                "https://mcp.example.com/*",
                "https://mcp.example.com/a/b",
                true,
            ),
            ("https://mcp.example.com/*", "https://mcp.example.com", true),
            ("https://mcp.example.com", "https://mcp.example.com/a", true),
            (
                "https://mcp.example.com",
                "https://MCP.example.com.:443/a",
                true,
            ),
            (
                "https://mcp.example.com/",
                "https://mcp.example.com/a",
                false,
            ),
            (
                "https://mcp.example.com/*",
                "http://mcp.example.com/a",
                false,
            ),
            (
                "https://mcp.example.com/A",
                "https://mcp.example.com/a",
                false,
            ),
            ("https://*.example.com/*", "https://a.b.example.com/x", true),
            ("https://*.example.com/*", "https://example.com/x", false),
            (
                "https://*.example.com/*",
                "https://evil/.example.com/x",
                false,
            ),
            (
                "https://*.example.com/*",
                "https://evil?.example.com/x",
                false,
            ),
            ("https://example.com/*", "https://example.com@evil/x", false),
            ("http://localhost:*/*", "http://localhost:8080/mcp", true),
            (
                "http://localhost:*/*",
                "http://localhost.evil:80/mcp",
                false,
            ),
            ("*://mcp.example.com/*", "http://mcp.example.com/", true),
            ("*", "https://anything/x", true),
            ("nothing", "https://anything/x", false),
            ("https://a/*", "no url", false),
        ] {
            assert_eq!(is_like(url, pattern), like, "{pattern} {url}");
        }
    }
}
