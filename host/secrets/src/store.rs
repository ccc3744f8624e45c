//! The user's own secrets, by name.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dormouse_files::paths;
use dormouse_files::replace::sweep_beside;
use dormouse_launch::Secret;

use crate::error::{SecretStoreError, StoredSecretError};
use crate::record::{SecretPlace, SecretRecord};
use crate::stored_secret::StoredSecret;

/// Longest text of a secret, in bytes.
pub const MAX_SECRET_BYTES: usize = 64 << 10;

/// Kind of its secrets, in a word.
const KIND: &str = "secret";

/// Folder of the secrets in Dormouse's data folder.
const FOLDER: &str = "secrets";

/// Extension of a secret's file.
const EXTENSION: &str = "json";

/// Time that another process may hold the lock: longer than it may wait for a keyring.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// Interval at which the lock is tried.
const RETRY: Duration = Duration::from_millis(20);

/// The user's own secrets, by name. All that is called on it blocks, and may wait for the keyring up
/// to half a minute.
#[derive(Debug, Clone)]
pub struct SecretStore {
    /// Dormouse's data folder.
    data: PathBuf,
}

/// A secret of the store, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSecret {
    /// Its name.
    pub name: String,
    /// The place where its text lies.
    pub place: SecretPlace,
}

impl SecretStore {
    /// Returns the store in `data` (Dormouse's data folder), which need not exist. Does nothing yet.
    #[must_use]
    pub fn open(data: &Path) -> Self {
        Self {
            data: data.to_owned(),
        }
    }

    /// Keeps a text under a name, in place of the one before. Returns where it lies now.
    ///
    /// # Errors
    /// The name or the text cannot be one, the keyring is there and fails, or a file cannot be
    /// written. What was kept before still is.
    pub fn set(&self, name: &str, text: &Secret) -> Result<SecretPlace, SecretStoreError> {
        let secret = self.secret(name)?;
        let wrong = match text.expose().len() {
            0 => Some("is empty"),
            length if length > MAX_SECRET_BYTES => Some("is longer than 64 KiB"),
            _ => None,
        };
        if let Some(why) = wrong {
            let name = name.to_owned();
            return Err(SecretStoreError::Text { name, why });
        }
        let _lock = self.lock()?;
        secret.set(text).map_err(failure(name, "kept"))
    }

    /// Returns the text of a secret; none where none has this name.
    ///
    /// # Errors
    /// It is no name, or the text cannot be had.
    pub fn get(&self, name: &str) -> Result<Option<Secret>, SecretStoreError> {
        self.secret(name)?.get().map_err(failure(name, "read"))
    }

    /// Returns what is another one after each change of a secret's text; none where none has this
    /// name. Asks no keyring: it takes microseconds.
    ///
    /// # Errors
    /// It is no name, or the secret's file cannot be read.
    pub fn version(&self, name: &str) -> Result<Option<String>, SecretStoreError> {
        self.secret(name)?.version().map_err(failure(name, "read"))
    }

    /// Whether a secret has this name. Asks no keyring.
    ///
    /// # Errors
    /// Those of [`Self::version`].
    pub fn contains(&self, name: &str) -> Result<bool, SecretStoreError> {
        Ok(self.version(name)?.is_some())
    }

    /// Removes a secret. False if none has this name.
    ///
    /// # Errors
    /// It is no name, the keyring cannot be reached, or the secret's file not be removed: the secret
    /// still is there.
    pub fn remove(&self, name: &str) -> Result<bool, SecretStoreError> {
        let secret = self.secret(name)?;
        if !self.folder().exists() {
            return Ok(false);
        }
        let _lock = self.lock()?;
        secret.remove().map_err(failure(name, "removed"))
    }

    /// Returns all secrets, by name. Asks no keyring. What cannot be read is logged and left out.
    ///
    /// # Errors
    /// The store's folder cannot be read.
    pub fn list(&self) -> Result<Vec<ListedSecret>, SecretStoreError> {
        let entries = match fs::read_dir(self.folder()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.failure(error.to_string())),
        };
        let mut all = Vec::new();
        for entry in entries {
            let file = entry
                .map_err(|error| self.failure(error.to_string()))?
                .path();
            if file
                .extension()
                .is_none_or(|extension| extension != EXTENSION)
                || dormouse_files::replace::is_temporary(&file)
            {
                continue;
            }
            match SecretRecord::read_any(&file, &self.data) {
                // A file that was moved is no secret's.
                Ok(Some(record)) if self.file(&record.name) == file => all.push(ListedSecret {
                    place: record.place(),
                    name: record.name,
                }),
                Ok(_) => tracing::warn!("`{}` is no secret's, and left out", file.display()),
                Err(why) => tracing::warn!("a secret is left out: {why}"),
            }
        }
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    fn secret(&self, name: &str) -> Result<StoredSecret, SecretStoreError> {
        match Secret::is_name(name) {
            true => Ok(StoredSecret::new(&self.data, &self.file(name), KIND, name)),
            false => Err(SecretStoreError::Name {
                name: name.chars().take(Secret::MAX_NAME * 2).collect(),
            }),
        }
    }

    fn folder(&self) -> PathBuf {
        self.data.join(FOLDER)
    }

    /// Returns the file of a secret. Its name is a hash, because there are systems to which `A` and
    /// `a` are one file, and `con` none.
    fn file(&self, name: &str) -> PathBuf {
        let hash = blake3::hash(name.as_bytes()).to_hex();
        self.folder().join(format!("{hash}.{EXTENSION}"))
    }

    /// Waits until no other process changes the store, and keeps others from it until the file that
    /// this returns is dropped. What processes that were killed have left there is removed.
    fn lock(&self) -> Result<File, SecretStoreError> {
        let folder = self.folder();
        let open = || -> std::io::Result<File> {
            paths::make_private(&self.data)?;
            paths::make_private(&folder)?;
            paths::open_own(&folder.join("lock"), File::options().write(true))
        };
        let file = open().map_err(|error| self.failure(error.to_string()))?;
        let end = Instant::now() + LOCK_TIMEOUT;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    // Nobody else is at work there.
                    sweep_beside(&self.file(""), Duration::ZERO);
                    return Ok(file);
                }
                Err(TryLockError::WouldBlock) if Instant::now() < end => {
                    std::thread::sleep(RETRY);
                }
                Err(TryLockError::WouldBlock) => {
                    let why = "another process has held its lock for a minute";
                    return Err(self.failure(why.to_owned()));
                }
                Err(TryLockError::Error(error)) => return Err(self.failure(error.to_string())),
            }
        }
    }

    fn failure(&self, why: String) -> SecretStoreError {
        SecretStoreError::Folder {
            folder: self.folder(),
            why,
        }
    }
}

fn failure(name: &str, what: &'static str) -> impl FnOnce(StoredSecretError) -> SecretStoreError {
    move |cause| SecretStoreError::Secret {
        name: name.to_owned(),
        what,
        cause,
    }
}

#[cfg(test)]
mod tests;
