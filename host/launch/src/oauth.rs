//! OAuth settings of an upstream, as plain data.

use std::collections::BTreeMap;

use dormouse_text::server_url;

use super::here::is_here;
use super::redirect::Redirect;
use super::secret::Secret;

/// Arrangements of a user with an authorization server, and replacements for metadata of its own
/// that is not to be believed. None is needed where a server announces its authorization server,
/// and that one lets anybody register.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OAuth {
    /// Whether nobody is to log in: a request that is refused stays refused.
    pub off: bool,
    /// Id of the client that Dormouse is registered as.
    pub client_id: Option<String>,
    /// The secret of that client, if it has one.
    pub client_secret: Option<Secret>,
    /// The `https` URL of a document about the client, which is its id wherever such
    /// documents are read (`client_id_metadata_document_supported`).
    pub client_metadata_url: Option<String>,
    /// Scopes to ask for, instead of those that the server names.
    pub scopes: Vec<String>,
    /// Redirect URI, if the client is registered for that alone: a URL of this machine. Without a
    /// port, any port will do.
    pub redirect_uri: Option<String>,
    /// The metadata of the authorization server (RFC 8414), instead of what the
    /// server announces.
    pub metadata_url: Option<String>,
    /// The page to log in at, for an authorization server without metadata.
    pub authorization_url: Option<String>,
    /// Token endpoint of that authorization server.
    pub token_url: Option<String>,
    /// Whether the authorization server may be in a private network, though the server is not.
    pub private_network: bool,
    /// The provider, where the login is at one that its user has named, for requests to services
    /// that are no MCP servers.
    pub provider: Option<Box<OAuthProvider>>,
}

/// A provider of logins, as its user has named it: an authorization server that no MCP server
/// announces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OAuthProvider {
    /// Its issuer, whose metadata (RFC 8414, OpenID Connect Discovery) say the rest.
    pub issuer: Option<String>,
    /// More parameters of the link that its users follow, as `access_type=offline`.
    pub parameters: BTreeMap<String, String>,
    /// Owner of the login: nobody else has its tokens.
    pub owner: String,
}

/// Mistake in an [`OAuth`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` {why}")]
pub struct OAuthMistake {
    /// The key, as `dormouse.toml` calls it.
    pub key: &'static str,
    /// Rest of the message, behind the key. Never has a secret in it.
    pub why: String,
}

/// Parameters of the link that a login sets itself, or that would make it another login.
const LOGIN_PARAMETERS: [&str; 11] = [
    "client_id",
    "code_challenge",
    "code_challenge_method",
    "redirect_uri",
    "request",
    "request_uri",
    "resource",
    "response_mode",
    "response_type",
    "scope",
    "state",
];

/// Key of the redirect URI, which belongs to a registration at an authorization server, and so has
/// no meaning for the server itself.
const LOCAL: &str = "redirect_uri";

impl OAuth {
    /// Returns the redirect URI that most clients mean by a port.
    #[must_use]
    pub fn callback(port: u16) -> String {
        format!("http://localhost:{port}/callback")
    }

    /// Returns all texts but the scopes, by the names that they have in `dormouse.toml`.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let secret = self.client_secret.as_ref().map(Secret::expose);
        [
            ("client_id", self.client_id.as_deref()),
            ("client_secret", secret),
            ("client_metadata_url", self.client_metadata_url.as_deref()),
            (LOCAL, self.redirect_uri.as_deref()),
            ("metadata_url", self.metadata_url.as_deref()),
            ("authorization_url", self.authorization_url.as_deref()),
            ("token_url", self.token_url.as_deref()),
        ]
        .into_iter()
        .filter_map(|(key, text)| Some((key, text?)))
    }

    /// Returns the texts that make the login another one: all but the redirect URI.
    pub fn identity(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let scopes = self.scopes.iter().map(|scope| ("scopes", scope.as_str()));
        self.texts().filter(|(key, _)| *key != LOCAL).chain(scopes)
    }

    /// Returns a copy with each text changed by `change`, which gets the text and its key. Texts
    /// that become empty are left out; a scope may become several.
    #[must_use]
    pub fn map(&self, change: &mut dyn FnMut(&str, &str) -> String) -> Self {
        let mut text = |key: &str, text: &Option<String>| {
            let text = change(text.as_deref()?, key);
            (!text.is_empty()).then_some(text)
        };
        let secret = self.client_secret.as_ref();
        let secret = secret.map(|secret| secret.expose().to_owned());
        let mut mapped = Self {
            off: self.off,
            client_id: text("client_id", &self.client_id),
            client_secret: text("client_secret", &secret).map(Secret::new),
            client_metadata_url: text("client_metadata_url", &self.client_metadata_url),
            scopes: Vec::new(),
            redirect_uri: text(LOCAL, &self.redirect_uri),
            metadata_url: text("metadata_url", &self.metadata_url),
            authorization_url: text("authorization_url", &self.authorization_url),
            token_url: text("token_url", &self.token_url),
            private_network: self.private_network,
            provider: self.provider.clone(),
        };
        for scope in &self.scopes {
            let scopes = change(scope, "scopes");
            let scopes = scopes.split_whitespace().map(str::to_owned);
            mapped.scopes.extend(scopes);
        }
        mapped
    }

    /// Checks that a login can be begun, every variable expanded.
    ///
    /// # Errors
    /// A login cannot be begun; the error is the first reason.
    pub fn check(&self) -> Result<(), OAuthMistake> {
        let wrong = |key, why: &str| {
            Err(OAuthMistake {
                key,
                why: why.to_owned(),
            })
        };
        if self.client_secret.is_some() && self.client_id.is_none() {
            return wrong(
                "client_secret",
                "is a client's, and there is no `client_id`",
            );
        }
        if let Some(url) = &self.client_metadata_url {
            let url = server_url::parse(url).ok();
            let fit = url.is_some_and(|url| url.scheme() == "https" && url.path() != "/");
            if !fit {
                return wrong(
                    "client_metadata_url",
                    "has to be an `https` URL with a path, as it is a client's id",
                );
            }
        }
        match (&self.authorization_url, &self.token_url) {
            (Some(_), None) => return wrong("authorization_url", "needs a `token_url`"),
            (None, Some(_)) => return wrong("token_url", "needs an `authorization_url`"),
            (Some(_), Some(_)) if self.metadata_url.is_some() => {
                return wrong(
                    "metadata_url",
                    "says what `authorization_url` and `token_url` say, too: keep one of them",
                );
            }
            _ => {}
        }
        let provider = self.provider.as_ref();
        if let Some(name) = provider
            .iter()
            .flat_map(|provider| provider.parameters.keys())
            .find(|name| LOGIN_PARAMETERS.contains(&name.as_str()))
        {
            return wrong(
                "parameters",
                &format!("cannot have `{name}`, which each login sets itself"),
            );
        }
        let issuer = provider.and_then(|provider| provider.issuer.clone());
        for (key, url) in [
            ("issuer", &issuer),
            ("metadata_url", &self.metadata_url),
            ("authorization_url", &self.authorization_url),
            ("token_url", &self.token_url),
        ] {
            if let Some(url) = url
                && !is_secure(url)
            {
                return wrong(key, "has to be an `https` URL");
            }
        }
        if let Some(uri) = &self.redirect_uri
            && let Err(why) = Redirect::parse(uri)
        {
            return wrong(LOCAL, why);
        }
        Ok(())
    }
}

/// Whether nobody on the way can read or change what goes to a URL.
fn is_secure(url: &str) -> bool {
    let url = server_url::parse(url).ok();
    url.is_some_and(|url| match url.scheme() {
        "https" => true,
        "http" => is_here(&url),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oauth(change: impl FnOnce(&mut OAuth)) -> OAuth {
        let mut oauth = OAuth::default();
        change(&mut oauth);
        oauth
    }

    fn provider(issuer: &str, parameter: &str) -> OAuth {
        oauth(|it| {
            it.provider = Some(Box::new(OAuthProvider {
                issuer: Some(issuer.to_owned()),
                parameters: [(parameter.to_owned(), "x".to_owned())].into(),
                ..OAuthProvider::default()
            }));
        })
    }

    #[test]
    fn what_no_login_can_begin_with_is_told() {
        let text = |text: &str| Some(text.to_owned());
        for (oauth, wrong) in [
            (oauth(|_| {}), ""),
            (
                oauth(|it| it.client_secret = Some(Secret::new("hush"))),
                "`client_secret` is a client's, and there is no `client_id`",
            ),
            (
                oauth(|it| it.client_metadata_url = text("http://x/client.json")),
                "`client_metadata_url` has to be an `https` URL with a path, as it is a client's id",
            ),
            (
                oauth(|it| it.client_metadata_url = text("https://x")),
                "`client_metadata_url` has to be an `https` URL with a path, as it is a client's id",
            ),
            (
                oauth(|it| it.client_metadata_url = text("https://x/client.json")),
                "",
            ),
            (
                oauth(|it| it.token_url = text("https://x/token")),
                "`token_url` needs an `authorization_url`",
            ),
            (
                oauth(|it| it.metadata_url = text("http://x/m")),
                "`metadata_url` has to be an `https` URL",
            ),
            (
                oauth(|it| it.metadata_url = text("http://127.0.0.1:9/m")),
                "",
            ),
            (
                oauth(|it| it.metadata_url = text(r"https://x\@y/m")),
                "`metadata_url` has to be an `https` URL",
            ),
            (
                provider("http://login.example", "prompt"),
                "`issuer` has to be an `https` URL",
            ),
            (
                provider("https://login.example", "state"),
                "`parameters` cannot have `state`, which each login sets itself",
            ),
            (provider("https://login.example", "prompt"), ""),
            (
                oauth(|it| it.metadata_url = text("file:///etc/passwd")),
                "`metadata_url` has to be an `https` URL",
            ),
        ] {
            let told = oauth.check().err().map(|wrong| wrong.to_string());
            assert_eq!(told.unwrap_or_default(), wrong, "{oauth:?}");
        }
    }

    #[test]
    fn a_secret_is_never_shown() {
        let oauth = oauth(|it| it.client_secret = Some(Secret::new("hush")));
        assert!(!format!("{oauth:?}").contains("hush"));
    }

    #[test]
    fn texts_are_changed_one_by_one() {
        let oauth = oauth(|it| {
            it.client_id = Some("$ID".into());
            it.client_secret = Some(Secret::new("$EMPTY"));
            it.scopes = vec!["$SCOPES".into(), "c".into()];
            it.token_url = Some("t".into());
        });
        let mut keys = Vec::new();
        let mapped = oauth.map(&mut |text, key| {
            keys.push(key.to_owned());
            match text {
                "$ID" => "mine",
                "$EMPTY" => "",
                "$SCOPES" => "a b",
                other => other,
            }
            .to_owned()
        });
        assert_eq!(mapped.client_id.as_deref(), Some("mine"));
        assert_eq!(mapped.client_secret, None);
        assert_eq!(mapped.scopes, ["a", "b", "c"]);
        assert_eq!(
            keys,
            [
                "client_id",
                "client_secret",
                "token_url",
                "scopes",
                "scopes"
            ]
        );
    }
}
