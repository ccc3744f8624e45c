//! Checks of which clients may speak to the host, by the head of a request alone.
//!
//! A web page that the user has open can send requests to any local port. The `Origin` header tells
//! that a page has; and where the page has made the browser believe that its own name is a local
//! address, the `Host` header still has that name. So both are checked, before the token is and
//! before a body is read.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use super::header::only;
use super::token::Token;
use dormouse_text::shell_word::shell_word;
use dormouse_text::visible::visible_path;
use hyper::header::{AUTHORIZATION, HOST, HeaderValue, ORIGIN};
use hyper::http::uri::Authority;
use hyper::{HeaderMap, StatusCode, Uri};

/// Hosts, origins and token with which requests are let in.
#[derive(Debug, Default)]
pub struct RequestGuard {
    /// Names under which the host is reached, besides those of the local machine.
    pub hosts: Vec<Authority>,
    /// Web pages that may speak to the host.
    pub origins: Vec<WebOrigin>,
    /// Token that a client has to know. None admits everybody who can reach the address.
    pub token: Option<Token>,
}

/// Origin of a web page: `https://example.com`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebOrigin {
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl std::str::FromStr for WebOrigin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is no origin, like `https://example.com:8443`");
        let (scheme, rest) = text.split_once("://").ok_or_else(bad)?;
        let authority: Authority = rest.parse().map_err(|_| bad())?;
        if scheme.is_empty() || !is_host_and_port(&authority) {
            return Err(bad());
        }
        let scheme = scheme.to_ascii_lowercase();
        // Browsers leave the usual port away.
        let port = authority.port_u16().or(match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        Ok(Self {
            host: authority.host().to_ascii_lowercase(),
            scheme,
            port,
        })
    }
}

/// Reasons why a request is not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RequestRefusal {
    Host(String),
    Origin(String),
    /// No token was sent; with the file that it is in, where that is told.
    NoToken(Option<String>),
    /// Another token was sent.
    WrongToken(Option<String>),
}

impl RequestRefusal {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Host(_) | Self::Origin(_) => StatusCode::FORBIDDEN,
            Self::NoToken(_) | Self::WrongToken(_) => StatusCode::UNAUTHORIZED,
        }
    }

    /// Returns the value of `WWW-Authenticate`, if a token would help. It names no
    /// `resource_metadata`: there is no authorization server that could give one.
    pub(super) fn challenge(&self) -> Option<HeaderValue> {
        let (error, file) = match self {
            Self::Host(_) | Self::Origin(_) => return None,
            Self::NoToken(file) => ("", file),
            Self::WrongToken(file) => (", error=\"invalid_token\"", file),
        };
        let description = match file {
            Some(file) => format!("send the token that is in {file}"),
            None => "send the token of this host".to_owned(),
        };
        // The characters that RFC 6750 allows there.
        let allowed = |c: char| matches!(c, ' '..='~') && !matches!(c, '"' | '\\');
        let description = description.replace(|c| !allowed(c), "?");
        let challenge =
            format!("Bearer realm=\"dormouse\"{error}, error_description=\"{description}\"");
        HeaderValue::try_from(challenge).ok()
    }
}

impl fmt::Display for RequestRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (problem, file) = match self {
            Self::Host(host) => {
                write!(f, "requests to host `{host}` are not served")?;
                // What is no name of a host cannot be let in.
                return match host.parse::<Authority>() {
                    Ok(named) if is_host_and_port(&named) => write!(
                        f,
                        "\nhint: `--allow-host {}`, if that is a name of this machine or of a proxy",
                        shell_word(host)
                    ),
                    _ => Ok(()),
                };
            }
            Self::Origin(origin) => {
                write!(f, "requests from web pages of `{origin}` are not served")?;
                // What is no origin, such as `null`, is anybody's, and cannot be let in.
                return match origin.parse::<WebOrigin>() {
                    Ok(_) => write!(
                        f,
                        "\nhint: `--allow-origin {}`, if you trust them with all of your servers",
                        shell_word(origin)
                    ),
                    Err(_) => Ok(()),
                };
            }
            Self::NoToken(file) => ("a token is needed", file),
            Self::WrongToken(file) => ("this is not the token of this host", file),
        };
        write!(
            f,
            "{problem}\nhint: send the header `Authorization: Bearer TOKEN` with the token that is in "
        )?;
        match file {
            Some(file) => write!(f, "`{file}`"),
            None => f.write_str("the file which this host names when it starts"),
        }
    }
}

impl RequestGuard {
    /// Checks that a request has a `Host` and an `Origin` that it may have; `local` is the address
    /// of this machine that it has come to.
    pub(super) fn place(
        &self,
        local: IpAddr,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), RequestRefusal> {
        let host = self.host(local, uri, headers)?;
        self.origin(host.as_ref(), headers)
    }

    fn host<'a>(
        &self,
        local: IpAddr,
        uri: &'a Uri,
        headers: &HeaderMap,
    ) -> Result<Cow<'a, Authority>, RequestRefusal> {
        let said = only(headers, HOST).map_err(|()| RequestRefusal::Host("?".into()))?;
        let refuse = || RequestRefusal::Host(said.unwrap_or_default().into());
        let named = said.and_then(|host| host.parse::<Authority>().ok());
        let host = named.ok_or_else(refuse)?;
        let served = |host: &Authority| {
            is_host_and_port(host)
                && (is_local(host.host(), local)
                    || self.hosts.iter().any(|allowed| {
                        allowed.host().eq_ignore_ascii_case(host.host())
                            && (allowed.port_u16().is_none()
                                || allowed.port_u16() == host.port_u16())
                    }))
        };
        if !served(&host) {
            return Err(refuse());
        }
        // A whole URL in the request's first line comes before the header.
        match uri.authority() {
            Some(authority) if !served(authority) => {
                Err(RequestRefusal::Host(authority.to_string()))
            }
            Some(authority) => Ok(Cow::Borrowed(authority)),
            None => Ok(Cow::Owned(host)),
        }
    }

    fn origin(&self, host: &Authority, headers: &HeaderMap) -> Result<(), RequestRefusal> {
        let said = only(headers, ORIGIN).map_err(|()| RequestRefusal::Origin("?".into()))?;
        let Some(said) = said else {
            return Ok(());
        };
        let same = |origin: &WebOrigin| {
            // A name of the internet is never the local machine, whatever it
            // resolves to just now. And what is no page of the web is not ours, though
            // it may call itself `localhost`: programs with web views do.
            matches!(&*origin.scheme, "http" | "https")
                && is_loopback(&origin.host)
                && format!("{}://{host}", origin.scheme)
                    .parse()
                    .is_ok_and(|ours: WebOrigin| ours == *origin)
        };
        match said.parse() {
            Ok(origin) if self.origins.contains(&origin) || same(&origin) => Ok(()),
            _ => Err(RequestRefusal::Origin(said.into())),
        }
    }

    /// Checks that a request has the token, if one is needed. The path of the token's file is told
    /// to programs of this machine only, and not through a proxy or a tunnel that ends here;
    /// `local` is the address that the request has come to.
    pub(super) fn token(
        &self,
        local: IpAddr,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), RequestRefusal> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        let file = || {
            let is_here = local.to_canonical().is_loopback() && is_asked_of_loopback(uri, headers);
            let file = token.file().filter(|_| is_here)?;
            Some(visible_path(file))
        };
        let sent = only(headers, AUTHORIZATION).map_err(|()| RequestRefusal::WrongToken(file()))?;
        match sent.and_then(|sent| sent.split_once(' ')) {
            Some((scheme, sent)) if scheme.eq_ignore_ascii_case("bearer") => {
                match token.is(sent.trim()) {
                    true => Ok(()),
                    false => Err(RequestRefusal::WrongToken(file())),
                }
            }
            _ => Err(RequestRefusal::NoToken(file())),
        }
    }
}

/// Headers that proxies and tunnels add to forwarded requests.
const FORWARDED: [&str; 13] = [
    "forwarded",
    "via",
    "cdn-loop",
    "cf-connecting-ip",
    "fastly-client-ip",
    "true-client-ip",
    "x-client-ip",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-port",
    "x-forwarded-server",
    "x-real-ip",
];

/// Checks whether a request names a loopback address, and has no header of a proxy.
fn is_asked_of_loopback(uri: &Uri, headers: &HeaderMap) -> bool {
    let is_loopback = |authority: &Authority| is_loopback(authority.host());
    let said = only(headers, HOST).ok().flatten();
    let said = said.map(|host| {
        host.parse::<Authority>()
            .is_ok_and(|host| is_loopback(&host))
    });
    let named = uri.authority().map(is_loopback);
    let is_named = said
        .into_iter()
        .chain(named)
        .reduce(|one, other| one && other);
    let is_handed_on = headers.keys().any(|name| {
        FORWARDED.contains(&name.as_str()) || name.as_str().starts_with("x-forwarded-")
    });
    is_named == Some(true) && !is_handed_on
}

/// Checks whether an authority is a host with a port or nothing behind it. An invalid port would
/// otherwise count as none, which is the usual one.
fn is_host_and_port(authority: &Authority) -> bool {
    let port = authority.as_str().strip_prefix(authority.host());
    match port.and_then(|port| port.strip_prefix(':')) {
        Some(port) => port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok(),
        None => port.is_some_and(str::is_empty),
    }
}

fn address(host: &str) -> Option<IpAddr> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Some(host.parse::<IpAddr>().ok()?.to_canonical())
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || address(host).is_some_and(|ip| ip.is_loopback())
}

/// Checks whether a name can only mean this machine: the names of the loopback, the very address
/// that the request has come to, and the one that stands for all of them.
fn is_local(host: &str, local: IpAddr) -> bool {
    let ours = |ip: IpAddr| ip.is_unspecified() || ip == local.to_canonical();
    is_loopback(host) || address(host).is_some_and(ours)
}

#[cfg(test)]
mod tests;
