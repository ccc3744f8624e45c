//! Store of logins: one file for each upstream, which only its user can read.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dormouse_files::regular::read_regular_file;
use dormouse_files::replace::{Access, replace};
use dormouse_files::{ownership, paths};
use dormouse_launch::redaction::basic_credentials;
use dormouse_launch::{Http, Secret};
use oauth2::TokenResponse as _;
use rmcp::transport::auth::StoredCredentials;
use serde::{Deserialize, Serialize};

use super::Failure;

/// Seconds before its end from which on a token is no longer used: a request with it has to arrive
/// before that end. Less for one that lives only shortly.
const MARGIN: u64 = 30;

/// Interval at which the lock is tried.
const RETRY: Duration = Duration::from_millis(20);

/// Time that another process may hold the lock. A refresh is a few requests, and each of them ends
/// after half a minute.
const LOCK_TIMEOUT: Duration = Duration::from_secs(120);

/// Largest file with a login that is read, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// A user's login at one upstream.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Login {
    /// The upstream: nobody else gets the token.
    pub(super) url: String,
    /// The `WWW-Authenticate` header that the login began with. It says where the
    /// authorization server is; without one the upstream is asked for it each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) challenge: Option<String>,
    /// The secret that a registration has given to the client. One from the
    /// configuration is not kept here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    /// URL at which tokens are revoked, if the authorization server has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) revocation: Option<String>,
    /// Endpoint that its tokens have come from: no other gets them for renewal, whatever the
    /// upstream says of its authorization server then. None in a login that an older version has
    /// kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token_endpoint: Option<String>,
    /// Tokens, client, scopes, issuer.
    pub(super) credentials: StoredCredentials,
}

impl Login {
    /// Returns the access token.
    pub(super) fn access(&self) -> Option<Secret> {
        let response = self.credentials.token_response.as_ref()?;
        Some(Secret::new(response.access_token().secret().clone()))
    }

    /// Returns the refresh token.
    pub(super) fn refresh(&self) -> Option<Secret> {
        let response = self.credentials.token_response.as_ref()?;
        Some(Secret::new(response.refresh_token()?.secret().clone()))
    }

    /// Returns all parts of the login that must not be seen.
    pub(super) fn secrets(&self) -> Vec<String> {
        let tokens = [self.access(), self.refresh()].into_iter().flatten();
        let mut secrets: Vec<_> = tokens.map(|token| token.expose().to_owned()).collect();
        if let Some(secret) = &self.client_secret {
            secrets.push(secret.clone());
            secrets.extend(basic_credentials(&self.credentials.client_id, secret));
        }
        secrets
    }

    /// Whether the access token has to be renewed before the next request.
    pub(super) fn ends_soon(&self) -> bool {
        let lifetime = self.lifetime().unwrap_or_default();
        self.left()
            .is_some_and(|left| left < MARGIN.min(lifetime / 4).max(1))
    }

    /// Whether the access token is of no use any more.
    pub(super) fn is_over(&self) -> bool {
        self.left() == Some(0)
    }

    /// Returns the seconds for which the access token is still valid, if its lifetime was said.
    fn left(&self) -> Option<u64> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
        let received = self.credentials.token_received_at?;
        Some(
            received
                .saturating_add(self.lifetime()?)
                .saturating_sub(now),
        )
    }

    /// Returns what may be told of the login.
    pub(super) fn kept(&self) -> Kept {
        Kept {
            left: self.left().map(Duration::from_secs),
            renews: self.refresh().is_some(),
        }
    }

    fn lifetime(&self) -> Option<u64> {
        let response = self.credentials.token_response.as_ref()?;
        Some(response.expires_in()?.as_secs())
    }
}

/// Parts of a kept login that may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Time for which its token is still valid, if that was said; zero where it has ended.
    pub left: Option<Duration>,
    /// Whether the next call gets another token by itself.
    pub renews: bool,
}

/// The place of one upstream's login.
#[derive(Debug, Clone)]
pub(super) struct Store {
    url: String,
    /// Dormouse's data folder.
    data: PathBuf,
    file: PathBuf,
    lock: PathBuf,
}

impl Store {
    /// Returns the place of an upstream's login in Dormouse's data folder. Upstreams of one URL share it, unless
    /// they are reached as different clients, or log in elsewhere: a refresh token must not go to a
    /// server that another entry names. Each server has its own at a provider.
    pub(super) fn new(data: &Path, http: &Http) -> Self {
        let mut hasher = blake3::Hasher::new();
        let oauth = &http.oauth;
        let client = oauth.client_id.as_deref().unwrap_or_default();
        hasher.update(http.url.as_bytes());
        // With a zero between them, no two lists are one text.
        hasher.update(b"\0").update(client.as_bytes());
        let elsewhere = [
            &oauth.metadata_url,
            &oauth.authorization_url,
            &oauth.token_url,
        ];
        if elsewhere.iter().any(|url| url.is_some()) {
            for url in elsewhere {
                let url = url.as_deref().unwrap_or_default();
                hasher.update(b"\0").update(url.as_bytes());
            }
        }
        if let Some(provider) = &oauth.provider {
            // A login is for one server, and for what it was allowed.
            for text in std::iter::once(&provider.owner).chain(&oauth.scopes) {
                hasher.update(b"\0").update(text.as_bytes());
            }
        }
        let key = hasher.finalize().to_hex();
        let folder = data.join("tokens");
        Self {
            url: http.url.clone(),
            data: data.to_owned(),
            file: folder.join(format!("{key}.json")),
            lock: folder.join(format!("{key}.lock")),
        }
    }

    /// Reads the login, if there is one.
    ///
    /// The file is read each time that the login is needed: that costs microseconds, and so a login
    /// in another process counts at once.
    pub(super) fn read(&self) -> Result<Option<Login>, Failure> {
        if !ownership::counts(&self.file, &self.data) {
            return Ok(None);
        }
        let text = match read_regular_file(&self.file, MAX_FILE_BYTES) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(None),
            Err(error) => return Err(self.failure("read", &error)),
        };
        match serde_json::from_slice::<Login>(&text) {
            // A file that was moved here is another upstream's.
            Ok(login) => Ok((login.url == self.url).then_some(login)),
            // What serde says may quote a part of the text.
            Err(_) => {
                let error = io::Error::new(ErrorKind::InvalidData, "it is not what was written");
                Err(self.failure("read", &error))
            }
        }
    }

    /// Keeps a login in place of the one before. All or nothing, and on the disk when this returns:
    /// the login before may be of no use any more.
    pub(super) fn write(&self, login: &Login) -> Result<(), Failure> {
        let write = || -> anyhow::Result<()> {
            self.make_folders()?;
            replace(&self.file, &serde_json::to_vec(login)?, Access::Private)
        };
        write().map_err(|error| self.failure("written", &error))
    }

    /// Forgets the login. False if there was none.
    pub(super) fn remove(&self) -> Result<bool, Failure> {
        match fs::remove_file(&self.file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.failure("removed", &error)),
        }
    }

    /// Waits until nobody else changes the login, and keeps others from it until the file that this
    /// returns is dropped.
    ///
    /// The lock has a file of its own, since the login's is replaced by each change, and the lock
    /// would go with it. The wait blocks no thread, and can be cancelled.
    pub(super) async fn lock(&self) -> Result<File, Failure> {
        let open = || -> io::Result<File> {
            self.make_folders()?;
            paths::open_own(&self.lock, File::options().write(true))
        };
        let failure = |error: &io::Error| self.failure("locked", error);
        let file = open().map_err(|error| failure(&error))?;
        let end = tokio::time::Instant::now() + LOCK_TIMEOUT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if tokio::time::Instant::now() < end => {
                    tokio::time::sleep(RETRY).await;
                }
                Err(TryLockError::WouldBlock) => {
                    let error = io::Error::new(
                        ErrorKind::TimedOut,
                        "another process has held its lock for two minutes",
                    );
                    return Err(failure(&error));
                }
                Err(TryLockError::Error(error)) => return Err(failure(&error)),
            }
        }
    }

    /// Makes the folders of the login, which are its user's alone.
    fn make_folders(&self) -> io::Result<()> {
        paths::make_private(&self.data)?;
        self.file.parent().map_or(Ok(()), paths::make_private)
    }

    fn failure(&self, what: &'static str, error: &dyn fmt::Display) -> Failure {
        Failure::Store {
            file: self.file.clone(),
            what,
            why: error.to_string(),
        }
    }
}

#[cfg(test)]
mod tests;
