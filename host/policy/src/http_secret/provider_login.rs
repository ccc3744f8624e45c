//! Logins at a provider, whose access tokens are the texts of secrets.

use dormouse_launch::OAuth;

use super::SecretSource;

/// A login of a plugin's user at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderLogin {
    /// Name of the provider in the configuration.
    pub provider: String,
    /// Provider where the user logs in, as which client and for what. Without the client's secret.
    pub oauth: OAuth,
    /// Source of the client's secret, where it has one: none that needs a login itself.
    pub client_secret: Option<SecretSource>,
}

impl ProviderLogin {
    /// Returns the URL by which people know the provider: its issuer, or the page to log in at.
    #[must_use]
    pub fn url(&self) -> &str {
        let provider = self.oauth.provider.as_ref();
        let issuer = provider.and_then(|provider| provider.issuer.as_deref());
        let page = self.oauth.authorization_url.as_deref();
        issuer.or(page).unwrap_or_default()
    }
}
