//! Logging in to upstreams that want to know their user: OAuth, on first use only.
//!
//! Nothing is done at start, and no browser is opened: for an upstream that refuses a call, the
//! host gets a link ([`Pending`]), which the user follows if they like. The tokens lie in the
//! [`store`], which all hosts share. rmcp speaks the protocol ([`server`]).

mod callback;
mod failure;
mod metadata;
mod peer_user;
mod pending;
mod reach;
mod server;
#[cfg(target_os = "linux")]
mod socket_diag;
mod store;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dormouse_launch::{Http, Launch, Secret};
use dormouse_protocol::{Answer, AskError, Capability, Listener, MAX_WAIT_FOR_OTHER, Question};
use dormouse_text::server_url::host;
use futures::future::BoxFuture;
use parking_lot::Mutex as StdMutex;
use rmcp::transport::auth::WWWAuthenticateParams;
use serde_json::json;
use tokio::sync::Mutex;

pub use failure::Failure;
pub use pending::Pending;
pub use store::Kept;

use super::Lost;
use super::http::{Credentials, on_reading_thread};
use super::server_secrets::ServerSecrets;
use store::{Login, Store};

/// Time after a renewal for which a refusal is taken to be of the token before it, by requests that
/// were on their way.
const OVERLAP: Duration = Duration::from_secs(5);

/// Id of the question for a login among those of a call.
const QUESTION: &str = "dormouse-login";

/// The logins at all upstreams of a host.
pub(super) struct Logins {
    data: PathBuf,
    all: StdMutex<HashMap<String, Auth>>,
}

impl Logins {
    /// Creates logins that are kept below `data` (Dormouse's data folder). Does nothing yet.
    pub(super) fn new(data: &Path) -> Self {
        Self {
            data: data.to_owned(),
            all: StdMutex::default(),
        }
    }

    /// Returns the login of a server: the same one for all who ask, until the server is configured
    /// in another way.
    pub(super) fn of(&self, server: &str, http: &Http) -> Auth {
        let mut all = self.all.lock();
        match all.get(server) {
            Some(known) if known.0.http == *http => known.clone(),
            _ => {
                let new = Auth::new(server, http, &self.data);
                all.insert(server.to_owned(), new.clone());
                new
            }
        }
    }
}

/// User's login at one upstream. Clones share it.
#[derive(Clone)]
pub struct Auth(Arc<Inner>);

struct Inner {
    server: String,
    http: Http,
    secrets: Arc<ServerSecrets>,
    store: Store,
    given: StdMutex<Given>,
    /// Held while a token is renewed, so that many calls at once do not all look for
    /// the file's lock.
    renewing: Mutex<()>,
    /// The login that waits for the user; all callers share it.
    pending: Mutex<Option<Arc<Pending>>>,
}

/// The token that requests were last given.
#[derive(Default)]
struct Given {
    token: Option<Secret>,
    /// Time at which it took the place of another one.
    renewed: Option<Instant>,
}

impl Auth {
    /// Creates the login of a server's upstream, kept below `data` (Dormouse's data folder). Does
    /// nothing yet.
    #[must_use]
    pub fn new(server: &str, http: &Http, data: &Path) -> Self {
        Self(Arc::new(Inner {
            server: server.to_owned(),
            http: http.clone(),
            secrets: ServerSecrets::new(server, &Launch::Http(http.clone())),
            store: Store::new(data, http),
            given: StdMutex::default(),
            renewing: Mutex::new(()),
            pending: Mutex::new(None),
        }))
    }

    /// Returns the login that waits for the user, begun if there is none. `challenge` is the
    /// upstream's `WWW-Authenticate` header; without one the upstream is asked for it.
    ///
    /// # Errors
    /// There is no way to log in there, or none that can be found now.
    pub async fn begin(&self, challenge: Option<&str>) -> Result<Arc<Pending>, Failure> {
        self.check()?;
        let http = &self.0.http;
        // Held while the link is got: that is done once for all who want it.
        let mut pending = self.0.pending.lock().await;
        if let Some(open) = pending.as_ref().filter(|pending| pending.is_open()) {
            return Ok(Arc::clone(open));
        }
        let store = self.0.store.clone();
        let new = Pending::begin(http, &self.0.secrets, challenge, store, pending::LIFE).await?;
        Ok(Arc::clone(pending.insert(new)))
    }

    /// Checks whether the configuration has room for a login. Asks nobody.
    fn check(&self) -> Result<(), Failure> {
        let http = &self.0.http;
        if http.oauth.off {
            return Err(Failure::Off { url: http.shown() });
        }
        http.oauth.check()?;
        if http.has_authorization() {
            let url = http.shown();
            return Err(Failure::Header { url });
        }
        Ok(())
    }

    /// Asks the user to log in, on behalf of a call that was refused, where the caller's client can
    /// show them a page, and returns when they are logged in.
    ///
    /// # Errors
    /// The user is not logged in, in words for the caller. Where the client cannot ask, these have
    /// the link in them, which stays valid for a while: once the user has followed it, the same
    /// call works. Where this process ends with the call, nobody would be there when the user comes
    /// back from that link, so the words name the command that waits.
    pub async fn authorize(
        &self,
        listener: &Arc<dyn Listener>,
        challenge: Option<&str>,
    ) -> Result<(), String> {
        let server = &self.0.server;
        let can_ask = listener.supports(Capability::ElicitationUrl);
        let by_command = || {
            format!(
                "`{server}` needs a login\nhint: `dormouse login {server}` gives a link and waits \
                 until you have followed it"
            )
        };
        if !can_ask && !listener.outlives_call() {
            return Err(match self.check() {
                Ok(()) => by_command(),
                Err(failure) => format!("`{server}` needs a login: {failure}"),
            });
        }
        let pending = self
            .begin(challenge)
            .await
            .map_err(|failure| format!("`{server}` needs a login: {failure}"))?;
        let refused = |failure: Failure| {
            format!("{failure}\nhint: call again for a new link, or run `dormouse login {server}`")
        };
        if can_ask {
            // A user is asked once, however many calls wait for them: who gets the
            // lock when all is over asks nothing. But the client that asks may not answer.
            let asking = tokio::time::timeout(MAX_WAIT_FOR_OTHER, pending.asking.lock());
            let _asking = tokio::select! {
                biased;
                outcome = pending.finish() => return outcome.map_err(refused),
                asking = asking => asking.ok(),
            };
            let asked = tokio::select! {
                biased;
                outcome = pending.finish() => return outcome.map_err(refused),
                answers = listener.ask(vec![self.question(&pending)]) => answers,
            };
            match consent(asked) {
                Some(true) => return pending.finish().await.map_err(refused),
                Some(false) => {
                    pending.decline();
                    return pending.finish().await.map_err(refused);
                }
                None => {}
            }
        }
        if !listener.outlives_call() {
            return Err(by_command());
        }
        let elsewhere = match pending.host_elsewhere() {
            Some(host) => format!(" (what you are given there goes to `{host}`)"),
            None => String::new(),
        };
        Err(format!(
            "`{server}` needs a login; open this link in a browser{elsewhere}, then call again:\n{}\nhint: the link is good for ten minutes; `dormouse login {server}` gives a new one",
            pending.link()
        ))
    }

    /// Returns the facts that may be told of the kept login, if there is one. Asks nobody.
    ///
    /// # Errors
    /// The login cannot be read.
    pub fn kept(&self) -> Result<Option<Kept>, Failure> {
        Ok(self.0.store.read()?.map(|login| login.kept()))
    }

    /// Forgets the login, and revokes its tokens where the authorization server does that. False if
    /// there was none.
    ///
    /// # Errors
    /// The login cannot be forgotten. (Tokens that cannot be revoked end by themselves; that is
    /// only logged.)
    pub async fn logout(&self) -> Result<bool, Failure> {
        let _lock = self.0.store.lock().await?;
        let login = self.0.login();
        let removed = self.0.store.remove()?;
        let revoke = async |login: &Login| {
            let revoking = server::revoke(&self.0.http, &self.0.secrets, login);
            on_reading_thread(&self.0.server, revoking).await
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

    fn question(&self, pending: &Pending) -> Question {
        let server = &self.0.server;
        let elsewhere = match pending.host_elsewhere() {
            Some(host) => format!("; what you are given there goes to `{host}`"),
            None => String::new(),
        };
        let mut params = serde_json::Map::new();
        for (name, value) in [
            ("mode", json!("url")),
            (
                "message",
                json!(format!(
                    "The server `{server}` wants you to log in at `{}`{elsewhere}.",
                    host(pending.link()).unwrap_or_default()
                )),
            ),
            ("url", json!(pending.link())),
            ("elicitationId", json!(pending.id())),
        ] {
            params.insert(name.to_owned(), value);
        }
        Question {
            id: QUESTION.into(),
            capability: Capability::ElicitationUrl,
            params,
            text: None,
        }
    }
}

/// Returns whether a user wants to log in; none where their client could not ask them.
fn consent(asked: Result<Vec<Answer>, AskError>) -> Option<bool> {
    let answers = asked.ok()?;
    let action = answers.first()?.get("action")?;
    Some(action.as_str()? == "accept")
}

impl Inner {
    /// Notes that this token is given to requests now.
    fn give(&self, token: Secret) -> Secret {
        let mut given = self.given.lock();
        if given.token.as_ref() != Some(&token) {
            given.renewed = given.token.is_some().then(Instant::now);
            given.token = Some(token.clone());
        }
        token
    }

    /// Whether the token that was refused is likely not this one.
    fn is_newer(&self, token: &Secret) -> bool {
        let given = self.given.lock();
        let overlap = given.renewed.is_some_and(|when| when.elapsed() < OVERLAP);
        given.token.as_ref() != Some(token) || overlap
    }

    async fn bearer(self: &Arc<Self>) -> Result<Option<Secret>, Lost> {
        let Some(login) = self.login().map_err(lost)? else {
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

    async fn rejected(self: &Arc<Self>, challenge: Option<&str>) -> Result<bool, Lost> {
        let login = self.login().map_err(lost)?;
        let Some(token) = login.and_then(|login| login.access()) else {
            return Ok(false);
        };
        // The token is good, and not enough: another one of its kind is not, either.
        if let (Some(header), Ok(base)) = (challenge, self.http.url.parse())
            && WWWAuthenticateParams::parse(header, &base).is_insufficient_scope()
        {
            return Ok(false);
        }
        if self.is_newer(&token) {
            return Ok(true);
        }
        match self.renew(&token).await {
            Ok(renewed) => Ok(renewed.is_some()),
            Err(failure) => Err(lost(failure)),
        }
    }

    /// Returns the login that is kept, and hides its secrets from now on.
    fn login(&self) -> Result<Option<Login>, Failure> {
        let login = self.store.read()?;
        if let Some(login) = &login {
            self.secrets
                .learn(login.secrets().iter().map(String::as_str));
        }
        Ok(login)
    }

    /// Returns a token in place of this one; `None` where only a new login brings one.
    async fn renew(self: &Arc<Self>, stale: &Secret) -> Result<Option<Secret>, Failure> {
        let renewing = Arc::clone(self).renewing(stale.clone());
        // A call that is cancelled meanwhile must not cost the user their login: the
        // old token may be used up, and the new one on its way.
        match tokio::spawn(renewing).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Failure::Refresh {
                url: self.http.shown(),
                why: "the host is ending".into(),
            }),
        }
    }

    async fn renewing(self: Arc<Self>, stale: Secret) -> Result<Option<Secret>, Failure> {
        let _turn = self.renewing.lock().await;
        let _lock = self.store.lock().await?;
        // Only what is there now counts: another host may have been faster, and what
        // was read before the lock was taken may be used up.
        let Some(login) = self.login()? else {
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
        let renewed = server::refresh(&self.http, &self.secrets, &login);
        let Some(renewed) = on_reading_thread(&self.server, renewed).await? else {
            // It would be refused each time.
            self.store.remove()?;
            return Ok(None);
        };
        self.secrets
            .learn(renewed.secrets().iter().map(String::as_str));
        self.store.write(&renewed)?;
        tracing::info!("the login of `{}` was renewed", self.server);
        Ok(renewed.access())
    }
}

fn lost(failure: Failure) -> Lost {
    Lost::Broken(failure.to_string())
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
