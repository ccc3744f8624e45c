//! User's login at one upstream.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use dormouse_egress::{ClientSecret, on_upstream_reading_thread};
use dormouse_launch::redaction::basic_credentials;
use dormouse_launch::{Http, Launch, Secret};
use dormouse_policy::SecretSource;
use parking_lot::Mutex as StdMutex;
use tokio::sync::Mutex;

use super::given_token::Given;
use super::store::{KeptLoginSummary, Login, LoginStore};
use super::{LoginFailure, PendingLogin, pending, server};
use crate::server_secrets::ServerSecrets;

/// User's login at one upstream. Clones share it.
#[derive(Clone)]
pub struct Auth(pub(super) Arc<UserLogin>);

/// Login at one upstream, which all clones of an [`Auth`] share.
pub(super) struct UserLogin {
    pub(super) server: String,
    pub(super) http: Http,
    /// Secret of the client that is configured, where it is not written there.
    pub(super) client_secret: Option<ClientSecret>,
    pub(super) secrets: Arc<ServerSecrets>,
    pub(super) store: LoginStore,
    pub(super) given: StdMutex<Given>,
    /// The token that was last refused where no other could be had in its place.
    pub(super) refused: StdMutex<Option<Secret>>,
    /// Held while a token is renewed, so that many calls at once do not all look for
    /// the file's lock.
    pub(super) renewing: Arc<Mutex<()>>,
    /// The login that waits for the user; all callers share it.
    pub(super) pending: Mutex<Option<Arc<PendingLogin>>>,
}

impl Auth {
    /// Creates the login of a server's upstream, kept below `data` (Dormouse's data folder). Does
    /// nothing yet.
    #[must_use]
    pub fn new(server: &str, http: &Http, data: &Path) -> Self {
        Self::with_client_secret(server, http, None, data)
    }

    /// Creates a login with the secret of its client from elsewhere.
    pub(super) fn with_client_secret(
        server: &str,
        http: &Http,
        client_secret: Option<SecretSource>,
        data: &Path,
    ) -> Self {
        Self(Arc::new(UserLogin {
            server: server.to_owned(),
            http: http.clone(),
            client_secret: client_secret.map(ClientSecret::new),
            secrets: ServerSecrets::new(server, &Launch::Http(http.clone())),
            store: LoginStore::new(data, http),
            given: StdMutex::default(),
            refused: StdMutex::default(),
            renewing: Arc::default(),
            pending: Mutex::new(None),
        }))
    }

    /// Returns the login that waits for the user, begun if there is none. `challenge` is the
    /// upstream's `WWW-Authenticate` header; without one the upstream is asked for it.
    ///
    /// # Errors
    /// There is no way to log in there, or none that can be found now.
    pub async fn begin(&self, challenge: Option<&str>) -> Result<Arc<PendingLogin>, LoginFailure> {
        self.check()?;
        // Held while the link is got: that is done once for all who want it.
        let mut pending = self.0.pending.lock().await;
        if let Some(open) = pending.as_ref().filter(|pending| pending.is_open()) {
            return Ok(Arc::clone(open));
        }
        let store = self.0.store.clone();
        let http = self.0.http_with_secret().await?;
        let new =
            PendingLogin::begin(&http, &self.0.secrets, challenge, store, pending::LIFE).await?;
        Ok(Arc::clone(pending.insert(new)))
    }

    /// Checks whether the configuration has room for a login. Asks nobody.
    pub(super) fn check(&self) -> Result<(), LoginFailure> {
        let http = &self.0.http;
        if http.oauth.off {
            return Err(LoginFailure::Off { url: http.shown() });
        }
        http.oauth.check()?;
        if http.has_authorization() {
            let url = http.shown();
            return Err(LoginFailure::Header { url });
        }
        Ok(())
    }

    /// Returns the facts that may be told of the kept login, if there is one. Asks nobody.
    ///
    /// # Errors
    /// The login cannot be read.
    pub fn kept(&self) -> Result<Option<KeptLoginSummary>, LoginFailure> {
        self.0.store.kept()
    }

    /// Forgets the login, and revokes its tokens where the authorization server does that. False if
    /// there was none.
    ///
    /// # Errors
    /// The login cannot be forgotten. (Tokens that cannot be revoked end by themselves; that is
    /// only logged.)
    pub async fn logout(&self) -> Result<bool, LoginFailure> {
        let _lock = self.0.store.lock().await?;
        let login = self.0.login().await;
        let removed = self.0.store.in_background(LoginStore::remove).await?;
        let revoke = async |login: &Login| {
            let http = self.0.http_with_secret().await;
            let http = http.map_err(|failure| failure.to_string())?;
            let revoking = server::revoke(&http, &self.0.secrets, login);
            on_upstream_reading_thread(&self.0.server, revoking).await
        };
        if let Ok(Some(login)) = login
            && let Err(why) = revoke(&login).await
        {
            tracing::warn!(
                "the tokens of `{}` are forgotten here, but could not be given back: {why}",
                self.0.server
            );
        }
        Ok(removed)
    }
}

impl UserLogin {
    /// Returns where the login is, with the secret of its client, which is looked up where the
    /// authorization server wants it.
    pub(super) async fn http_with_secret(&self) -> Result<Cow<'_, Http>, LoginFailure> {
        let Some(secret) = &self.client_secret else {
            return Ok(Cow::Borrowed(&self.http));
        };
        let text = secret
            .text()
            .await
            .map_err(|why| LoginFailure::ClientSecret {
                url: self.http.shown(),
                why,
            })?;
        let client = self.http.oauth.client_id.as_deref().unwrap_or_default();
        let written = basic_credentials(client, text.expose());
        let texts = [text.expose()]
            .into_iter()
            .map(str::to_owned)
            .chain(written);
        let texts: Vec<_> = texts.collect();
        self.secrets.learn(texts.iter().map(String::as_str));
        let mut http = self.http.clone();
        http.oauth.client_secret = Some(text);
        Ok(Cow::Owned(http))
    }

    /// Puts a login that an older version has written where logins are kept now. Where that fails, it
    /// stays as it is, and counts.
    pub(super) async fn take_over(&self) {
        if !self.store.is_plain() {
            return;
        }
        let taken = match self.store.lock().await {
            Ok(_lock) => self.store.in_background(LoginStore::take_over).await,
            Err(failure) => Err(failure),
        };
        if let Err(why) = taken {
            tracing::warn!("the login of `{}` stays where it is: {why}", self.server);
        }
    }

    /// Returns the login that is kept, and hides its secrets from now on.
    pub(super) async fn login(&self) -> Result<Option<Login>, LoginFailure> {
        let login = self.store.in_background(LoginStore::read).await?;
        if let Some(login) = &login {
            self.secrets
                .learn(login.secrets().iter().map(String::as_str));
        }
        Ok(login)
    }
}
