//! Hosts that a secret goes to.

use std::fmt;
use std::str::FromStr;

use url::{Host, Url};

use crate::http_grant::{NO_NAME, bare_host, is_plain_name};

/// Hosts of this machine, to which a secret may go without TLS.
const LOCAL_HOSTS: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// Port of HTTPS, which is not written.
const HTTPS_PORT: u16 = 443;

/// A host that gets a secret: `api.example.com` or `api.example.com:8443`, over TLS, or a service of
/// this very machine such as `http://127.0.0.1:8080`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretHost {
    is_secure: bool,
    /// In small letters and in ASCII, without a dot at the end.
    host: String,
    port: u16,
}

/// Reason why a text is no host that a secret may go to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretHostError {
    /// No host.
    #[error("it is no host: {0}")]
    Host(String),
    /// A pattern.
    #[error("it is a pattern, and a secret goes to hosts that are named")]
    Pattern,
    /// A host with something behind or before it.
    #[error("it has {0}, and a secret goes to whole hosts")]
    Part(&'static str),
    /// A scheme that does not protect the secret.
    #[error("a secret goes to no other machine without TLS")]
    Unprotected,
}

impl SecretHostError {
    /// Returns what to do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Host(_) => "write it as `api.example.com` or `api.example.com:8443`",
            Self::Pattern => "name each host, as `api.example.com`",
            Self::Part(_) => "write the host alone, as `api.example.com`",
            Self::Unprotected => {
                "leave out the scheme, which is `https`; `http` is for `http://127.0.0.1:PORT`, \
                 `http://[::1]:PORT` and `http://localhost:PORT` alone"
            }
        }
    }
}

impl SecretHost {
    /// Returns the host of a URL, where a secret may go there.
    #[must_use]
    pub fn of_url(text: &str) -> Option<Self> {
        let origin = Url::parse(text).ok()?.origin();
        // One of no host is written as a word, which could be a host's name.
        let origin = origin.is_tuple().then(|| origin.ascii_serialization());
        origin?.parse().ok()
    }

    /// Whether a URL leads there, with that scheme and at that port.
    #[must_use]
    pub fn is_host_of(&self, url: &Url) -> bool {
        url.scheme() == self.scheme()
            && url.port_or_known_default() == Some(self.port)
            && bare_host(url) == self.host
    }

    /// Returns its scheme, its name and its port where that is not usual, as a grant has them.
    #[must_use]
    pub fn origin(&self) -> String {
        match self.is_secure {
            true => format!("https://{self}"),
            false => self.to_string(),
        }
    }

    /// Returns the URL of its root.
    pub(crate) fn url(&self) -> Option<Url> {
        let Self { host, port, .. } = self;
        Url::parse(&format!("{}://{host}:{port}/", self.scheme())).ok()
    }

    fn scheme(&self) -> &'static str {
        match self.is_secure {
            true => "https",
            false => "http",
        }
    }
}

impl FromStr for SecretHost {
    type Err = SecretHostError;

    fn from_str(text: &str) -> Result<Self, SecretHostError> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("https", text));
        let is_secure = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err(SecretHostError::Unprotected),
        };
        if rest.contains('*') {
            return Err(SecretHostError::Pattern);
        }
        if rest.contains(['/', '\\']) {
            return Err(SecretHostError::Part("a path"));
        }
        if rest.contains(['?', '#']) {
            return Err(SecretHostError::Part("a query or a fragment"));
        }
        if rest.contains('@') {
            return Err(SecretHostError::Part("a user name"));
        }
        let url = Url::parse(&format!("{scheme}://{rest}"))
            .map_err(|error| SecretHostError::Host(error.to_string()))?;
        if let Some(Host::Domain(name)) = url.host()
            && !is_plain_name(name)
        {
            return Err(SecretHostError::Host(NO_NAME.to_owned()));
        }
        let host = bare_host(&url);
        if !is_secure && !LOCAL_HOSTS.contains(&host.as_str()) {
            return Err(SecretHostError::Unprotected);
        }
        Ok(Self {
            is_secure,
            host,
            // Both schemes have one of their own.
            port: url.port_or_known_default().unwrap_or_default(),
        })
    }
}

impl fmt::Display for SecretHost {
    /// Writes it as it is read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_secure {
            true if self.port == HTTPS_PORT => f.write_str(&self.host),
            true => write!(f, "{}:{}", self.host, self.port),
            false => write!(f, "http://{}:{}", self.host, self.port),
        }
    }
}
