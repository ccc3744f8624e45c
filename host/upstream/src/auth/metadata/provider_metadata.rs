//! Metadata of providers that their user has named.

use dormouse_launch::OAuth;
use reqwest::Url;
use rmcp::transport::auth::AuthorizationMetadata;
use serde_json::json;

use super::own_metadata::of_itself;
use super::without_slash;
use crate::auth::reach::LoginReach;

/// Member of metadata that says how a client shows its secret.
const METHODS: &str = "token_endpoint_auth_methods_supported";

/// Returns the metadata of an issuer: what it says of itself. What names another issuer may have been
/// copied there by anybody, and is not used. The error is for people.
pub(super) async fn of_issuer(
    reach: &LoginReach,
    issuer: &str,
) -> Result<AuthorizationMetadata, String> {
    let url = Url::parse(issuer).map_err(|error| format!("its issuer is no URL: {error}"))?;
    let own = of_itself(reach, &url).await;
    let mut others = Vec::new();
    for metadata in own.found {
        match &metadata.issuer {
            Some(named) if without_slash(named) == without_slash(issuer) => return Ok(metadata),
            Some(named) => others.push(format!("`{named}`")),
            None => others.push("nobody".to_owned()),
        }
    }
    Err(match (others.first(), own.unknown) {
        (Some(other), _) => format!(
            "the metadata at `{issuer}` are of the issuer {other}, so nothing is sent to the hosts \
             that they name"
        ),
        (None, Some(why)) => format!("the metadata of `{issuer}` cannot be had: {why}"),
        (None, None) => format!(
            "`{issuer}` has no metadata\n\
             hint: name its `authorization_url` and `token_url` instead of `issuer`"
        ),
    })
}

/// Returns the metadata of a provider whose endpoints its user has named. A client's secret stands in
/// the form then, which all take; not all take it in a header.
pub(super) fn of_provider_endpoints(oauth: &OAuth) -> Option<AuthorizationMetadata> {
    let mut metadata = of_endpoints(oauth)?;
    let methods = json!(["client_secret_post"]);
    metadata
        .additional_fields
        .insert(METHODS.to_owned(), methods);
    Some(metadata)
}

/// Returns the metadata that consist of the endpoints that a user has named, where both are.
pub(super) fn of_endpoints(oauth: &OAuth) -> Option<AuthorizationMetadata> {
    let mut metadata = AuthorizationMetadata::default();
    metadata
        .authorization_endpoint
        .clone_from(oauth.authorization_url.as_ref()?);
    metadata
        .token_endpoint
        .clone_from(oauth.token_url.as_ref()?);
    Some(metadata)
}
