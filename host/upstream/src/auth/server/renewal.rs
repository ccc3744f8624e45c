//! Renewal of tokens.

use dormouse_launch::Http;
use rmcp::transport::auth::{
    AuthError, CredentialStore as _, InMemoryCredentialStore, OAuthClientConfig,
};

use super::bearer_token::unusable;
use super::client::secret;
use super::manager::manager;
use crate::auth::LoginFailure;
use crate::auth::error_text::{causes, shown, without_quoted_value};
use crate::auth::metadata::metadata;
use crate::auth::reach::LoginReach;
use crate::auth::store::Login;
use crate::server_secrets::ServerSecrets;

/// Returns a login with new tokens; `None` where the authorization server gives none, or is no
/// longer the one that gave the old ones.
pub(in crate::auth) async fn refresh(
    http: &Http,
    secrets: &ServerSecrets,
    login: &Login,
) -> Result<Option<Login>, LoginFailure> {
    let failure = |error: &AuthError| LoginFailure::Refresh {
        url: http.shown(),
        why: shown(secrets, &without_quoted_value(causes(error))),
    };
    let memory = InMemoryCredentialStore::new();
    let kept = login.credentials.clone();
    let mut client = OAuthClientConfig::new(kept.client_id.clone(), http.url.clone());
    let issuer = kept.issuer.clone();
    memory.save(kept).await.map_err(|error| failure(&error))?;

    let reach = LoginReach::of(http, issuer.as_deref()).await;
    let mut manager = manager(http, secrets, &reach, &memory).await?;
    let (metadata, _) = metadata(&manager, http, &reach, login.challenge.as_deref())
        .await
        .map_err(|why| LoginFailure::Refresh {
            url: http.shown(),
            why: shown(secrets, &why),
        })?;
    let token_endpoint = metadata.token_endpoint.clone();
    // Logins that earlier versions have kept do not say who gave them; their next tokens do.
    let is_moved = |kept: &String| *kept != token_endpoint;
    if metadata.issuer != issuer || login.token_endpoint.as_ref().is_some_and(is_moved) {
        // Else an upstream could have its users' tokens sent to whom it likes.
        tracing::warn!(
            "`{}` has another authorization server than when you logged in there, so you have to log in again",
            http.shown()
        );
        return Ok(None);
    }
    manager.set_metadata(metadata);
    if let Some(secret) = secret(&http.oauth, login) {
        client = client.with_client_secret(secret);
    }
    manager
        .configure_client(client)
        .map_err(|error| failure(&error))?;
    match manager.refresh_token().await {
        Ok(_) => {}
        Err(AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired) => {
            return Ok(None);
        }
        Err(error) => return Err(failure(&error)),
    }
    let credentials = memory.load().await.map_err(|error| failure(&error))?;
    if let Some(why) = credentials.as_ref().and_then(unusable) {
        return Err(LoginFailure::Refresh {
            url: http.shown(),
            why: why.to_owned(),
        });
    }
    Ok(credentials.map(|credentials| Login {
        credentials,
        token_endpoint: Some(token_endpoint),
        ..login.clone()
    }))
}
