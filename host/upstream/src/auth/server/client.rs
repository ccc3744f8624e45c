//! The client that Dormouse is to an authorization server.

use dormouse_launch::OAuth;
use rmcp::transport::auth::{AuthorizationMetadata, OAuthClientConfig};

use crate::auth::store::Login;

/// Returns the client that Dormouse is, where it need not register.
pub(super) fn configured(
    oauth: &OAuth,
    metadata: &AuthorizationMetadata,
    redirect: &str,
) -> Option<OAuthClientConfig> {
    if let Some(id) = &oauth.client_id {
        let client = OAuthClientConfig::new(id, redirect);
        return Some(match &oauth.client_secret {
            Some(secret) => client.with_client_secret(secret.expose()),
            None => client,
        });
    }
    // A document about a client is only for those who read such documents.
    let reads = metadata
        .additional_fields
        .get("client_id_metadata_document_supported");
    let reads = reads.and_then(serde_json::Value::as_bool).unwrap_or(false);
    let document = oauth.client_metadata_url.as_ref().filter(|_| reads)?;
    Some(OAuthClientConfig::new(document, redirect))
}

/// Returns the secret of the client that has logged in. One from the configuration is for the
/// client that is configured, and for no other.
pub(super) fn secret(oauth: &OAuth, login: &Login) -> Option<String> {
    if let Some(registered) = &login.client_secret {
        return Some(registered.clone());
    }
    let ours = oauth.client_id.as_ref() == Some(&login.credentials.client_id);
    let secret = oauth.client_secret.as_ref().filter(|_| ours)?;
    Some(secret.expose().to_owned())
}
