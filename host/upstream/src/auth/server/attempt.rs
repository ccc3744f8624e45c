//! A login from its link to its tokens.

use std::sync::Arc;

use dormouse_launch::Http;
use dormouse_launch::redaction::basic_credentials;
use dormouse_text::visible::line_beginning;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, CredentialStore as _, InMemoryCredentialStore,
    InMemoryStateStore, StateStore as _,
};
use serde_json::Value;

use super::bearer_token::unusable;
use super::client::configured;
use super::link::state;
use super::manager::{discovery, manager};
use super::provider_requests::link_of_provider;
use super::scopes::scopes;
use crate::auth::LoginFailure;
use crate::auth::error_text::{causes, shown, without_quoted_value};
use crate::auth::metadata::{host_elsewhere, metadata, revocation};
use crate::auth::reach::LoginReach;
use crate::auth::store::Login;
use crate::server_secrets::ServerSecrets;

/// Name under which Dormouse registers.
const NAME: &str = "Dormouse";

/// Most characters of a wrong link that are shown.
const MAX_LINK_SHOWN: usize = 300;

/// Login from its link to its tokens.
pub(in crate::auth) struct Attempt {
    manager: AuthorizationManager,
    /// Store in which rmcp leaves the tokens: what goes to the disk, and when, is not for rmcp to
    /// decide.
    memory: InMemoryCredentialStore,
    http: Http,
    pub(in crate::auth) secrets: Arc<ServerSecrets>,
    challenge: Option<String>,
    registered_secret: Option<String>,
    revocation: Option<String>,
    token_endpoint: String,
    /// Issuer that its authorization server says it is.
    issuer: Option<String>,
    /// Whether that server promises to name its issuer in each redirect (RFC 9207).
    names_issuer: bool,
    /// The host that its code goes to, where that is not the link's.
    pub(in crate::auth) host_elsewhere: Option<String>,
    /// The link that the user has to follow.
    pub(in crate::auth) link: String,
    /// State that the redirect has to bring with it.
    pub(in crate::auth) state: String,
}

impl Attempt {
    /// Finds out where to log in, as which client and for which scopes. Asks the upstream and its
    /// authorization server, and registers with the latter where it has to.
    ///
    /// `granted` are the scopes that the user has already allowed.
    pub(in crate::auth) async fn begin(
        http: &Http,
        secrets: &Arc<ServerSecrets>,
        challenge: Option<&str>,
        granted: &[String],
        redirect: &str,
    ) -> Result<Self, LoginFailure> {
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
                .map_err(|why| LoginFailure::Discovery {
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
                            true => LoginFailure::NoOAuth { url, why },
                            false => LoginFailure::Unregistered { url, why },
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
        let link = match &http.oauth.provider {
            Some(provider) => link_of_provider(&link, provider),
            None => link,
        };
        let no_page = || LoginFailure::Discovery {
            url: url.clone(),
            why: format!(
                "`{}` is no page that a browser may be sent to",
                line_beginning(&secrets.redact(&link), MAX_LINK_SHOWN)
            ),
        };
        // The server's metadata says where it leads.
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
            names_issuer: metadata
                .additional_fields
                .get("authorization_response_iss_parameter_supported")
                .is_some_and(|named| named == &Value::Bool(true)),
            token_endpoint: metadata.token_endpoint,
            issuer: metadata.issuer,
            link,
            state,
        })
    }

    /// Checks whether a redirect may be from the authorization server that the user was sent to, by the
    /// issuer that it names (RFC 9207), whatever else it says.
    pub(in crate::auth) fn may_be_from_server(&self, issuer: Option<&str>) -> bool {
        match (self.issuer.as_deref(), issuer) {
            (Some(expected), Some(named)) => expected == named,
            // RFC 9207 (2.4) has what is without it rejected where a server promises it. That this server
            // may have left it out of an error alone is no reason: anybody can send such an error, and the
            // login waits for a redirect that names the server, or ends when it is given up.
            (Some(_), None) => !self.names_issuer,
            // There is nothing to hold it against; no code is exchanged for one that names any.
            (None, _) => true,
        }
    }

    /// Exchanges the code of the redirect. `None` where the redirect is not from
    /// the authorization server that the user was sent to (RFC 9207): the real one
    /// may still come.
    pub(in crate::auth) async fn exchange(
        &self,
        code: &str,
        issuer: Option<&str>,
    ) -> Option<Result<Login, LoginFailure>> {
        self.secrets.learn([code]);
        let exchanged = self
            .manager
            .exchange_code_for_token_with_issuer(code, &self.state, issuer)
            .await;
        let failure = |why: String| LoginFailure::Exchange {
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
