//! A login as it is kept, and what may be told of it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dormouse_launch::Secret;
use dormouse_launch::redaction::basic_credentials;
use oauth2::TokenResponse as _;
use rmcp::transport::auth::StoredCredentials;
use serde::{Deserialize, Serialize};

/// Seconds before its end from which on a token is no longer used: a request with it has to arrive
/// before that end. Less for one that lives only shortly.
const MARGIN: u64 = 30;

/// A user's login at one upstream.
#[derive(Clone, Serialize, Deserialize)]
pub(in crate::auth) struct Login {
    /// The upstream: nobody else gets the token.
    pub(in crate::auth) url: String,
    /// The `WWW-Authenticate` header that the login began with. It says where the
    /// authorization server is; without one the upstream is asked for it each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::auth) challenge: Option<String>,
    /// The secret that a registration has given to the client. One from the
    /// configuration is not kept here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::auth) client_secret: Option<String>,
    /// URL at which tokens are revoked, if the authorization server has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::auth) revocation: Option<String>,
    /// Endpoint that its tokens have come from: no other gets them for renewal, whatever the
    /// upstream says of its authorization server then. None in a login that an older version has
    /// kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::auth) token_endpoint: Option<String>,
    /// Tokens, client, scopes, issuer.
    pub(in crate::auth) credentials: StoredCredentials,
}

impl Login {
    /// Returns the access token.
    pub(in crate::auth) fn access(&self) -> Option<Secret> {
        let response = self.credentials.token_response.as_ref()?;
        Some(Secret::new(response.access_token().secret().clone()))
    }

    /// Returns the refresh token.
    pub(in crate::auth) fn refresh(&self) -> Option<Secret> {
        let response = self.credentials.token_response.as_ref()?;
        Some(Secret::new(response.refresh_token()?.secret().clone()))
    }

    /// Returns all parts of the login that must not be seen.
    pub(in crate::auth) fn secrets(&self) -> Vec<String> {
        let tokens = [self.access(), self.refresh()].into_iter().flatten();
        let mut secrets: Vec<_> = tokens.map(|token| token.expose().to_owned()).collect();
        if let Some(secret) = &self.client_secret {
            secrets.push(secret.clone());
            secrets.extend(basic_credentials(&self.credentials.client_id, secret));
        }
        secrets
    }

    /// Whether the access token has to be renewed before the next request.
    pub(in crate::auth) fn ends_soon(&self) -> bool {
        let lifetime = self.lifetime().unwrap_or_default();
        self.left()
            .is_some_and(|left| left < MARGIN.min(lifetime / 4).max(1))
    }

    /// Whether the access token is of no use any more.
    pub(in crate::auth) fn is_over(&self) -> bool {
        self.left() == Some(0)
    }

    /// Returns the seconds for which the access token is still valid, if its lifetime was said.
    fn left(&self) -> Option<u64> {
        self.about().left()
    }

    /// Returns what may be told of the login.
    pub(super) fn kept(&self) -> KeptLoginSummary {
        self.about().kept()
    }

    /// Returns what is no secret of it.
    pub(super) fn about(&self) -> LoginFacts {
        LoginFacts {
            of: Some(hash_of(&self.url)),
            received: self.credentials.token_received_at,
            lifetime: self.lifetime(),
            renews: self.refresh().is_some(),
        }
    }

    fn lifetime(&self) -> Option<u64> {
        let response = self.credentials.token_response.as_ref()?;
        Some(response.expires_in()?.as_secs())
    }
}

/// Facts of a login that are no secret, kept beside it for those who only want to know of it.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct LoginFacts {
    /// Hash of the URL that the login is for: a URL may have a secret in it.
    pub(super) of: Option<String>,
    /// Time at which the access token was received, in seconds of Unix time.
    received: Option<u64>,
    /// Time for which it was valid then, in seconds.
    lifetime: Option<u64>,
    /// Whether there is a refresh token.
    renews: bool,
}

impl LoginFacts {
    fn left(&self) -> Option<u64> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
        let end = self.received?.saturating_add(self.lifetime?);
        Some(end.saturating_sub(now))
    }

    pub(super) fn kept(&self) -> KeptLoginSummary {
        KeptLoginSummary {
            left: self.left().map(Duration::from_secs),
            renews: self.renews,
        }
    }
}

pub(super) fn hash_of(url: &str) -> String {
    blake3::hash(url.as_bytes()).to_hex().to_string()
}

/// Parts of a kept login that may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptLoginSummary {
    /// Time for which its token is still valid, if that was said; zero where it has ended.
    pub left: Option<Duration>,
    /// Whether the next call gets another token by itself.
    pub renews: bool,
}
