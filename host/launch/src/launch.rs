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

/// A value that is never shown: of a header or of an environment variable.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Hides a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Returns the value, for the one that it is meant for.
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
mod tests {
    use super::*;

    fn redacted(launch: &Launch, said: &str) -> String {
        let mut hidden = HiddenTextsBuilder::default();
        launch.add_secrets(&mut hidden);
        hidden.build().redact(said)
    }

    #[test]
    fn what_was_filled_in_and_what_is_written_out_is_hidden() {
        let http = Http {
            url: "https://user:pass-word@e.com/mcp/filled-in/x?key=a-value&flag&mode=http".into(),
            written: Some(
                "https://user:pass-word@e.com/mcp/${TOKEN}/x?key=${KEY}&flag&mode=http".into(),
            ),
            filled_in: vec![Secret::new("filled-in"), Secret::new("a-value")],
            headers: [("X-Key".to_owned(), Secret::new("Bearer in-a-header"))].into(),
            ..Http::default()
        };
        let said = "user pass-word filled-in a-value flag http in-a-header mcp";
        let launch = Launch::Http(http.clone());
        assert_eq!(redacted(&launch, said), "user … … … flag http … mcp");
        assert_eq!(
            http.shown(),
            "https://…@e.com/mcp/${TOKEN}/x?key=${KEY}&…&mode=…"
        );
        assert!(!format!("{http:?}").contains("filled-in"));

        let stdio = Launch::Stdio(Stdio {
            command: "/opt/bin/run".into(),
            args: ["--token", "in-an-argument", "--mode", "fast"]
                .map(str::to_owned)
                .into(),
            env: [
                ("DATABASE", "postgres://me:in-a-url@db/x"),
                ("OTHER", "in-a-variable"),
                ("NODE_ENV", "production"),
                ("API_KEY", "shortsecret"),
            ]
            .map(|(name, value)| (name.to_owned(), Secret::new(value)))
            .into(),
            filled_in: vec![Secret::new("was-filled-in")],
            ..Stdio::default()
        });
        let said = "in-an-argument in-a-url in-a-variable production shortsecret was-filled-in";
        assert_eq!(redacted(&stdio, said), "… … … production … …");
        assert_eq!(stdio.to_string(), "/opt/bin/run --token … --mode fast");
        assert_eq!(stdio.without_arguments(), "run");
        let words = Launch::Stdio(Stdio {
            command: "sh".into(),
            args: ["-c", "echo it's \"so\"", ""].map(String::from).into(),
            ..Stdio::default()
        });
        assert_eq!(words.to_string(), r#"sh -c 'echo it'\''s "so"' ''"#);
        // What a variable with a proxy without a scheme was filled in as.
        for (name, value) in [
            ("HTTPS_PROXY", "me:in-a-proxy@h:1"),
            ("ALL_PROXY", "//me:in-a-proxy@h"),
        ] {
            let secret = environment::secret_in(name, value).unwrap();
            let launch = Launch::Http(Http {
                url: "https://e.com/".into(),
                filled_in: vec![Secret::new(secret)],
                ..Http::default()
            });
            assert_eq!(redacted(&launch, "me in-a-proxy"), "me …", "{name}");
        }
        let line = Launch::Stdio(Stdio {
            command: "npx mcp-remote https://e.com/mcp --api-key in-the-line".into(),
            ..Stdio::default()
        });
        let expected = "npx mcp-remote https://e.com/mcp --api-key …";
        assert_eq!(line.to_string(), expected);
        assert_eq!(redacted(&line, "in-the-line"), "…");
        assert_eq!(line.without_arguments(), "npx");
        assert_eq!(Launch::Http(http).without_arguments(), "e.com");
        assert!(!format!("{stdio:?}").contains("in-an-argument"));
    }

    #[test]
    fn parts_of_a_path_with_digits_are_not_shown() {
        for (url, shown) in [
            ("https://e.com/s/hunter2hunter/mcp", "https://e.com/s/…/mcp"),
            ("https://e.com/k3j4h5g6f7d8s9a0/", "https://e.com/…/"),
            ("https://e.com/v2beta1/mcp", "https://e.com/v2beta1/mcp"),
            (
                "https://e.com/2025-11-25/mcp",
                "https://e.com/2025-11-25/mcp",
            ),
            ("https://e.com/projects/mcp", "https://e.com/projects/mcp"),
        ] {
            let http = Http {
                url: url.into(),
                ..Http::default()
            };
            let launch = Launch::Http(http);
            let said = redacted(&launch, &format!("`{url}` cannot be reached"));
            assert_eq!(said, format!("`{shown}` cannot be reached"));
        }
    }

    #[test]
    fn values_are_judged_by_their_names_first() {
        for (url, said, shown) in [
            ("http://e.com/?api_key=123456789012", "123456789012", "…"),
            ("http://e.com/?token=hunterhunter", "hunterhunter", "…"),
            ("http://e.com/?key=SECRETPW", "SECRETPW", "…"),
            ("http://e.com/?key=/abcdef/ghi", "/abcdef/ghi", "…"),
            ("http://e.com/x;pin=4711", "4711", "…"),
            (
                "http://e.com/?mode=http&n=12345",
                "http 12345",
                "http 12345",
            ),
            ("http://e.com/?q=a-value-1", "a-value-1", "…"),
        ] {
            let http = Http {
                url: url.into(),
                ..Http::default()
            };
            assert_eq!(redacted(&Launch::Http(http), said), shown, "{url}");
        }
        let headers = [
            ("X-MCP-Toolsets", "repos,issues"),
            ("X-MCP-Readonly", "true"),
            ("X-Access", "read"),
            ("Accept", "application/json, text/event-stream"),
            ("X-Api-Key", "letmein"),
            ("X-Tenant", "t-4f8a"),
        ];
        let http = Http {
            url: "http://e.com/".into(),
            headers: headers
                .map(|(name, value)| (name.to_owned(), Secret::new(value)))
                .into(),
            ..Http::default()
        };
        let said =
            "repos,issues true read-only application/json, text/event-stream: letmein t-4f8a";
        assert_eq!(
            redacted(&Launch::Http(http), said),
            "repos,issues true read-only application/json, text/event-stream: … …"
        );
    }
}
