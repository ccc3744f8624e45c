//! Revocation of tokens (RFC 7009).

use std::time::Duration;

use dormouse_launch::Http;
use reqwest::Url;

use super::client::secret;
use crate::auth::error_text::{causes, shown};
use crate::auth::reach::LoginReach;
use crate::auth::store::Login;
use crate::server_secrets::ServerSecrets;

/// Time that an authorization server may take to revoke tokens.
const REVOKE: Duration = Duration::from_secs(10);

/// Revokes a login's tokens (RFC 7009), where the authorization server does that. The error is for
/// people.
pub(in crate::auth) async fn revoke(
    http: &Http,
    secrets: &ServerSecrets,
    login: &Login,
) -> Result<(), String> {
    let Some(endpoint) = &login.revocation else {
        return Ok(());
    };
    // With the token for new tokens all others end; without one there is one token.
    let (token, kind) = match (login.refresh(), login.access()) {
        (Some(refresh), _) => (refresh, "refresh_token"),
        (None, Some(access)) => (access, "access_token"),
        (None, None) => return Ok(()),
    };
    let mut endpoint = Url::parse(endpoint).map_err(|error| error.to_string())?;
    // Earlier versions have kept whatever an upstream has named, and not who gave them.
    let gave = login.token_endpoint.as_deref();
    let gave = gave.and_then(|gave| Url::parse(gave).ok());
    if gave.is_none_or(|gave| gave.origin() != endpoint.origin()) {
        let host = endpoint.host_str().unwrap_or_default();
        return Err(format!(
            "`{host}` would have them, which has not given them"
        ));
    }
    let secret = secret(&http.oauth, login);
    let mut form = endpoint.clone();
    form.set_query(None);
    form.query_pairs_mut()
        .append_pair("token", token.expose())
        .append_pair("token_type_hint", kind)
        .append_pair("client_id", &login.credentials.client_id)
        // An empty one is none (RFC 6749, section 3.2), and servers that are made
        // with MCP's own Python SDK insist on the parameter.
        .append_pair("client_secret", secret.as_deref().unwrap_or_default());
    let body = form.query().unwrap_or_default().to_owned();
    endpoint.set_fragment(None);
    let reach = LoginReach::of(http, login.credentials.issuer.as_deref()).await;
    if !reach.allows_url(&endpoint) {
        return Err("it would have them where this server's logins may not lead".to_owned());
    }
    let client = reach
        .client()
        .map_err(|lost| shown(secrets, &lost.to_string()))?;
    let request = client
        .post(endpoint)
        .timeout(REVOKE)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(body)
        .build()
        .map_err(|error| shown(secrets, &causes(&error)))?;
    let response = client
        .execute(request)
        .await
        .map_err(|error| shown(secrets, &causes(&error)))?;
    match response.status() {
        status if status.is_success() => Ok(()),
        status => Err(format!("the authorization server says HTTP {status}")),
    }
}
