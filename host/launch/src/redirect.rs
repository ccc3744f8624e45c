//! Redirect URIs of logins: always of this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Url;

/// URL of this machine, whose port may still be any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The host as it is written: authorization servers compare texts.
    host: String,
    /// Port; 0 for any.
    pub port: u16,
    /// Path of the URL.
    pub path: String,
}

impl Default for Redirect {
    /// An address and no name: a name may lead elsewhere (RFC 8252, section 8.3).
    fn default() -> Self {
        Self {
            host: Ipv4Addr::LOCALHOST.to_string(),
            port: 0,
            path: "/callback".to_owned(),
        }
    }
}

impl Redirect {
    /// Reads a redirect URI.
    ///
    /// # Errors
    /// The browser could not be waited for there; the error says why.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const HERE: &str =
            "has to be a URL of this machine, such as `http://localhost:8080/callback`";
        let url = Url::parse(text).map_err(|_| HERE)?;
        let host = url.host_str().unwrap_or_default();
        if url.scheme() != "http" || !matches!(host, "localhost" | "127.0.0.1" | "[::1]") {
            return Err(HERE);
        }
        if url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() {
            return Err("has to end with its path");
        }
        Ok(Self {
            host: host.to_owned(),
            port: url.port().unwrap_or(0),
            path: url.path().to_owned(),
        })
    }

    /// Returns the addresses that the browser may come to.
    ///
    /// `localhost` is two of them, and a browser takes whichever answers: were only
    /// one of them ours, somebody else on this machine could be given the code.
    pub fn addresses(&self) -> &'static [IpAddr] {
        const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
        const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);
        match self.host.as_str() {
            "localhost" => &[V4, V6],
            "[::1]" => &[V6],
            _ => &[V4],
        }
    }

    /// Returns the URL with the port that is listened to.
    pub fn url(&self, port: u16) -> String {
        format!("http://{}:{port}{}", self.host, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine() {
        for (text, url) in [
            (
                "http://localhost:8080/callback",
                "http://localhost:8080/callback",
            ),
            ("http://127.0.0.1/callback", "http://127.0.0.1:5/callback"),
            ("http://[::1]:7/a/b", "http://[::1]:7/a/b"),
            ("http://localhost:1", "http://localhost:1/"),
            ("https://localhost:8080/callback", ""),
            ("http://example.com:8080/callback", ""),
            ("http://localhost.example.com/callback", ""),
            ("http://0.0.0.0:8080/callback", ""),
            ("http://user@localhost:8080/", ""),
            ("http://localhost:8080/callback?x", ""),
            ("cursor://anysphere.cursor-mcp/oauth/callback", ""),
            ("8080", ""),
        ] {
            let shown = Redirect::parse(text).map(|redirect| {
                let port = if redirect.port == 0 { 5 } else { redirect.port };
                redirect.url(port)
            });
            assert_eq!(shown.unwrap_or_default(), url, "{text}");
        }
    }
}
