//! Key of the encrypted files: an identity of age, in a file that its user alone can read.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use age::secrecy::ExposeSecret as _;
use age::x25519::Identity;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dormouse_files::regular::read_regular_file;
use dormouse_files::replace::{Access, replace_if};
use dormouse_files::{ownership, paths};

use crate::error::StoredSecretError;

/// Name of its file in Dormouse's data folder.
const FILE: &str = "age-identity.txt";

/// Largest file with a key that is read, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// Key of the encrypted files of a data folder.
pub(crate) struct AgeIdentity {
    file: PathBuf,
    data: PathBuf,
}

impl AgeIdentity {
    /// Returns the key of a data folder. Reads nothing yet.
    pub(crate) fn of(data: &Path) -> Self {
        Self {
            file: data.join(FILE),
            data: data.to_owned(),
        }
    }

    /// Encrypts a text, with a key that is made where there is none. Returns it in base64.
    pub(crate) fn encrypt(&self, text: &str) -> Result<String, StoredSecretError> {
        let identity = match self.read()? {
            Some(identity) => identity,
            None => self.make()?,
        };
        let encrypted = age::encrypt(&identity.to_public(), text.as_bytes());
        let encrypted = encrypted.map_err(|error| self.failure("used", &error.to_string()))?;
        Ok(STANDARD.encode(encrypted))
    }

    /// Decrypts a text that was encrypted here.
    pub(crate) fn decrypt(&self, encrypted: &str) -> Result<String, StoredSecretError> {
        let undecryptable = |why: &str| StoredSecretError::Undecryptable {
            identity: self.file.clone(),
            why: why.to_owned(),
        };
        let Some(identity) = self.read()? else {
            return Err(undecryptable("there is no such file"));
        };
        let encrypted = STANDARD.decode(encrypted);
        let encrypted = encrypted.map_err(|_| undecryptable("it is damaged"))?;
        let text = age::decrypt(&identity, &encrypted);
        let text = text.map_err(|error| undecryptable(&error.to_string()))?;
        String::from_utf8(text).map_err(|_| undecryptable("it is no text"))
    }

    fn read(&self) -> Result<Option<Identity>, StoredSecretError> {
        ownership::check(&self.file, &self.data)
            .map_err(|error| self.failure("read", &error.to_string()))?;
        let bytes = read_regular_file(&self.file, MAX_FILE_BYTES);
        let bytes = bytes.map_err(|error| self.failure("read", &error.to_string()))?;
        let Some(text) = bytes.map(String::from_utf8) else {
            return Ok(None);
        };
        let text = text.unwrap_or_default();
        let mut lines = text.lines().map(str::trim);
        let key = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
        let identity = key.and_then(|key| Identity::from_str(key).ok());
        let why = "it has no key of age in it (`AGE-SECRET-KEY-1…`)\n\
                   hint: put back what was there; without it, remove it and set all secrets anew";
        identity.map(Some).ok_or_else(|| self.failure("read", why))
    }

    /// Makes a key, and returns the one that is in the file then: another process may be first.
    fn make(&self) -> Result<Identity, StoredSecretError> {
        let made = Identity::generate().to_string();
        let text = format!(
            "# Key of the secrets that Dormouse keeps in encrypted files. Without it they are lost.\n{}\n",
            made.expose_secret()
        );
        let is_missing = |file: &Path| Ok(!file.exists());
        let write = || -> anyhow::Result<bool> {
            paths::make_private(&self.data)?;
            replace_if(&self.file, text.as_bytes(), Access::Private, is_missing)
        };
        write().map_err(|error| self.failure("written", &error.to_string()))?;
        let identity = self.read()?;
        identity.ok_or_else(|| self.failure("read", "it was removed"))
    }

    fn failure(&self, what: &'static str, why: &str) -> StoredSecretError {
        StoredSecretError::File {
            file: self.file.clone(),
            what,
            why: why.to_owned(),
        }
    }
}
