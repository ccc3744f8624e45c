//! How an upstream is reached, as plain data.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::OAuth;
use super::server_url::{HIDDEN, UrlParts, WrongUrl, check, host, is_variable, redacted_url};

/// How one upstream is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launch {
    /// A child process that speaks MCP over its standard streams.
    Stdio(Stdio),
    /// A server that speaks MCP over HTTP.
    Http(Http),
}

/// A child process. Its environment is what the system needs to run a program
/// (`PATH`, `HOME` and the like) and what is here, nothing else of the user's.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Stdio {
    /// The program: a path, or a name that is looked for in `PATH`.
    pub command: String,
    /// The same as it is configured, where variables were filled in.
    pub written: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables of its environment.
    pub env: BTreeMap<String, Secret>,
    /// Where it runs; the host's own folder where nothing is said.
    pub cwd: Option<PathBuf>,
}

/// An HTTP endpoint.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Http {
    /// Its URL, `http` or `https`.
    pub url: String,
    /// The same as it is configured, where variables were filled in.
    pub written: Option<String>,
    /// Headers of every request to it, and to nobody else (not to where it
    /// redirects).
    pub headers: BTreeMap<String, Secret>,
    /// Which of MCP's two transports it speaks.
    pub transport: HttpTransport,
    /// How its user logs in there.
    pub oauth: OAuth,
}

impl Stdio {
    /// The program as people may see it: as it is configured.
    #[must_use]
    pub fn shown(&self) -> Cow<'_, str> {
        redacted_text(self.written.as_deref().unwrap_or(&self.command))
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
    /// The URL as people may see it: as it is configured, without what is secret in it.
    #[must_use]
    pub fn shown(&self) -> String {
        redacted_url(self.written.as_deref().unwrap_or(&self.url))
    }

    /// Checks the URL, every variable filled in.
    ///
    /// # Errors
    /// Nothing can be connected to, or not what people are shown.
    pub fn check_url(&self) -> Result<(), WrongUrl> {
        check(&self.url, self.written.as_deref().unwrap_or(&self.url))
    }

    /// The host that is connected to, and its port where the URL names one. None where the URL
    /// has none.
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

    /// A text without what of the URL must not be seen.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let hidden = self.hidden();
        hidden
            .iter()
            .fold(text.to_owned(), |text, part| text.replace(part, HIDDEN))
    }

    /// What of the URL must not be seen: who is said to ask, the values of its query, and
    /// what was filled into it.
    #[must_use]
    pub fn hidden(&self) -> Vec<String> {
        let mut hidden = Vec::new();
        let parts = UrlParts::of(&self.url);
        let mut hide = |text: &str| {
            // What is shorter occurs in any text.
            if text.len() >= MIN_HIDDEN_BYTES && !hidden.iter().any(|other| other == text) {
                hidden.push(text.to_owned());
            }
        };
        if let Some(user) = parts.user {
            user.split(':').for_each(&mut hide);
        }
        for pair in parts.query.unwrap_or_default().split('&') {
            match pair.split_once('=') {
                Some((_, value)) => hide(value),
                // One that has no value may be one.
                None => hide(pair),
            }
        }
        if let Some(written) = &self.written {
            let written = UrlParts::of(written);
            let known: Vec<_> = written.rest.split('/').collect();
            let filled = parts.rest.split('/').filter(|part| !known.contains(part));
            filled.for_each(&mut hide);
        }
        // The longest first: another may be a part of it.
        hidden.sort_by_key(|text| std::cmp::Reverse(text.len()));
        hidden
    }

    /// Whether its user has written down who they are, so that nobody logs in.
    #[must_use]
    pub fn has_authorization(&self) -> bool {
        let mut names = self.headers.keys();
        names.any(|name| name.eq_ignore_ascii_case("authorization"))
    }
}

/// MCP's transports over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpTransport {
    /// Streamable HTTP, or what was before it where the server knows only that.
    #[default]
    Auto,
    /// Streamable HTTP (since 2025-03-26).
    Streamable,
    /// HTTP with server-sent events (2024-11-05).
    Sse,
}

/// A value that is never shown: of a header or of an environment variable.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// A value that is never shown.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value, for the one whom it is meant for.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Shortest part of a URL that is looked for in a text, in bytes.
const MIN_HIDDEN_BYTES: usize = 4;

/// Words in the names of options and parameters whose values are secrets.
const SECRET_WORDS: [&str; 10] = [
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "pwd",
    "auth",
    "credential",
    "bearer",
    "pat",
];

/// A text that may be a URL, without what is secret in it.
fn redacted_text(text: &str) -> Cow<'_, str> {
    match text.contains("://") {
        true => Cow::Owned(redacted_url(text)),
        false => Cow::Borrowed(text),
    }
}

/// Whether the value of an option is a secret, by its name.
fn is_secret_name(name: &str) -> bool {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let mut words = words.map(str::to_ascii_lowercase);
    words.any(|word| {
        SECRET_WORDS.iter().any(|secret| {
            word == *secret
                || word == format!("{secret}s")
                || (secret.len() > 3 && word.ends_with(secret))
                || word == format!("api{secret}")
        })
    })
}

/// Arguments without the values of those that are secrets: `--api-key VALUE`, `TOKEN=VALUE`,
/// and in URLs.
pub(crate) fn redacted_arguments(args: &[String]) -> Vec<Cow<'_, str>> {
    let mut shown = Vec::with_capacity(args.len());
    let mut is_value = false;
    for arg in args {
        let option = arg.starts_with('-');
        if is_value && !option && !is_variable(arg) {
            shown.push(Cow::Borrowed(HIDDEN));
            is_value = false;
            continue;
        }
        is_value = option && !arg.contains('=') && is_secret_name(arg);
        shown.push(match arg.split_once('=') {
            Some((name, value))
                if is_secret_name(name) && !name.contains("://") && !is_variable(value) =>
            {
                Cow::Owned(format!("{name}={HIDDEN}"))
            }
            _ => redacted_text(arg),
        });
    }
    shown
}

impl fmt::Display for Launch {
    /// The launch line without what is secret in it: command and arguments, or the URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio(stdio) => {
                f.write_str(&stdio.shown())?;
                let args = redacted_arguments(&stdio.args);
                args.iter().try_for_each(|arg| write!(f, " {arg}"))
            }
            Self::Http(http) => f.write_str(&http.shown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_shown_without_secrets() {
        for (args, shown) in [
            (&["-y", "server"][..], "-y server"),
            (&["--api-key", "abc", "x"], "--api-key … x"),
            (&["--token=abc"], "--token=…"),
            (&["--apikey", "abc"], "--apikey …"),
            (&["--token", "${TOKEN}"], "--token ${TOKEN}"),
            (&["GITHUB_TOKEN=abc"], "GITHUB_TOKEN=…"),
            (&["--token", "--verbose", "x"], "--token --verbose x"),
            (&["--path", "/x"], "--path /x"),
            (&["https://u:p@e.com/?k=v"], "https://…@e.com/?k=…"),
            (&["postgres://u:p@db/x"], "postgres://…@db/x"),
        ] {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            let launch = Launch::Stdio(Stdio {
                command: "run".into(),
                args,
                ..Stdio::default()
            });
            assert_eq!(launch.to_string(), format!("run {shown}"));
            assert!(!format!("{launch:?}").contains("abc"));
        }
    }

    #[test]
    fn what_was_filled_in_is_hidden() {
        let http = Http {
            url: "https://user:pass-word@e.com/mcp/filled-in/x?key=a-value&flag".into(),
            written: Some("https://user:pass-word@e.com/mcp/${TOKEN}/x?key=${KEY}&flag".into()),
            ..Http::default()
        };
        assert_eq!(
            http.hidden(),
            ["pass-word", "filled-in", "a-value", "user", "flag"]
        );
        assert_eq!(http.shown(), "https://…@e.com/mcp/${TOKEN}/x?key=${KEY}&…");
        assert!(!format!("{http:?}").contains("filled-in"));
    }
}
