//! Store of logins: a secret for each upstream, which only its user can read.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dormouse_files::regular::read_regular_file;
use dormouse_files::{ownership, paths};
use dormouse_launch::{Http, Secret};
use dormouse_secrets::{StoredSecret, StoredSecretError};
use parking_lot::Mutex;

use super::LoginFailure;
use login::{LoginFacts, hash_of};

pub use login::KeptLoginSummary;
pub(super) use login::Login;

mod login;

/// Interval at which the lock is tried.
const RETRY: Duration = Duration::from_millis(20);

/// Time that another process may hold the lock. A refresh is a few requests, and each of them ends
/// after half a minute.
const LOCK_TIMEOUT: Duration = Duration::from_secs(120);

/// Largest file with a login that is read, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The place of one upstream's login.
#[derive(Clone)]
pub(super) struct LoginStore {
    url: String,
    /// Dormouse's data folder.
    data: PathBuf,
    /// File in which an older version has kept the login, as text.
    plain: PathBuf,
    stored: StoredSecret,
    pub(super) lock: PathBuf,
    /// Login that was read last, with its version.
    last: Arc<Mutex<Option<(String, Login)>>>,
}

impl LoginStore {
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
            plain: folder.join(format!("{key}.json")),
            stored: StoredSecret::new(
                data,
                &folder.join(format!("{key}.login.json")),
                "login",
                &key,
            ),
            lock: folder.join(format!("{key}.lock")),
            last: Arc::default(),
        }
    }

    /// Does something with the store where no worker of the runtime waits for it: a keyring may wait
    /// for its user.
    pub(super) async fn in_background<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, LoginFailure> + Send + 'static,
    ) -> Result<T, LoginFailure> {
        let store = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&store)).await;
        done.unwrap_or_else(|error| Err(self.failure("reached", &error)))
    }

    /// Reads the login, if there is one. Blocks.
    ///
    /// Its file is read each time that the login is needed: that costs microseconds, and so a login
    /// in another process counts at once. The keyring is asked for one that is another than before.
    pub(super) fn read(&self) -> Result<Option<Login>, LoginFailure> {
        if let Some(login) = self.read_plain()? {
            return Ok(Some(login));
        }
        let unread = |error: StoredSecretError| self.failure("read", &error);
        let Some(version) = self.stored.version().map_err(unread)? else {
            return Ok(None);
        };
        if let Some(login) = self.last_if(&version) {
            return Ok(Some(login));
        }
        let Some(text) = self.stored.get().map_err(unread)? else {
            return Ok(None);
        };
        let login = self.parse(text.expose().as_bytes())?;
        // It may have been changed in between, and is read anew then.
        *self.last.lock() = login.clone().map(|login| (version, login));
        Ok(login)
    }

    /// Returns the login, if it was read before. Asks no keyring.
    pub(super) fn known(&self) -> Result<Option<Login>, LoginFailure> {
        if let Some(login) = self.read_plain()? {
            return Ok(Some(login));
        }
        let version = self.stored.version();
        let version = version.map_err(|error| self.failure("read", &error))?;
        Ok(version.and_then(|version| self.last_if(&version)))
    }

    fn last_if(&self, version: &str) -> Option<Login> {
        let last = self.last.lock();
        let (known, login) = last.as_ref()?;
        (known == version).then(|| login.clone())
    }

    /// Returns what may be told of the login. Asks no keyring.
    pub(super) fn kept(&self) -> Result<Option<KeptLoginSummary>, LoginFailure> {
        if let Some(login) = self.read_plain()? {
            return Ok(Some(login.kept()));
        }
        let about = self.stored.about();
        let about = about.map_err(|error| self.failure("read", &error))?;
        // One that says nothing is one all the same.
        let about =
            about.map(|about| serde_json::from_str::<LoginFacts>(&about).unwrap_or_default());
        let is_elsewhere = |about: &LoginFacts| {
            about
                .of
                .as_ref()
                .is_some_and(|of| *of != hash_of(&self.url))
        };
        Ok(about
            .filter(|about| !is_elsewhere(about))
            .map(|about| about.kept()))
    }

    /// Keeps a login in place of the one before: in the keyring, or encrypted where none runs or it
    /// fails. All or nothing, and on the disk when this returns: the login before may be of no use any
    /// more. Blocks.
    pub(super) fn write(&self, login: &Login) -> Result<(), LoginFailure> {
        let unwritten = |error: &dyn fmt::Display| self.failure("written", error);
        self.make_folders().map_err(|error| unwritten(&error))?;
        let text = serde_json::to_string(login).map_err(|error| unwritten(&error))?;
        let about = serde_json::to_string(&login.about()).map_err(|error| unwritten(&error))?;
        let kept = self.stored.set_anywhere(&Secret::new(text), &about);
        kept.map_err(|error| unwritten(&error))?;
        // From now on this would be another login, and the older one.
        self.remove_plain().map(drop)
    }

    /// Forgets the login. False if there was none. Blocks.
    pub(super) fn remove(&self) -> Result<bool, LoginFailure> {
        let was_plain = self.remove_plain()?;
        let removed = self.stored.remove();
        let removed = removed.map_err(|error| self.failure("removed", &error))?;
        *self.last.lock() = None;
        Ok(removed || was_plain)
    }

    /// Whether the login is one that an older version has written, as text.
    pub(super) fn is_plain(&self) -> bool {
        self.plain.exists()
    }

    /// Puts a login that an older version has written where logins are kept now. For whom holds the
    /// lock. Blocks.
    pub(super) fn take_over(&self) -> Result<(), LoginFailure> {
        match self.read_plain()? {
            Some(login) => self.write(&login),
            None => Ok(()),
        }
    }

    /// Reads a login that an older version has written. It is newer than any other: those are taken
    /// over.
    fn read_plain(&self) -> Result<Option<Login>, LoginFailure> {
        if !ownership::counts(&self.plain, &self.data) {
            return Ok(None);
        }
        match read_regular_file(&self.plain, MAX_FILE_BYTES) {
            Ok(Some(text)) => self.parse(&text),
            Ok(None) => Ok(None),
            Err(error) => Err(self.failure("read", &error)),
        }
    }

    fn remove_plain(&self) -> Result<bool, LoginFailure> {
        match fs::remove_file(&self.plain) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.failure("removed", &error)),
        }
    }

    fn parse(&self, text: &[u8]) -> Result<Option<Login>, LoginFailure> {
        match serde_json::from_slice::<Login>(text) {
            // A file that was moved here is another upstream's.
            Ok(login) => Ok((login.url == self.url).then_some(login)),
            // What serde says may quote a part of the text.
            Err(_) => {
                let error = io::Error::new(ErrorKind::InvalidData, "it is not what was written");
                Err(self.failure("read", &error))
            }
        }
    }

    /// Waits until nobody else changes the login, and keeps others from it until the file that this
    /// returns is dropped.
    ///
    /// The lock has a file of its own, since the login's is replaced by each change, and the lock
    /// would go with it. The wait blocks no thread, and can be cancelled.
    pub(super) async fn lock(&self) -> Result<File, LoginFailure> {
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
        self.lock.parent().map_or(Ok(()), paths::make_private)
    }

    fn failure(&self, what: &'static str, error: &dyn fmt::Display) -> LoginFailure {
        LoginFailure::Store {
            file: match self.is_plain() {
                true => self.plain.clone(),
                false => self.stored.file().to_owned(),
            },
            what,
            why: error.to_string(),
        }
    }
}

#[cfg(test)]
mod tests;
