//! Logins at providers, whose tokens stand in the HTTP requests of plugins.

use std::path::Path;
use std::sync::Arc;

use dormouse_egress::{LoginFuture, LoginToken};
use dormouse_launch::{Http, Secret};
use dormouse_policy::ProviderLogin;

use super::user_login::UserLogin;
use super::{Auth, LoginFailure};
use crate::Lost;

impl Auth {
    /// Creates the login of a server's plugin at a provider, kept below `data` (Dormouse's data
    /// folder). `project` is the folder of the project whose server it is, where it is one's: its
    /// login is not that of the user's own server of that name. Does nothing yet.
    #[must_use]
    pub fn at_provider(
        server: &str,
        project: Option<&Path>,
        login: &ProviderLogin,
        data: &Path,
    ) -> Self {
        let mut oauth = login.oauth.clone();
        if let Some(provider) = &mut oauth.provider {
            let project = project.map(Path::to_string_lossy).unwrap_or_default();
            provider.owner = format!("{server}\n{}\n{project}", login.provider);
        }
        let http = Http {
            url: login.url().to_owned(),
            oauth,
            ..Http::default()
        };
        Self::with_client_secret(server, &http, login.client_secret.clone(), data)
    }

    /// Whether the next token can be had only by a new login, as far as that is known. Asks nobody.
    ///
    /// # Errors
    /// The login cannot be read.
    pub fn is_lacking(&self) -> Result<bool, LoginFailure> {
        let Some(kept) = self.0.store.kept()? else {
            return Ok(true);
        };
        let is_over = kept.left.is_some_and(|left| left.is_zero()) && !kept.renews;
        // One that was refused was read here.
        let known = self.0.store.known()?.and_then(|login| login.access());
        Ok(is_over || known.is_some_and(|token| self.0.is_refused(&token)))
    }

    /// Whether the next token can be had only by a new login. One that ends is renewed first. Where
    /// that cannot be told, the request that needs it says why.
    pub async fn needs_login(&self) -> bool {
        matches!(self.0.usable_token().await, Ok(None))
    }
}

impl UserLogin {
    fn is_refused(&self, token: &Secret) -> bool {
        self.refused.lock().as_ref() == Some(token)
    }

    /// Returns the token for the next request; none where only a new login brings one.
    async fn usable_token(self: &Arc<Self>) -> Result<Option<Secret>, Lost> {
        let token = self.bearer().await?;
        Ok(token.filter(|token| !self.is_refused(token)))
    }

    /// Notes that a host has refused a token. Returns whether there is another one now.
    async fn is_replaced(self: &Arc<Self>, token: &Secret) -> bool {
        let another = match self.rejected(None).await {
            Ok(true) => self.bearer().await,
            Ok(false) => Ok(None),
            Err(lost) => Err(lost),
        };
        match another {
            Ok(Some(another)) if another != *token => true,
            Ok(_) => {
                *self.refused.lock() = Some(token.clone());
                false
            }
            // It may be good again later.
            Err(lost) => {
                tracing::warn!("server `{}`: {lost}", self.server);
                false
            }
        }
    }
}

impl LoginToken for Auth {
    fn token(&self) -> LoginFuture<'_, Result<Option<Secret>, String>> {
        Box::pin(async {
            let token = self.0.usable_token().await;
            token.map_err(|lost| lost.to_string())
        })
    }

    fn is_replaced<'a>(&'a self, token: &'a Secret) -> LoginFuture<'a, bool> {
        Box::pin(self.0.is_replaced(token))
    }

    fn forget_client_secret(&self) {
        if let Some(secret) = &self.0.client_secret {
            secret.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use dormouse_launch::{OAuth, OAuthProvider};

    use super::*;

    fn login(scope: &str) -> ProviderLogin {
        ProviderLogin {
            provider: "work".to_owned(),
            oauth: OAuth {
                client_id: Some("mine".to_owned()),
                scopes: vec![scope.to_owned()],
                provider: Some(Box::new(OAuthProvider {
                    issuer: Some("https://login.example".to_owned()),
                    ..OAuthProvider::default()
                })),
                ..OAuth::default()
            },
            client_secret: None,
        }
    }

    #[test]
    fn a_login_is_nobody_elses() {
        let data = Path::new("/data");
        let project = Some(Path::new("/src/x"));
        let mut other_client = login("mail");
        other_client.oauth.client_id = Some("other".to_owned());
        let mut other_provider = login("mail");
        other_provider.provider = "play".to_owned();
        let all = [
            ("calendar", None, login("mail")),
            ("other", None, login("mail")),
            ("calendar", project, login("mail")),
            ("calendar", None, login("drive")),
            ("calendar", None, other_client),
            ("calendar", None, other_provider),
        ];
        let keys = all.map(|(server, project, login)| {
            let auth = Auth::at_provider(server, project, &login, data);
            auth.0.store.lock.clone()
        });
        for (i, key) in keys.iter().enumerate() {
            assert_eq!(
                keys.iter().position(|other| other == key),
                Some(i),
                "{}",
                key.display()
            );
        }
        let again = Auth::at_provider("calendar", None, &login("mail"), data);
        assert_eq!(again.0.store.lock, keys[0]);
        // A server's own login there is another one.
        let http = Http {
            url: "https://login.example".to_owned(),
            ..Http::default()
        };
        let upstream = Auth::new("calendar", &http, data);
        assert!(!keys.contains(&upstream.0.store.lock));
    }
}
