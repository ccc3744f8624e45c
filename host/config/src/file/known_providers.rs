//! Providers of logins that users need not describe: their public endpoints.

use dormouse_launch::{OAuth, OAuthProvider};

/// A provider that is known.
struct KnownProvider {
    name: &'static str,
    endpoints: Endpoints,
    /// Parameters that its links need, so that tokens can be renewed.
    parameters: &'static [(&'static str, &'static str)],
}

/// Source of a provider's endpoints for logins.
enum Endpoints {
    /// In its issuer's metadata.
    Issuer(&'static str),
    /// Nowhere: the page to log in at, and the endpoint for tokens.
    Urls(&'static str, &'static str),
}

const KNOWN: &[KnownProvider] = &[
    // https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
    KnownProvider {
        name: "github",
        endpoints: Endpoints::Urls(
            "https://github.com/login/oauth/authorize",
            "https://github.com/login/oauth/access_token",
        ),
        parameters: &[],
    },
    // https://developers.google.com/identity/protocols/oauth2/native-app
    KnownProvider {
        name: "google",
        endpoints: Endpoints::Issuer("https://accounts.google.com"),
        parameters: &[("access_type", "offline"), ("prompt", "consent")],
    },
];

/// Returns the names of known providers.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|known| known.name)
}

/// Returns how one logs in at a known provider, but for the client; nothing of another one.
pub(super) fn oauth(name: &str) -> OAuth {
    let mut provider = OAuthProvider::default();
    let mut oauth = OAuth::default();
    if let Some(known) = KNOWN.iter().find(|known| known.name == name) {
        match known.endpoints {
            Endpoints::Issuer(issuer) => provider.issuer = Some(issuer.to_owned()),
            Endpoints::Urls(authorization, token) => {
                oauth.authorization_url = Some(authorization.to_owned());
                oauth.token_url = Some(token.to_owned());
            }
        }
        let parameters = known.parameters.iter();
        let parameters = parameters.map(|&(name, value)| (name.to_owned(), value.to_owned()));
        provider.parameters = parameters.collect();
    }
    oauth.provider = Some(Box::new(provider));
    oauth
}
