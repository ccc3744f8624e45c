//! Launches: how upstreams are reached, as plain data.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use dormouse_text::server_url::{UrlParts, WrongUrl, check, host};
use url::Url;

use super::environment;
use super::here::is_here;
use super::oauth::OAuth;
use super::redaction::{
    HiddenTextsBuilder, is_harmless_header, is_secret_name, is_trivial, may_be_secret_in_path,
    redacted_arguments, redacted_url, secrets_in_line, tells_nothing, without,
};
use super::secret::Secret;

/// Way to reach one upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launch {
    /// A child process that speaks MCP over its standard streams.
    Stdio(Stdio),
    /// A server that speaks MCP over HTTP.
    Http(Http),
}

/// A child process. Its environment is what programs need to find their way around the system
/// (`PATH`, `HOME` and the like) and the variables below, nothing else of the user's.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Stdio {
    /// The program: a path, or a name that is looked for in `PATH`.
    pub command: String,
    /// The program as it is configured, where variables were filled in.
    pub written: Option<String>,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Variables of the child's environment.
    pub env: BTreeMap<String, Secret>,
    /// Working directory; the host's own where none is configured.
    pub cwd: Option<PathBuf>,
    /// Values that were filled in and must not be seen.
    pub filled_in: Vec<Secret>,
    /// Names of variables of the host's environment that the child gets besides those that all get,
    /// with `*` for any characters.
    pub pass_env: Vec<String>,
}

/// An HTTP endpoint.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Http {
    /// URL of the endpoint, `http` or `https`.
    pub url: String,
    /// The URL as it is configured, where variables were filled in.
    pub written: Option<String>,
    /// Headers of every request to this endpoint, and to no other (not to where it redirects).
    pub headers: BTreeMap<String, Secret>,
    /// MCP transport of the endpoint.
    pub transport: HttpTransport,
    /// OAuth settings for the login there.
    pub oauth: OAuth,
    /// Values that were filled in and must not be seen.
    pub filled_in: Vec<Secret>,
}

impl Stdio {
    /// Returns the program as people may see it: as it is configured.
    #[must_use]
    pub fn shown(&self) -> Cow<'_, str> {
        let written = self.written.as_deref().unwrap_or(&self.command);
        // Some write the whole line here.
        without(written, &secrets_in_line(written))
    }

    /// Returns advice on a program that is not there, where a whole line is written as its name.
    #[must_use]
    pub fn advice_on_blanks(&self) -> Option<&'static str> {
        let is_line = self.args.is_empty() && self.command.trim().contains(char::is_whitespace);
        is_line
            .then_some("blanks in `command` are part of a program's name: arguments go into `args`")
    }

    /// Adds what must not be seen: values that were filled in, secrets that are written out in
    /// arguments, and the values of variables, but for those that tell nothing.
    fn add_secrets(&self, hidden: &mut HiddenTextsBuilder) {
        add_filled_in(&self.filled_in, hidden);
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        hidden.add_arguments(&self.command, &args);
        // Some write the whole line there.
        hidden.add_line(&self.command);
        for (name, value) in &self.env {
            hidden.add_variable(name, value.expose());
        }
        for (name, value) in environment::passed_on(&self.pass_env) {
            let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else {
                continue;
            };
            if environment::is_named(&self.pass_env, name) {
                hidden.add_variable(name, value);
            }
            match environment::secret_in(name, value) {
                None => {}
                Some(url) if url.contains("://") => hidden.add_url(&url),
                Some(value) => hidden.add_variable(name, &value),
            }
        }
    }
}

impl fmt::Debug for Stdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdio")
            .field("command", &self.shown())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("url", &self.shown())
            .finish_non_exhaustive()
    }
}

impl Http {
    /// Returns the URL as people may see it: as it is configured, without what is secret in it.
    #[must_use]
    pub fn shown(&self) -> String {
        redacted_url(self.written.as_deref().unwrap_or(&self.url))
    }

    /// Checks the URL, every variable filled in.
    ///
    /// # Errors
    /// The URL cannot be connected to, or leads to another host than people are shown.
    pub fn check_url(&self) -> Result<(), WrongUrl> {
        check(&self.url, self.written.as_deref().unwrap_or(&self.url))
    }

    /// Returns the host that is connected to, and its port where the URL names one; none where the
    /// URL has no host.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        host(&self.url)
    }

    /// Whether the URL has a user name or a password in it, as it is written.
    #[must_use]
    pub fn names_user(&self) -> bool {
        let written = self.written.as_deref().unwrap_or(&self.url);
        UrlParts::of(written).user.is_some()
    }

    /// Adds what must not be seen: the user in the URL, parts of its path that may be secrets, the
    /// values of its query and those of headers, but for those that tell nothing, values that were
    /// filled in, and the secret of an OAuth client.
    fn add_secrets(&self, hidden: &mut HiddenTextsBuilder) {
        hidden.add_url(&self.url);
        let path = Url::parse(&self.url);
        let path = path.as_ref().map_or("", Url::path).split('/');
        for part in path.filter(|part| may_be_secret_in_path(part)) {
            hidden.add(part);
        }
        add_filled_in(&self.filled_in, hidden);
        for (name, value) in &self.headers {
            let value = value.expose();
            if is_secret_name(name) || !(is_harmless_header(name) || tells_nothing(value)) {
                hidden.add_credential(value);
            }
        }
        if let Some(secret) = &self.oauth.client_secret {
            let id = self.oauth.client_id.as_deref().unwrap_or_default();
            hidden.add_client(id, secret.expose());
        }
    }

    /// Whether the URL is of this very machine.
    #[must_use]
    pub fn is_here(&self) -> bool {
        Url::parse(&self.url).is_ok_and(|url| is_here(&url))
    }

    /// Whether the user has configured an `Authorization` header, so that nobody logs in.
    #[must_use]
    pub fn has_authorization(&self) -> bool {
        let mut names = self.headers.keys();
        names.any(|name| name.eq_ignore_ascii_case("authorization"))
    }
}

/// MCP's transports over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpTransport {
    /// Streamable HTTP, or the transport before it where the server knows only that.
    #[default]
    Auto,
    /// Streamable HTTP (since 2025-03-26).
    Streamable,
    /// HTTP with server-sent events (2024-11-05).
    Sse,
}

/// Adds values that were filled in, but for those that are no secrets for sure.
fn add_filled_in(values: &[Secret], hidden: &mut HiddenTextsBuilder) {
    for value in values.iter().map(Secret::expose) {
        if value.contains("://") {
            hidden.add_url(value);
        } else if !is_trivial(value) {
            hidden.add_possible(value);
        }
    }
}

impl Launch {
    /// Adds the parts of the launch that must not be seen.
    pub fn add_secrets(&self, hidden: &mut HiddenTextsBuilder) {
        match self {
            Self::Stdio(stdio) => stdio.add_secrets(hidden),
            Self::Http(http) => http.add_secrets(hidden),
        }
    }

    /// Returns the program's name, or the URL's host and port: what a model may know of the launch.
    /// Secrets that look like none may be written out in arguments and paths.
    #[must_use]
    pub fn without_arguments(&self) -> String {
        match self {
            Self::Stdio(stdio) => {
                let program = stdio.shown();
                let program = program.split(' ').next().unwrap_or_default();
                let name = program.rsplit(['/', '\\']).next();
                name.unwrap_or_default().to_owned()
            }
            Self::Http(http) => http.host().unwrap_or_default(),
        }
    }

    /// Sets the values that were filled in and must not be seen.
    pub fn set_filled_in(&mut self, values: Vec<Secret>) {
        match self {
            Self::Stdio(stdio) => stdio.filled_in = values,
            Self::Http(http) => http.filled_in = values,
        }
    }
}

impl fmt::Display for Launch {
    /// Writes the launch line without what is secret in it: command and arguments, or the URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio(stdio) => {
                f.write_str(&stdio.shown())?;
                let args = redacted_arguments(&stdio.command, &stdio.args);
                args.iter().try_for_each(|arg| match is_one_word(arg) {
                    true => write!(f, " {arg}"),
                    false => write!(f, " '{}'", arg.replace('\'', "'\\''")),
                })
            }
            Self::Http(http) => f.write_str(&http.shown()),
        }
    }
}

/// Whether a reader takes an argument for a single one without quotes around it.
fn is_one_word(argument: &str) -> bool {
    !argument.is_empty() && !argument.contains(|c: char| c.is_whitespace() || c == '\'')
}

#[cfg(test)]
mod tests;
