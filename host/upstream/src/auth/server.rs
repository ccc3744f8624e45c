//! Requests to an authorization server, through rmcp.

use std::sync::Arc;

use dormouse_launch::redaction::basic_credentials;
use dormouse_launch::{Http, OAuth};
use dormouse_protocol::question_links::is_page;
use dormouse_text::visible::line_beginning;
use oauth2::TokenResponse as _;
use reqwest::header::HeaderValue;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, CredentialStore as _,
    InMemoryCredentialStore, InMemoryStateStore, OAuthClientConfig, StateStore as _,
    StoredCredentials, WWWAuthenticateParams,
};

use super::Failure;
use super::metadata::{host_elsewhere, metadata, revocation};
use super::reach::LoginReach;
use super::store::Login;
use crate::server_secrets::ServerSecrets;

/// Name under which Dormouse registers.
const NAME: &str = "Dormouse";

/// The scope that brings a refresh token, where there is one (OpenID Connect).
const OFFLINE: &str = "offline_access";

/// Longest link of a login, in bytes. Browsers take no longer ones.
const MAX_LINK_BYTES: usize = 16 << 10;

/// Most characters of a wrong link that are shown.
const MAX_LINK_SHOWN: usize = 300;

/// Time that an authorization server may take to revoke tokens.
const REVOKE: std::time::Duration = std::time::Duration::from_secs(10);

/// Login from its link to its tokens.
pub(super) struct Attempt {
    manager: AuthorizationManager,
    /// Store in which rmcp leaves the tokens: what goes to the disk, and when, is not for rmcp to
    /// decide.
    memory: InMemoryCredentialStore,
    http: Http,
    pub(super) secrets: Arc<ServerSecrets>,
    challenge: Option<String>,
    registered_secret: Option<String>,
    revocation: Option<String>,
    token_endpoint: String,
    /// The host that its code goes to, where that is not the link's.
    pub(super) host_elsewhere: Option<String>,
    /// The link that the user has to follow.
    pub(super) link: String,
    /// State that the redirect has to bring with it.
    pub(super) state: String,
}

impl Attempt {
    /// Finds out where to log in, as which client and for which scopes. Asks the upstream and its
    /// authorization server, and registers with the latter where it has to.
    ///
    /// `granted` are the scopes that the user has already allowed.
    pub(super) async fn begin(
        http: &Http,
        secrets: &Arc<ServerSecrets>,
        challenge: Option<&str>,
        granted: &[String],
        redirect: &str,
    ) -> Result<Self, Failure> {
        // What people are told is not what is asked: there may be a secret in the URL.
        let url = &http.shown();
        let memory = InMemoryCredentialStore::new();
        let reach = LoginReach::of(http, None).await;
        let mut manager = manager(http, secrets, &reach, &memory).await?;
        let states = InMemoryStateStore::new();
        manager.set_state_store(states.clone());
        let (metadata, guessed) =
            metadata(&manager, http, &reach, challenge)
                .await
                .map_err(|why| Failure::Discovery {
                    url: url.clone(),
                    why: shown(secrets, &why),
                })?;
        manager.set_metadata(metadata.clone());

        let scopes = scopes(&manager, &metadata, http, challenge, granted).await?;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let registered_secret = match configured(&http.oauth, &metadata, redirect) {
            Some(client) => {
                manager
                    .configure_client(client)
                    .map_err(|error| discovery(http, secrets, &error))?;
                None
            }
            None => {
                let registered = manager
                    .register_client(NAME, redirect, &scopes)
                    .await
                    .map_err(|error| {
                        let (url, why) = (http.shown(), shown(secrets, &causes(&error)));
                        match guessed {
                            true => Failure::NoOAuth { url, why },
                            false => Failure::Unregistered { url, why },
                        }
                    })?;
                if let Some(secret) = &registered.client_secret {
                    let written = basic_credentials(&registered.client_id, secret);
                    secrets.learn([secret].into_iter().chain(&written).map(String::as_str));
                }
                registered.client_secret
            }
        };
        let link = manager
            .get_authorization_url(&scopes)
            .await
            .map_err(|error| discovery(http, secrets, &error))?;
        let no_page = || Failure::Discovery {
            url: url.clone(),
            why: format!(
                "`{}` is no page that a browser may be sent to",
                line_beginning(&secrets.redact(&link), MAX_LINK_SHOWN)
            ),
        };
        // The server's metadata says where it leads.
        if link.len() > MAX_LINK_BYTES || !is_page(&link) {
            return Err(no_page());
        }
        let state = state(&link).ok_or_else(no_page)?;
        // It is sent with the code, and may be repeated with it.
        if let Ok(Some(kept)) = states.load(&state).await {
            secrets.learn([kept.pkce_verifier.as_str()]);
        }
        Ok(Self {
            manager,
            memory,
            http: http.clone(),
            secrets: Arc::clone(secrets),
            challenge: challenge.map(str::to_owned),
            registered_secret,
            revocation: revocation(&metadata).map(Into::into),
            host_elsewhere: host_elsewhere(&metadata),
            token_endpoint: metadata.token_endpoint,
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
        self.secrets.learn([code]);
        let exchanged = self
            .manager
            .exchange_code_for_token_with_issuer(code, &self.state, issuer)
            .await;
        let failure = |why: String| Failure::Exchange {
            url: self.http.shown(),
            why: shown(&self.secrets, &why),
        };
        match exchanged {
            Ok(_) => {}
            Err(
                AuthError::AuthorizationServerMismatch { .. }
                | AuthError::AuthorizationServerMissingIssuer { .. },
            ) => return None,
            Err(error) => return Some(Err(failure(without_quoted_value(causes(&error))))),
        }
        Some(match self.memory.load().await {
            Ok(Some(credentials)) if let Some(why) = unusable(&credentials) => {
                Err(failure(why.to_owned()))
            }
            Ok(Some(credentials)) => {
                let login = Login {
                    url: self.http.url.clone(),
                    challenge: self.challenge.clone(),
                    client_secret: self.registered_secret.clone(),
                    revocation: self.revocation.clone(),
                    token_endpoint: Some(self.token_endpoint.clone()),
                    credentials,
                };
                self.secrets
                    .learn(login.secrets().iter().map(String::as_str));
                Ok(login)
            }
            _ => Err(failure("there is no token in the answer".into())),
        })
    }
}

/// Returns a login with new tokens; `None` where the authorization server gives none, or is no
/// longer the one that gave the old ones.
pub(super) async fn refresh(
    http: &Http,
    secrets: &ServerSecrets,
    login: &Login,
) -> Result<Option<Login>, Failure> {
    let failure = |error: &AuthError| Failure::Refresh {
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
        .map_err(|why| Failure::Refresh {
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
        return Err(Failure::Refresh {
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

async fn manager(
    http: &Http,
    secrets: &ServerSecrets,
    reach: &LoginReach,
    memory: &InMemoryCredentialStore,
) -> Result<AuthorizationManager, Failure> {
    let url = http.url.as_str();
    // Where names lead is judged by this client, and which addresses documents may name by
    // rmcp and by `LoginReach::check`.
    let client = reach.client().map_err(|lost| Failure::Discovery {
        url: http.shown(),
        why: shown(secrets, &lost.to_string()),
    })?;
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

/// Returns the client that Dormouse is, where it need not register.
fn configured(
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
fn secret(oauth: &OAuth, login: &Login) -> Option<String> {
    if let Some(registered) = &login.client_secret {
        return Some(registered.clone());
    }
    let ours = oauth.client_id.as_ref() == Some(&login.credentials.client_id);
    let secret = oauth.client_secret.as_ref().filter(|_| ours)?;
    Some(secret.expose().to_owned())
}

/// Returns the scopes to ask for. Where the upstream wants more than the user has allowed, these
/// are both: the allowed ones would be lost otherwise (SEP-2350).
async fn scopes(
    manager: &AuthorizationManager,
    metadata: &AuthorizationMetadata,
    http: &Http,
    challenge: Option<&str>,
    granted: &[String],
) -> Result<Vec<String>, Failure> {
    let base = http.url.parse().map_err(|_| Failure::Discovery {
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
    let mut seen = std::collections::HashSet::new();
    scopes.retain(|scope| seen.insert(scope.clone()));
    Ok(scopes)
}

/// Parameters of the login in a link. Where one is there twice, the page would choose which counts.
const LINK_PARAMETERS: [&str; 8] = [
    "client_id",
    "code_challenge",
    "code_challenge_method",
    "redirect_uri",
    "resource",
    "response_type",
    "scope",
    "state",
];

/// Parameters of other logins that a link of ours does not have: a whole other one, or another way
/// back from it.
const FOREIGN_PARAMETERS: [&str; 3] = ["request", "request_uri", "response_mode"];

/// Returns the state in a link, if a browser may be sent there. The page is from a stranger's
/// metadata, and must not be a file or a program, nor have parameters of a login itself.
fn state(link: &str) -> Option<String> {
    let link = reqwest::Url::parse(link).ok()?;
    if !matches!(link.scheme(), "https" | "http") || !link.has_host() {
        return None;
    }
    let count = |name: &str| link.query_pairs().filter(|pair| pair.0 == name).count();
    if LINK_PARAMETERS.into_iter().any(|name| count(name) > 1)
        || FOREIGN_PARAMETERS.into_iter().any(|name| count(name) > 0)
    {
        return None;
    }
    let mut pairs = link.query_pairs();
    pairs.find_map(|(name, value)| (name == "state").then(|| value.into_owned()))
}

fn discovery(http: &Http, secrets: &ServerSecrets, error: &AuthError) -> Failure {
    Failure::Discovery {
        url: http.shown(),
        why: shown(secrets, &causes(error)),
    }
}

/// Returns the reason for which a token cannot be sent as a bearer token; none where it can.
fn unusable(credentials: &StoredCredentials) -> Option<&'static str> {
    let response = credentials.token_response.as_ref()?;
    let token = response.access_token().secret();
    if token.is_empty() {
        return Some("the token in the answer is empty");
    }
    if HeaderValue::from_str(token).is_err() {
        return Some("the token in the answer holds what no header may");
    }
    // What is misnamed otherwise is a bearer token all the same wherever this was seen.
    let kind = response.token_type().as_ref().trim().to_ascii_lowercase();
    ["dpop", "mac", "pop"]
        .contains(&kind.as_str())
        .then_some("the token in the answer is not one for whoever bears it (`Bearer`)")
}

/// Returns the error of an answer that could not be read, without the value that it quotes: that
/// may be a token in the wrong place.
fn without_quoted_value(text: String) -> String {
    let found = ["invalid type: string ", "invalid value: string "].into_iter();
    let found = found.filter_map(|begin| Some(text.find(begin)? + begin.len()));
    match (found.min(), text.rfind('"')) {
        (Some(from), Some(to)) if from < to => format!("{}…{}", &text[..from], &text[to + 1..]),
        _ => text,
    }
}

/// Returns an error with all its causes. Some of them come from strangers: they are for [`shown`].
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// Most characters of a stranger's words that are shown.
const MAX_SHOWN_CHARACTERS: usize = 500;

/// Returns a stranger's words without secrets, on one line that is not too long. Secrets must not
/// be cut before they are looked for.
pub(super) fn shown(secrets: &ServerSecrets, text: &str) -> String {
    let text = secrets.redact(text).replace(char::is_control, " ");
    text.chars().take(MAX_SHOWN_CHARACTERS).collect()
}

/// Revokes a login's tokens (RFC 7009), where the authorization server does that. The error is for
/// people.
pub(super) async fn revoke(
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
    let mut endpoint = reqwest::Url::parse(endpoint).map_err(|error| error.to_string())?;
    // Earlier versions have kept whatever an upstream has named, and not who gave them.
    let gave = login.token_endpoint.as_deref();
    let gave = gave.and_then(|gave| reqwest::Url::parse(gave).ok());
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
