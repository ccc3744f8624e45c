//! Credentials of requests: the token of a login, renewed when it ends.

use std::sync::Arc;

use dormouse_egress::on_upstream_reading_thread;
use dormouse_launch::Secret;
use futures::future::BoxFuture;
use rmcp::transport::auth::WWWAuthenticateParams;
use tokio::sync::OwnedMutexGuard;

use super::store::LoginStore;
use super::user_login::UserLogin;
use super::{Auth, LoginFailure, server};
use crate::Lost;
use crate::http::Credentials;
use crate::server_secrets::ServerSecrets;

impl UserLogin {
    fn give(&self, token: Secret) -> Secret {
        self.given.lock().give(&token);
        token
    }

    pub(super) async fn bearer(self: &Arc<Self>) -> Result<Option<Secret>, Lost> {
        self.take_over().await;
        let Some(login) = self.login().await.map_err(lost)? else {
            return Ok(None);
        };
        let Some(token) = login.access() else {
            return Ok(None);
        };
        if !login.ends_soon() {
            return Ok(Some(self.give(token)));
        }
        match self.renew(&token).await {
            Ok(Some(token)) => Ok(Some(self.give(token))),
            // It may do for this once.
            _ if !login.is_over() => Ok(Some(self.give(token))),
            Ok(None) => Ok(None),
            Err(failure) => Err(lost(failure)),
        }
    }

    pub(super) async fn rejected(self: &Arc<Self>, challenge: Option<&str>) -> Result<bool, Lost> {
        let login = self.login().await.map_err(lost)?;
        let Some(token) = login.and_then(|login| login.access()) else {
            return Ok(false);
        };
        // The token is good, and not enough: another one of its kind is not, either.
        if let (Some(header), Ok(base)) = (challenge, self.http.url.parse())
            && WWWAuthenticateParams::parse(header, &base).is_insufficient_scope()
        {
            return Ok(false);
        }
        if self.given.lock().is_newer(&token) {
            return Ok(true);
        }
        match self.renew(&token).await {
            Ok(renewed) => Ok(renewed.is_some()),
            Err(failure) => Err(lost(failure)),
        }
    }

    /// Returns a token in place of this one; `None` where only a new login brings one.
    async fn renew(self: &Arc<Self>, stale: &Secret) -> Result<Option<Secret>, LoginFailure> {
        // Whoever gives up while it waits for that leaves nothing behind.
        let turn = Arc::clone(&self.renewing).lock_owned().await;
        let renewing = Arc::clone(self).renewing(turn, stale.clone());
        // A call that is cancelled meanwhile must not cost the user their login: the
        // old token may be used up, and the new one on its way.
        match tokio::spawn(renewing).await {
            Ok(outcome) => outcome,
            Err(_) => Err(LoginFailure::Refresh {
                url: self.http.shown(),
                why: "the host is ending".into(),
            }),
        }
    }

    async fn renewing(
        self: Arc<Self>,
        _turn: OwnedMutexGuard<()>,
        stale: Secret,
    ) -> Result<Option<Secret>, LoginFailure> {
        let _lock = self.store.lock().await?;
        // Only what is there now counts: another host may have been faster, and what
        // was read before the lock was taken may be used up.
        let Some(login) = self.login().await? else {
            return Ok(None);
        };
        if let Some(token) = login.access()
            && token != stale
            && !login.ends_soon()
        {
            return Ok(Some(token));
        }
        if login.refresh().is_none() {
            return Ok(None);
        }
        let http = self.http_with_secret().await?;
        let renewed = server::refresh(&http, &self.secrets, &login);
        let Some(renewed) = on_upstream_reading_thread(&self.server, renewed).await? else {
            // It would be refused each time.
            self.store.in_background(LoginStore::remove).await?;
            return Ok(None);
        };
        self.secrets
            .learn(renewed.secrets().iter().map(String::as_str));
        let kept = renewed.clone();
        let write = move |store: &LoginStore| store.write(&kept);
        self.store.in_background(write).await?;
        tracing::info!("the login of `{}` was renewed", self.server);
        Ok(renewed.access())
    }
}

impl Credentials for Auth {
    fn secrets(&self) -> Arc<ServerSecrets> {
        Arc::clone(&self.0.secrets)
    }

    fn bearer(&self) -> BoxFuture<'_, Result<Option<Secret>, Lost>> {
        Box::pin(self.0.bearer())
    }

    fn rejected<'a>(&'a self, challenge: Option<&'a str>) -> BoxFuture<'a, Result<bool, Lost>> {
        Box::pin(self.0.rejected(challenge))
    }
}

fn lost(failure: LoginFailure) -> Lost {
    Lost::Broken(failure.to_string())
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use tokio::runtime::Handle;

    use super::*;

    /// A plugin gives its requests up as soon as it likes, and each would renew the token once more.
    #[tokio::test]
    async fn a_call_that_gives_up_before_its_renewal_leaves_none_behind() {
        let data = tempfile::tempdir().unwrap();
        let auth = Auth::new("notes", &dormouse_launch::Http::default(), data.path());
        let turn = auth.0.renewing.lock().await;
        let stale = Secret::new("stale");
        for _ in 0..100 {
            assert!(auth.0.renew(&stale).now_or_never().is_none());
        }
        assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
        drop(turn);
        assert_eq!(auth.0.renew(&stale).await, Ok(None));
    }
}
