//! What an authorization server is asked, through rmcp.

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, AuthorizationMetadataSource,
    CredentialStore as _, InMemoryCredentialStore, OAuthClientConfig, WWWAuthenticateParams,
};

use super::Failure;
use super::store::Login;
use crate::upstream::http::{choose_cryptography, client};
use crate::upstream::{Http, OAuth};

/// What Dormouse calls itself where it registers.
const NAME: &str = "Dormouse";

/// The scope that brings a refresh token, where there is one (OpenID Connect).
const OFFLINE: &str = "offline_access";

/// How long an authorization server may take to take tokens back.
const REVOKE: std::time::Duration = std::time::Duration::from_secs(10);

/// One login, from its link to its tokens.
pub(super) struct Attempt {
    manager: AuthorizationManager,
    /// Where rmcp leaves the tokens: what goes to the disk, and when, is not its
    /// to decide.
    memory: InMemoryCredentialStore,
    url: String,
    challenge: Option<String>,
    registered_secret: Option<String>,
    revocation: Option<String>,
    /// The link that the user has to follow.
    pub(super) link: String,
    /// What the redirect has to bring with it.
    pub(super) state: String,
}

impl Attempt {
    /// Finds out where to log in, as whom and for what. Asks the upstream and its
    /// authorization server, and registers with that one where it has to.
    ///
    /// `granted` is what the user has already allowed.
    pub(super) async fn begin(
        http: &Http,
        challenge: Option<&str>,
        granted: &[String],
        redirect: &str,
    ) -> Result<Self, Failure> {
        let url = &http.url;
        let memory = InMemoryCredentialStore::new();
        let mut manager = manager(url, &memory).await?;
        let resolution = manager
            .resolve_metadata_from_challenge(challenge)
            .await
            .map_err(|error| discovery(url, &error))?;
        // Without metadata the endpoints are guesses (MCP of 2025-03-26).
        let guessed = resolution.source == AuthorizationMetadataSource::LegacyEndpointFallback;
        let metadata = resolution.metadata;
        manager.set_metadata(metadata.clone());

        let scopes = scopes(&manager, &metadata, http, challenge, granted).await?;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let registered_secret = match configured(&http.oauth, &metadata, redirect)? {
            Some(client) => {
                manager
                    .configure_client(client)
                    .map_err(|error| discovery(url, &error))?;
                None
            }
            None => {
                manager
                    .register_client(NAME, redirect, &scopes)
                    .await
                    .map_err(|error| unregistered(url, guessed, &error))?
                    .client_secret
            }
        };
        let link = manager
            .get_authorization_url(&scopes)
            .await
            .map_err(|error| discovery(url, &error))?;
        let state = state(&link).ok_or_else(|| Failure::Discovery {
            url: url.clone(),
            why: format!("the link `{link}` is none"),
        })?;
        Ok(Self {
            manager,
            memory,
            url: url.clone(),
            challenge: challenge.map(str::to_owned),
            registered_secret,
            revocation: revocation(&metadata),
            link,
            state,
        })
    }

    /// Exchanges the code of the redirect. `None` where the redirect is not from
    /// the authorization server that the user was sent to (RFC 9207): the real one
    /// may still come.
    pub(super) async fn exchange(
        &self,
        code: &str,
        issuer: Option<&str>,
    ) -> Option<Result<Login, Failure>> {
        let exchanged = self
            .manager
            .exchange_code_for_token_with_issuer(code, &self.state, issuer)
            .await;
        let failure = |why: String| Failure::Exchange {
            url: self.url.clone(),
            why,
        };
        match exchanged {
            Ok(_) => {}
            Err(
                AuthError::AuthorizationServerMismatch { .. }
                | AuthError::AuthorizationServerMissingIssuer { .. },
            ) => return None,
            Err(error) => return Some(Err(failure(causes(&error)))),
        }
        Some(match self.memory.load().await {
            Ok(Some(credentials)) => Ok(Login {
                url: self.url.clone(),
                challenge: self.challenge.clone(),
                client_secret: self.registered_secret.clone(),
                revocation: self.revocation.clone(),
                credentials,
            }),
            _ => Err(failure("there is no token in the answer".into())),
        })
    }
}

/// A login with new tokens; `None` where the authorization server gives none, or
/// is no longer the one that gave the old ones.
pub(super) async fn refresh(http: &Http, login: &Login) -> Result<Option<Login>, Failure> {
    let failure = |error: &AuthError| Failure::Refresh {
        url: http.url.clone(),
        why: causes(error),
    };
    let memory = InMemoryCredentialStore::new();
    let kept = login.credentials.clone();
    let mut client = OAuthClientConfig::new(kept.client_id.clone(), http.url.clone());
    let issuer = kept.issuer.clone();
    memory.save(kept).await.map_err(|error| failure(&error))?;

    let mut manager = manager(&http.url, &memory).await?;
    let metadata = manager
        .resolve_metadata_from_challenge(login.challenge.as_deref())
        .await
        .map_err(|error| failure(&error))?
        .metadata;
    if metadata.issuer != issuer {
        // Else an upstream could have its users' tokens sent to whom it likes.
        tracing::warn!(
            "`{}` has another authorization server than when you logged in there, so you have to log in again",
            http.url
        );
        return Ok(None);
    }
    manager.set_metadata(metadata);
    if let Some(secret) = match &login.client_secret {
        Some(secret) => Some(secret.clone()),
        None => secret(&http.oauth)?,
    } {
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
    Ok(credentials.map(|credentials| Login {
        credentials,
        ..login.clone()
    }))
}

async fn manager(
    url: &str,
    memory: &InMemoryCredentialStore,
) -> Result<AuthorizationManager, Failure> {
    choose_cryptography();
    // A company's servers are in its private network, and so is what logs its people
    // in. That an upstream elsewhere has a page there fetched is the price; it does
    // not see the answer. This machine's own ports stay out of its reach.
    let mut manager = AuthorizationManager::new_allowing_private_addresses(url)
        .await
        .map_err(|error| discovery(url, &error))?;
    manager.set_credential_store(memory.clone());
    Ok(manager)
}

/// Who Dormouse is to the authorization server, where it need not register.
fn configured(
    oauth: &OAuth,
    metadata: &AuthorizationMetadata,
    redirect: &str,
) -> Result<Option<OAuthClientConfig>, Failure> {
    let Some(id) = &oauth.client_id else {
        return Ok(None);
    };
    // A document about a client is only for those who read such documents; the
    // others may still register it.
    let document = id.starts_with("https://");
    let reads = metadata
        .additional_fields
        .get("client_id_metadata_document_supported");
    let reads = reads.and_then(serde_json::Value::as_bool).unwrap_or(false);
    if document && !reads && metadata.registration_endpoint.is_some() {
        return Ok(None);
    }
    let client = OAuthClientConfig::new(id, redirect);
    Ok(Some(match secret(oauth)? {
        Some(secret) => client.with_client_secret(secret),
        None => client,
    }))
}

fn secret(oauth: &OAuth) -> Result<Option<String>, Failure> {
    let Some(variable) = &oauth.client_secret_env else {
        return Ok(None);
    };
    std::env::var(variable)
        .map(Some)
        .map_err(|_| Failure::NoSecret {
            variable: variable.clone(),
        })
}

/// What to ask for. Where the upstream wants more than the user has allowed, that
/// and what they have allowed, which they would lose otherwise (SEP-2350).
async fn scopes(
    manager: &AuthorizationManager,
    metadata: &AuthorizationMetadata,
    http: &Http,
    challenge: Option<&str>,
    granted: &[String],
) -> Result<Vec<String>, Failure> {
    let base = http.url.parse().map_err(|_| Failure::Discovery {
        url: http.url.clone(),
        why: "it is no URL".into(),
    })?;
    let challenge = challenge.map(|header| WWWAuthenticateParams::parse(header, &base));
    let more = challenge.filter(WWWAuthenticateParams::is_insufficient_scope);
    let mut scopes = match (&http.oauth.scopes, &more) {
        (configured, _) if !configured.is_empty() => configured.clone(),
        (_, Some(_)) => Vec::new(),
        (_, None) => manager.select_initial_scopes(&[]).await,
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
    let mut seen = std::collections::HashSet::new();
    scopes.retain(|scope| seen.insert(scope.clone()));
    Ok(scopes)
}

fn state(link: &str) -> Option<String> {
    let link = reqwest::Url::parse(link).ok()?;
    let mut pairs = link.query_pairs();
    pairs.find_map(|(name, value)| (name == "state").then(|| value.into_owned()))
}

fn revocation(metadata: &AuthorizationMetadata) -> Option<String> {
    let endpoint = metadata.additional_fields.get("revocation_endpoint")?;
    endpoint.as_str().map(str::to_owned)
}

fn discovery(url: &str, error: &AuthError) -> Failure {
    Failure::Discovery {
        url: url.to_owned(),
        why: causes(error),
    }
}

fn unregistered(url: &str, guessed: bool, error: &AuthError) -> Failure {
    let (url, why) = (url.to_owned(), causes(error));
    if guessed {
        Failure::NoOAuth { url, why }
    } else {
        Failure::Unregistered { url, why }
    }
}

/// An error with all its causes, on one line that is not too long: some of it comes
/// from strangers.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    let text = text.replace(char::is_control, " ");
    text.chars().take(500).collect()
}

/// Gives a login's tokens back (RFC 7009), where the authorization server takes them.
/// The error is for people.
pub(super) async fn revoke(http: &Http, login: &Login) -> Result<(), String> {
    let Some(endpoint) = &login.revocation else {
        return Ok(());
    };
    // With the token for new tokens all others end; without one there is one token.
    let (token, kind) = match (login.refresh(), login.access()) {
        (Some(refresh), _) => (refresh, "refresh_token"),
        (None, Some(access)) => (access, "access_token"),
        (None, None) => return Ok(()),
    };
    let mut endpoint = reqwest::Url::parse(endpoint).map_err(|error| error.to_string())?;
    let secret = match &login.client_secret {
        Some(secret) => Some(secret.clone()),
        None => secret(&http.oauth).map_err(|failure| failure.to_string())?,
    };
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
    let response = client(&endpoint)
        .map_err(|lost| lost.to_string())?
        .post(endpoint)
        .timeout(REVOKE)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(body)
        .send()
        .await
        .map_err(|error| causes(&error))?;
    match response.status() {
        status if status.is_success() => Ok(()),
        status => Err(format!("the authorization server says HTTP {status}")),
    }
}
