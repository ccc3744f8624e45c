//! What is known of an authorization server.

use std::time::Duration;

use reqwest::{StatusCode, Url};
use rmcp::transport::auth::{
    AuthorizationManager, AuthorizationMetadata, AuthorizationMetadataSource,
};

use super::reach::LoginReach;
use super::server::causes;
use crate::upstream::Http;
use crate::upstream::http::{Reach, client};

/// How long the metadata of an authorization server may take to come.
const FETCH: Duration = Duration::from_secs(30);

/// How large that metadata may be, in bytes.
const LARGEST: usize = 1 << 20;

/// What is known of the authorization server: what the user has said of it, else what
/// it and the upstream say. True where nobody has said anything, so that it is a guess
/// (MCP of 2025-03-26). The error is for people.
pub(super) async fn metadata(
    manager: &AuthorizationManager,
    http: &Http,
    reach: &LoginReach,
    challenge: Option<&str>,
) -> Result<(AuthorizationMetadata, bool), String> {
    let (metadata, is_guessed) = found(manager, http, challenge).await?;
    reach.check(&metadata)?;
    Ok((metadata, is_guessed))
}

async fn found(
    manager: &AuthorizationManager,
    http: &Http,
    challenge: Option<&str>,
) -> Result<(AuthorizationMetadata, bool), String> {
    let oauth = &http.oauth;
    if let (Some(authorization), Some(token)) = (&oauth.authorization_url, &oauth.token_url) {
        let mut metadata = AuthorizationMetadata::default();
        metadata.authorization_endpoint.clone_from(authorization);
        metadata.token_endpoint.clone_from(token);
        return Ok((metadata, false));
    }
    if let Some(url) = &oauth.metadata_url {
        let metadata = fetch(url).await;
        let metadata = metadata.map_err(|why| format!("`{url}` (`metadata_url`): {why}"))?;
        return Ok((metadata, false));
    }
    let resolution = manager
        .resolve_metadata_from_challenge(challenge)
        .await
        .map_err(|error| causes(&error))?;
    let guessed = resolution.source == AuthorizationMetadataSource::LegacyEndpointFallback;
    Ok((resolution.metadata, guessed))
}

/// The metadata at a URL that the user has named. Redirects are not followed: who is
/// at their end has not been named.
async fn fetch(url: &str) -> Result<AuthorizationMetadata, String> {
    let url = Url::parse(url).map_err(|error| error.to_string())?;
    // Its user has named it.
    let request = client(&url, Reach::Configured)
        .map_err(|lost| lost.to_string())?
        .get(url)
        .header("accept", "application/json")
        .timeout(FETCH);
    let mut response = request.send().await.map_err(|error| causes(&error))?;
    if response.status() != StatusCode::OK {
        return Err(format!("the answer is HTTP {}", response.status()));
    }
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| causes(&error))? {
        if body.len() + part.len() > LARGEST {
            return Err(format!("the answer is larger than {} KiB", LARGEST >> 10));
        }
        body.extend_from_slice(&part);
    }
    serde_json::from_slice(&body)
        .map_err(|error| format!("this is no metadata of an authorization server: {error}"))
}

/// Where tokens are given back. Not without TLS, unless they have come from there.
pub(super) fn revocation(metadata: &AuthorizationMetadata) -> Option<Url> {
    let endpoint = metadata.additional_fields.get("revocation_endpoint")?;
    let endpoint = Url::parse(endpoint.as_str()?).ok()?;
    let token = Url::parse(&metadata.token_endpoint).ok()?;
    (endpoint.scheme() == "https" || endpoint.origin() == token.origin()).then_some(endpoint)
}
