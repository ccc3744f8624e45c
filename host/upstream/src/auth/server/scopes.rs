//! Scopes that a login asks for.

use std::collections::HashSet;

use dormouse_launch::Http;
use rmcp::transport::auth::{AuthorizationManager, AuthorizationMetadata, WWWAuthenticateParams};

use crate::auth::LoginFailure;

/// The scope that brings a refresh token, where there is one (OpenID Connect).
const OFFLINE: &str = "offline_access";

/// Returns the scopes to ask for. Where the upstream wants more than the user has allowed, these
/// are both: the allowed ones would be lost otherwise (SEP-2350).
pub(super) async fn scopes(
    manager: &AuthorizationManager,
    metadata: &AuthorizationMetadata,
    http: &Http,
    challenge: Option<&str>,
    granted: &[String],
) -> Result<Vec<String>, LoginFailure> {
    let base = http.url.parse().map_err(|_| LoginFailure::Discovery {
        url: http.shown(),
        why: "it is no URL".into(),
    })?;
    let challenge = challenge.map(|header| WWWAuthenticateParams::parse(header, &base));
    let more = challenge
        .clone()
        .filter(WWWAuthenticateParams::is_insufficient_scope);
    let mut scopes = match (&http.oauth.scopes, &more) {
        (configured, _) if !configured.is_empty() => configured.clone(),
        (_, Some(_)) => Vec::new(),
        (_, None) => {
            // Where the authorization server is not found by the challenge, nobody
            // else has looked into it.
            let wanted = challenge
                .as_ref()
                .and_then(|params| params.scope.as_deref());
            let wanted: Vec<&str> = wanted.unwrap_or_default().split_whitespace().collect();
            manager.select_initial_scopes(&wanted).await
        }
    };
    if let Some(more) = more {
        let wanted = more.scope.unwrap_or_default();
        scopes.extend(granted.iter().cloned());
        scopes.extend(wanted.split_whitespace().map(str::to_owned));
    }
    let offered = metadata.scopes_supported.as_deref().unwrap_or_default();
    if !scopes.is_empty() && offered.iter().any(|scope| scope == OFFLINE) {
        scopes.push(OFFLINE.to_owned());
    }
    let mut seen = HashSet::new();
    scopes.retain(|scope| seen.insert(scope.clone()));
    Ok(scopes)
}
