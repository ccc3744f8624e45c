//! Grant of HTTP requests, and the decision whether a request is one of them.

mod coverage;
mod words;

use std::fmt;
use std::str::FromStr;

use percent_encoding::percent_decode_str;
use url::{Host, Url};

/// Word behind the URL of a grant that may lead into a private network.
const PRIVATE: &str = "private";

/// Longest URL of a grant, in bytes: people read it before they grant it.
const MAX_URL_BYTES: usize = 1024;

/// HTTP requests that a plugin may send.
///
/// Written as `[METHODS] SCHEME://HOST[:PORT][/PATH] [private]`, such as
/// `GET,POST https://api.example.com/v1`: methods are any where none are named, a path is for all
/// below it, a host `*.example.com` is for all names below that one, and `*` for all names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpGrant {
    /// Methods in capitals; empty for all.
    methods: Vec<String>,
    is_secure: bool,
    host: HostPattern,
    port: u16,
    /// Path that the request's is, or is below; `/` for all.
    path: String,
    is_private: bool,
}

/// Hosts that a grant is for. Names are in small letters and in ASCII, without a dot at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
enum HostPattern {
    /// `*`: every name, and every address on the internet.
    Any,
    /// `*.example.com`: all names below this one.
    Below(String),
    /// One name or address, the latter as a URL has it.
    Exact(String),
}

/// Message on a host that is neither an address nor a name.
pub(crate) const NO_NAME: &str =
    "its host has characters that no name of a host has, or a part that is empty";

/// Hint of [`HttpGrantError::Words`].
const WORDS_HINT: &str = "write `[METHODS] SCHEME://HOST[:PORT][/PATH] [private]`, such as \
    `GET,POST https://api.example.com/v1`";

/// Hint of [`HttpGrantError::Method`].
const METHOD_HINT: &str = "write methods in capitals, such as `GET,POST`";

/// Hint of [`HttpGrantError::Url`].
const URL_HINT: &str = "write it as `https://api.example.com`";

/// Reason why a text is no grant of HTTP requests.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpGrantError {
    /// Not the words of a grant.
    #[error("`{0}` is no grant of HTTP requests\nhint: {WORDS_HINT}")]
    Words(String),
    /// No method.
    #[error("`{0}` is no method of HTTP\nhint: {METHOD_HINT}")]
    Method(String),
    /// No URL.
    #[error("`{url}` is no URL: {why}\nhint: {URL_HINT}")]
    Url {
        /// The text.
        url: String,
        /// Reason for which it is refused.
        why: String,
    },
    /// A URL with parts that a grant cannot have.
    #[error("the URL `{url}` has {part}, which a grant cannot have\nhint: {hint}")]
    Part {
        /// The URL.
        url: String,
        /// The part.
        part: &'static str,
        /// Advice to its user.
        hint: &'static str,
    },
}

impl HttpGrantError {
    /// Returns what to do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Words(_) => WORDS_HINT,
            Self::Method(_) => METHOD_HINT,
            Self::Url { .. } => URL_HINT,
            Self::Part { hint, .. } => hint,
        }
    }
}

impl FromStr for HttpGrant {
    type Err = HttpGrantError;

    fn from_str(text: &str) -> Result<Self, HttpGrantError> {
        let no_words = || HttpGrantError::Words(text.to_owned());
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let is_private = words.len() > 1 && words.last() == Some(&PRIVATE);
        if is_private {
            words.pop();
        }
        let (methods, url) = match *words {
            [url] => (Vec::new(), url),
            [methods, url] => (read_methods(methods)?, url),
            _ => return Err(no_words()),
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(no_words)?;
        let (prefix, rest) = match rest.strip_prefix('*') {
            Some(rest) => match rest.strip_prefix('.') {
                Some(rest) => ("*.", rest),
                // A name in its place, for the rest to be read.
                None => ("*", rest),
            },
            None => ("", rest),
        };
        let host = if prefix == "*" { "any.invalid" } else { "" };
        let bad = |why: &str| HttpGrantError::Url {
            url: url.to_owned(),
            why: why.to_owned(),
        };
        let too_long = || HttpGrantError::Url {
            url: url.chars().take(40).chain(['…']).collect(),
            why: format!("it has more than {MAX_URL_BYTES} bytes"),
        };
        if url.len() > MAX_URL_BYTES {
            return Err(too_long());
        }
        let star = "a `*` stands for a name, or before the dot of one";
        let read = Url::parse(&format!("{scheme}://{host}{rest}"));
        let read = read.map_err(|error| bad(&error.to_string()))?;
        // Its escapes, as it is written from now on, included.
        if prefix.len() + read.as_str().len() > MAX_URL_BYTES {
            return Err(too_long());
        }
        check_parts(url, &read)?;
        let host = match (prefix, read.host()) {
            (_, Some(Host::Domain(name))) if name.contains('*') => return Err(bad(star)),
            (_, Some(Host::Domain(name))) if !is_plain_name(name) => {
                return Err(bad(NO_NAME));
            }
            ("", Some(_)) => HostPattern::Exact(bare_host(&read)),
            ("*", Some(Host::Domain("any.invalid"))) => HostPattern::Any,
            ("*.", Some(Host::Domain(_))) => HostPattern::Below(bare_host(&read)),
            _ => return Err(bad(star)),
        };
        Ok(Self {
            methods,
            is_secure: read.scheme() == "https",
            host,
            // Both schemes have one of their own.
            port: read.port_or_known_default().unwrap_or_default(),
            path: read.path().to_owned(),
            is_private,
        })
    }
}

impl HttpGrant {
    /// Whether it is for one host, and not for a pattern of them.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        matches!(self.host, HostPattern::Exact(_))
    }

    /// Returns the URL of its host; none where it is for a pattern of them.
    #[must_use]
    pub fn host_url(&self) -> Option<Url> {
        let HostPattern::Exact(host) = &self.host else {
            return None;
        };
        let scheme = if self.is_secure { "https" } else { "http" };
        Url::parse(&format!("{scheme}://{host}:{}/", self.port)).ok()
    }

    /// Whether its hosts may be in a private network.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.is_private
    }

    /// Whether it is for the same host as another one, at whatever port.
    #[must_use]
    pub fn is_of_same_host(&self, other: &Self) -> bool {
        self.host == other.host
    }

    /// Returns the same grant for the host of a URL alone.
    #[must_use]
    pub fn narrowed_to(&self, url: &Url) -> Self {
        Self {
            host: HostPattern::Exact(bare_host(url)),
            ..self.clone()
        }
    }

    /// Returns the same grant for hosts on the internet alone.
    #[must_use]
    pub fn without_private(self) -> Self {
        Self {
            is_private: false,
            ..self
        }
    }

    /// Whether a request is one of those granted, by what it says: the address that its host has
    /// is another question.
    #[must_use]
    pub fn allows(&self, method: &str, url: &Url) -> bool {
        let is_method = self.methods.is_empty() || self.methods.iter().any(|one| one == method);
        let scheme = if self.is_secure { "https" } else { "http" };
        is_method
            && url.scheme() == scheme
            && url.port_or_known_default() == Some(self.port)
            && self.allows_host(url)
            && self.allows_path(url.path())
    }

    /// Returns the port of its scheme.
    fn usual_port(&self) -> u16 {
        if self.is_secure { 443 } else { 80 }
    }

    fn allows_host(&self, url: &Url) -> bool {
        // What is written as a pattern, or with a part that is empty, is nobody's name.
        if matches!(url.host(), Some(Host::Domain(name)) if !is_plain_name(name)) {
            return false;
        }
        let host = bare_host(url);
        match &self.host {
            HostPattern::Any => !host.is_empty(),
            HostPattern::Exact(name) => host == *name,
            HostPattern::Below(name) => coverage::is_below(&host, name),
        }
    }

    fn allows_path(&self, path: &str) -> bool {
        if self.path == "/" {
            return true;
        }
        let below = match path.strip_prefix(&self.path) {
            Some("") => return true,
            Some(below) => below,
            None => return false,
        };
        let is_below = self.path.ends_with('/') || below.starts_with('/');
        is_below && !is_ambiguous(below)
    }
}

impl fmt::Display for HttpGrant {
    /// Writes it as it is read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.methods.is_empty() {
            write!(f, "{} ", self.methods.join(","))?;
        }
        let scheme = if self.is_secure { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.host)?;
        if self.port != self.usual_port() {
            write!(f, ":{}", self.port)?;
        }
        if self.path != "/" {
            f.write_str(&self.path)?;
        }
        if self.is_private {
            write!(f, " {PRIVATE}")?;
        }
        Ok(())
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Below(name) => write!(f, "*.{name}"),
            Self::Exact(name) => f.write_str(name),
        }
    }
}

/// Returns the grant of all requests to the host, scheme and port of a URL; none for a URL whose
/// host is none, such as `*`, which would be written as a grant of them all.
#[must_use]
pub fn grant_of_origin(url: &Url) -> Option<HttpGrant> {
    let origin = url.origin().ascii_serialization();
    origin.parse().ok().filter(HttpGrant::is_exact)
}

/// Whether a host is a name such as those of the internet, with or without the dot that a whole name
/// ends in: URLs may have quotes, parts that are empty and more in it.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let name = name.strip_suffix('.').unwrap_or(name);
    let mut parts = name.split('.');
    parts.all(|part| !part.is_empty() && part.bytes().all(is_plain))
}

fn read_methods(text: &str) -> Result<Vec<String>, HttpGrantError> {
    let methods = text.split(',').map(|method| {
        let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
        match is_method {
            true => Ok(method.to_owned()),
            false => Err(HttpGrantError::Method(method.to_owned())),
        }
    });
    methods.collect()
}

fn check_parts(text: &str, url: &Url) -> Result<(), HttpGrantError> {
    let segments = url.path_segments().into_iter().flatten();
    let (part, hint) = if !matches!(url.scheme(), "http" | "https") {
        ("another scheme", "write `https://` or `http://`")
    } else if !url.username().is_empty() || url.password().is_some() {
        ("a user name", "a secret belongs into `secrets`")
    } else if url.query().is_some() || url.fragment().is_some() {
        ("a query or a fragment", "leave out what is behind the path")
    } else if is_ambiguous(url.path()) || segments.clone().any(|segment| segment.contains('*')) {
        (
            "a path with escapes or `*`",
            "write the plain path that all paths are below",
        )
    } else {
        return Ok(());
    };
    Err(HttpGrantError::Part {
        url: text.to_owned(),
        part,
        hint,
    })
}

/// Whether servers might take a path for one that leads elsewhere: `/v1/%2e%2e/admin` is below `/v1`
/// to some only.
fn is_ambiguous(path: &str) -> bool {
    let escapes = path.split('%').skip(1);
    let mut escapes = escapes.map(|rest| u8::from_str_radix(rest.get(..2)?, 16).ok());
    let is_special = |byte: u8| byte.is_ascii_control() || br"./\%;".contains(&byte);
    // Some escapes are none to others, or mean what stands for itself.
    if path.contains('\\') || escapes.any(|escape| escape.is_none_or(is_special)) {
        return true;
    }
    let Ok(path) = percent_decode_str(path).decode_utf8() else {
        return true;
    };
    // Some servers take what is behind a `;` for no part of the segment, and leave out blanks.
    let leads_up = |segment: &str| {
        let segment = segment.split(';').next().map(str::trim);
        matches!(segment, Some("." | ".."))
    };
    path.split('/').any(leads_up)
}

/// Returns the host of a URL in small letters, without the dot that a whole name may end in.
#[must_use]
pub fn bare_host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
