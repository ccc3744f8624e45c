//! rmcp's manager of a login, which speaks the protocol.

use std::sync::Arc;

use dormouse_launch::Http;
use rmcp::transport::auth::{AuthError, AuthorizationManager, InMemoryCredentialStore};

use super::provider_requests::ProviderClient;
use crate::auth::LoginFailure;
use crate::auth::error_text::{causes, shown};
use crate::auth::reach::LoginReach;
use crate::server_secrets::ServerSecrets;

/// Returns a manager that asks within reach, and leaves tokens in `memory`.
///
/// # Errors
/// There is no client for these requests, or the upstream's URL is not valid.
pub(super) async fn manager(
    http: &Http,
    secrets: &ServerSecrets,
    reach: &LoginReach,
    memory: &InMemoryCredentialStore,
) -> Result<AuthorizationManager, LoginFailure> {
    let url = http.url.as_str();
    // Where names lead is judged by this client, and which addresses documents may name by
    // rmcp and by `LoginReach::check`.
    let client = reach.client().map_err(|lost| LoginFailure::Discovery {
        url: http.shown(),
        why: shown(secrets, &lost.to_string()),
    })?;
    if http.oauth.provider.is_some() {
        let client = Arc::new(ProviderClient(client));
        let manager = AuthorizationManager::new_with_oauth_http_client(url, client).await;
        let mut manager = manager.map_err(|error| discovery(http, secrets, &error))?;
        manager.set_credential_store(memory.clone());
        return Ok(manager);
    }
    let manager = match reach.allows_private() {
        true => AuthorizationManager::new_allowing_private_addresses(url).await,
        false => AuthorizationManager::new(url).await,
    };
    let mut manager = manager.map_err(|error| discovery(http, secrets, &error))?;
    manager
        .with_client(client)
        .map_err(|error| discovery(http, secrets, &error))?;
    manager.set_credential_store(memory.clone());
    Ok(manager)
}

/// Returns the failure of a login that cannot be begun because of this error.
pub(super) fn discovery(http: &Http, secrets: &ServerSecrets, error: &AuthError) -> LoginFailure {
    LoginFailure::Discovery {
        url: http.shown(),
        why: shown(secrets, &causes(error)),
    }
}
