//! Patterns of URLs in a policy.

use std::borrow::Cow;

use dormouse_text::wildcard::matches;
use percent_encoding::percent_decode_str;
use url::{Host, Url};

/// A pattern of URLs. `*` stands for any characters within a part of it: what is allowed for
/// one host is not for `https://other/?that.host`.
pub(in crate::discovery) enum UrlPattern {
    Parts {
        scheme: String,
        host: String,
        port: PortPattern,
        path: String,
    },
    /// Pattern that is no URL: `*` alone, or with something else.
    Text(String),
}

/// Ports that a pattern matches.
pub(in crate::discovery) enum PortPattern {
    /// The usual port of the scheme.
    Usual,
    /// Ports that match this pattern.
    Like(String),
}

/// A URL as it is connected to, however it is spelt, in parts that are compared.
pub(in crate::discovery) struct ConnectedUrl {
    scheme: String,
    host: String,
    /// The port, where it is not the usual one.
    port: Option<u16>,
    /// The port that is connected to.
    connected_port: Option<u16>,
    /// The path from the first `/` on, with the query.
    path: String,
}

impl ConnectedUrl {
    /// Reads the parts of a URL; none where it is none.
    pub(in crate::discovery) fn of(url: &str) -> Option<Self> {
        let url = Url::parse(url).ok()?;
        let mut path = decoded(url.path()).into_owned();
        if let Some(query) = url.query() {
            path = format!("{path}?{query}");
        }
        Some(Self {
            scheme: url.scheme().to_owned(),
            host: canonical(&url.host()?),
            port: url.port(),
            connected_port: url.port_or_known_default(),
            path,
        })
    }
}

impl UrlPattern {
    /// Reads a pattern.
    pub(in crate::discovery) fn of(pattern: &str) -> Self {
        Self::parts(pattern).unwrap_or_else(|| Self::Text(pattern.to_owned()))
    }

    fn parts(pattern: &str) -> Option<Self> {
        let (scheme, rest) = pattern.split_once("://")?;
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (host, path) = rest.split_at_checked(end)?;
        // What stands before an `@` is for the host, and no part of its name.
        let host = host.rsplit('@').next().unwrap_or(host);
        // The colons of an address in brackets are its own.
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, Some(port)),
            _ => (host, None),
        };
        let port = match port {
            None | Some("") => PortPattern::Usual,
            Some(port) => PortPattern::Like(match port.parse::<u16>() {
                Ok(number) => number.to_string(),
                Err(_) => port.to_owned(),
            }),
        };
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path, None),
        };
        let mut path = decoded(path).into_owned();
        if let Some(query) = query {
            let root = if path.is_empty() { "/" } else { "" };
            path = format!("{path}{root}?{query}");
        }
        if path.is_empty() {
            path.push('*');
        }
        Some(Self::Parts {
            scheme: scheme.to_lowercase(),
            host: of_host(name),
            port,
            path,
        })
    }

    /// Whether a URL matches the pattern.
    pub(in crate::discovery) fn is_like(&self, url: &ConnectedUrl) -> bool {
        match self {
            Self::Parts {
                scheme,
                host,
                port,
                path,
            } => {
                let is_port = match port {
                    PortPattern::Usual => url.port.is_none(),
                    PortPattern::Like(port) => {
                        let connected = url.connected_port.map(|port| port.to_string());
                        matches(port, &connected.unwrap_or_default())
                    }
                };
                is_port
                    && matches(scheme, &url.scheme)
                    && matches(host, &url.host)
                    && matches(path, &url.path)
            }
            Self::Text(pattern) => {
                let port = url.port.map(|port| format!(":{port}")).unwrap_or_default();
                let whole = format!("{}://{}{port}{}", url.scheme, url.host, url.path);
                matches(pattern, &whole)
            }
        }
    }
}

/// Returns the host of a pattern, written like the hosts of the URLs that it matches.
fn of_host(name: &str) -> String {
    if !name.contains('*')
        && let Ok(host) = Host::parse(name)
    {
        return canonical(&host);
    }
    let labels = name.trim_end_matches('.').split('.');
    // Names are connected to in ASCII.
    let labels = labels.map(|label| match Host::parse(label) {
        Ok(Host::Domain(ascii)) if !label.is_ascii() => ascii,
        _ => label.to_lowercase(),
    });
    labels.collect::<Vec<_>>().join(".")
}

/// Returns a host in the one form in which it is compared with others.
fn canonical<S: AsRef<str>>(host: &Host<S>) -> String {
    match host {
        Host::Domain(name) => name.as_ref().trim_end_matches('.').to_lowercase(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => match address.to_ipv4_mapped() {
            Some(address) => address.to_string(),
            None => format!("[{address}]"),
        },
    }
}

/// Decodes the letters of a path that are written as their bytes. What separates parts of a path
/// stays as it is.
fn decoded(path: &str) -> Cow<'_, str> {
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    let mut decoded = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        let (before, escape) = rest.split_at(at);
        decoded.push_str(before);
        let length = escape.ceil_char_boundary(3.min(escape.len()));
        let (escape, after) = escape.split_at(length);
        let letter = percent_decode_str(escape).next().map(char::from);
        match letter.filter(|c| c.is_ascii_alphanumeric() || "-._~".contains(*c)) {
            Some(letter) if length == 3 => decoded.push(letter),
            _ => decoded.push_str(&escape.to_uppercase()),
        }
        rest = after;
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
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
            // However a URL is spelt, it is connected to the same.
            ("http://localhost:8080/*", "http://%6cocalhost:8080/m", true),
            (
                "http://localhost:8080/*",
                "http://\u{ff4c}ocalhost:8080/m",
                true,
            ),
            (
                "http://localhost:8080/*",
                "http://local\u{ad}host:8080/m",
                true,
            ),
            ("http://localhost:8080/*", "http://localhost:08080/m", true),
            (
                "http://localhost:8080/*",
                "http://u:p@localhost:8080/m",
                true,
            ),
            ("http://127.0.0.1/*", "http://127.1/m", true),
            ("http://127.0.0.1/*", "http://2130706433/m", true),
            ("http://127.0.0.1/*", "http://0x7f.0.0.1/m", true),
            ("http://127.0.0.1/*", "http://[::ffff:127.0.0.1]/m", true),
            ("http://127.0.0.1/*", "http://\u{2460}27.0.0.1/m", true),
            (
                "http://127.0.0.1/*",
                "http://127\u{3002}0\u{3002}0\u{3002}1/m",
                true,
            ),
            ("http://127.0.0.*/*", "http://2130706433/m", true),
            ("http://[::1]:8080/*", "http://[0:0::1]:8080/m", true),
            ("http://[::1]/*", "http://[0:0::1]:80/m", true),
            (
                "https://b\u{fc}cher.example/*",
                "https://xn--bcher-kva.example/",
                true,
            ),
            ("https://a/allowed/*", "https://a/allowed/../other", false),
            (
                "https://a/allowed/*",
                "https://a/allowed/%2e%2e/other",
                false,
            ),
            ("https://a/other/*", "https://a/allowed/..\\other/x", true),
            ("https://a/admin/*", "https://a/%61dmin/x", true),
            ("https://a/%61dmin/*", "https://a/admin/x", true),
            ("https://a/b%2Fc", "https://a/b%2fc", true),
            ("https://a/b%2Fc", "https://a/b/c", false),
            ("https://a/b", "https://a/b#c", true),
            ("https://a/b", "https://a/b?c", false),
            ("https://a?b", "https://a/?b", true),
            ("http://localhost:*/*", "http://localhost:80/x", true),
            ("http://localhost:*/*", "http://localhost/x", true),
            ("https://evil:*/*", "https://evil:443/x", true),
            ("https://a:0443/*", "https://a/x", true),
            ("https://a:443/*", "https://a/x", true),
            ("https://a:80*/*", "https://a:8080/x", true),
            ("https://a/*", "https://a:8443/x", false),
            ("*://a:80/*", "http://a/x", true),
            (
                "https://*.b\u{fc}cher.example/*",
                "https://a.b\u{fc}cher.example/",
                true,
            ),
            ("https://a/%", "https://a/%", true),
            ("https://a/%\u{fc}", "https://a/x", false),
        ] {
            let found =
                ConnectedUrl::of(url).is_some_and(|url| UrlPattern::of(pattern).is_like(&url));
            assert_eq!(found, like, "{pattern} {url}");
        }
    }
}
