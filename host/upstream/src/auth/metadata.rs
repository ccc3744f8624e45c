//! Metadata of authorization servers.

mod confirmation;
mod fetch;
mod own_metadata;
mod provider_metadata;

use std::time::Duration;

use dormouse_egress::AddressKind;
use dormouse_launch::Http;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthorizationManager, AuthorizationMetadata, AuthorizationMetadataSource,
};

use confirmation::confirm;
use fetch::fetch_configured;
use provider_metadata::{of_endpoints, of_issuer, of_provider_endpoints};

use super::endpoints::endpoints;
use super::error_text::causes;
use super::reach::LoginReach;

/// Time that all requests before a login may take together. An upstream names the servers to ask,
/// and may name thousands.
const DISCOVERY: Duration = Duration::from_secs(60);

/// Returns the metadata of the authorization server: what the user has configured, else what it and
/// the upstream say. True where nobody has said anything, so that it is a guess (MCP of
/// 2025-03-26). The error is for people.
pub(super) async fn metadata(
    manager: &AuthorizationManager,
    http: &Http,
    reach: &LoginReach,
    challenge: Option<&str>,
) -> Result<(AuthorizationMetadata, bool), String> {
    let found = found(manager, http, reach, challenge);
    let found = tokio::time::timeout(DISCOVERY, found).await;
    let (metadata, is_guessed) = found.map_err(|_| {
        let seconds = DISCOVERY.as_secs();
        format!("it was not found within {seconds} s where to log in")
    })??;
    reach.check(&metadata)?;
    Ok((metadata, is_guessed))
}

/// Checks that nothing of a login at a server that is reached over TLS goes where everybody could
/// read along. The error is for people.
fn check_secure(http: &Http, metadata: &AuthorizationMetadata) -> Result<(), String> {
    if !Url::parse(&http.url).is_ok_and(|url| url.scheme() == "https") {
        return Ok(());
    }
    let page = Some(metadata.authorization_endpoint.as_str());
    let page = ("authorization_endpoint", page);
    let issuer = ("issuer", metadata.issuer.as_deref());
    for (name, url) in [issuer, page].into_iter().chain(endpoints(metadata)) {
        let url = url.and_then(|url| Url::parse(url).ok());
        let is_open =
            |url: &Url| url.scheme() == "http" && AddressKind::of_url(url) != AddressKind::Loopback;
        if let Some(url) = url.filter(is_open) {
            return Err(format!(
                "its `{name}` is at `http://{}`, where everybody could read along, and the server \
                 itself is reached over `https`",
                url.host_str().unwrap_or_default()
            ));
        }
    }
    Ok(())
}

async fn found(
    manager: &AuthorizationManager,
    http: &Http,
    reach: &LoginReach,
    challenge: Option<&str>,
) -> Result<(AuthorizationMetadata, bool), String> {
    let oauth = &http.oauth;
    if let Some(provider) = &oauth.provider {
        let metadata = match (&provider.issuer, of_provider_endpoints(oauth)) {
            (Some(issuer), _) => of_issuer(reach, issuer).await?,
            (None, Some(metadata)) => metadata,
            (None, None) => return Err("nobody has said where to log in".to_owned()),
        };
        check_secure(http, &metadata)?;
        return Ok((metadata, false));
    }
    if let Some(metadata) = of_endpoints(oauth) {
        return Ok((metadata, false));
    }
    if let Some(url) = &oauth.metadata_url {
        let metadata = fetch_configured(url).await;
        let metadata = metadata.map_err(|why| format!("`{url}` (`metadata_url`): {why}"))?;
        return Ok((metadata, false));
    }
    let resolution = manager
        .resolve_metadata_from_challenge(challenge)
        .await
        .map_err(|error| causes(&error))?;
    let guessed = resolution.source == AuthorizationMetadataSource::LegacyEndpointFallback;
    check_secure(http, &resolution.metadata)?;
    confirm(reach, &resolution.metadata).await?;
    Ok((resolution.metadata, guessed))
}

/// Returns the host, with its port, that the code of a login goes to, where its user logs in at
/// another one.
pub(super) fn host_elsewhere(metadata: &AuthorizationMetadata) -> Option<String> {
    let page = Url::parse(&metadata.authorization_endpoint).ok()?;
    let token = Url::parse(&metadata.token_endpoint).ok()?;
    let is_same = page.host() == token.host()
        && page.port_or_known_default() == token.port_or_known_default();
    if is_same {
        return None;
    }
    let host = token.host_str().unwrap_or_default();
    Some(match token.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

/// Returns the URL at which tokens are revoked: only one at the origin that they have come from,
/// whoever has written the metadata.
pub(super) fn revocation(metadata: &AuthorizationMetadata) -> Option<Url> {
    let endpoint = metadata.additional_fields.get("revocation_endpoint")?;
    let endpoint = Url::parse(endpoint.as_str()?).ok()?;
    let token = Url::parse(&metadata.token_endpoint).ok()?;
    (endpoint.origin() == token.origin()).then_some(endpoint)
}

/// Returns an issuer without the slash at its end, which some write and some do not.
fn without_slash(issuer: &str) -> &str {
    issuer.strip_suffix('/').unwrap_or(issuer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_else_gets_the_code_of_a_login_is_known() {
        for (page, token, elsewhere) in [
            (
                "https://a.example/authorize",
                "https://a.example:443/token",
                None,
            ),
            (
                "http://localhost:81/authorize",
                "http://localhost:81/token",
                None,
            ),
            (
                "http://localhost:81/authorize",
                "http://localhost:82/token",
                Some("localhost:82"),
            ),
            (
                "https://a.example/authorize",
                "https://b.example/token",
                Some("b.example"),
            ),
        ] {
            let mut metadata = AuthorizationMetadata::default();
            metadata.authorization_endpoint = page.to_owned();
            metadata.token_endpoint = token.to_owned();
            assert_eq!(
                host_elsewhere(&metadata).as_deref(),
                elsewhere,
                "{page} {token}"
            );
        }
    }

    #[test]
    fn a_login_is_as_safe_from_others_as_its_server() {
        for (server, endpoint, wrong) in [
            ("https://1.1.1.1/mcp", "https://8.8.8.8/token", ""),
            (
                "https://1.1.1.1/mcp",
                "http://8.8.8.8/token",
                "http://8.8.8.8",
            ),
            (
                "https://1.1.1.1/mcp",
                "http://a.example/token",
                "http://a.example",
            ),
            ("https://1.1.1.1/mcp", "http://localhost:9/token", ""),
            ("http://1.1.1.1/mcp", "http://8.8.8.8/token", ""),
        ] {
            let http = Http {
                url: server.to_owned(),
                ..Http::default()
            };
            let mut page = AuthorizationMetadata::default();
            page.authorization_endpoint = endpoint.to_owned();
            page.token_endpoint = "https://8.8.8.8/token".to_owned();
            let mut token = page.clone();
            token.authorization_endpoint = page.token_endpoint.clone();
            token.token_endpoint = endpoint.to_owned();
            for metadata in [page, token] {
                let told = check_secure(&http, &metadata).err().unwrap_or_default();
                assert_eq!(
                    told.is_empty(),
                    wrong.is_empty(),
                    "{server} {endpoint}: {told}"
                );
                assert!(told.contains(wrong), "{told}");
            }
        }
    }
}
