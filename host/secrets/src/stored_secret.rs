//! One secret: its text in the keyring or encrypted in its file.

use std::path::{Path, PathBuf};

use dormouse_files::paths;
use dormouse_files::replace::{ABANDONED, sweep_beside};
use dormouse_launch::Secret;

use crate::age_identity::AgeIdentity;
use crate::error::StoredSecretError;
use crate::keyring::{self, KeyringError};
use crate::record::{KeptText, KeyringItem, SecretPlace, SecretRecord};

/// One secret, which has a file: that says where its text lies, or has it in it, encrypted.
///
/// Each change is all or nothing, and readers need no lock. Those who change it at once have to
/// exclude each other, or a text that no longer counts may stay in the keyring.
#[derive(Debug, Clone)]
pub struct StoredSecret {
    /// Kind of secret that it is, in a word.
    kind: &'static str,
    name: String,
    file: PathBuf,
    /// Dormouse's data folder.
    data: PathBuf,
}

impl StoredSecret {
    /// Returns the secret of a file below `data` (Dormouse's data folder). Its kind (a word)
    /// and name are what its user sees in the keyring. Reads nothing yet.
    #[must_use]
    pub fn new(data: &Path, file: &Path, kind: &'static str, name: &str) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            file: file.to_owned(),
            data: data.to_owned(),
        }
    }

    /// Returns the text; none where there is no such secret. Waits for the keyring up to half a minute.
    ///
    /// # Errors
    /// Its file cannot be read, or its text not be had.
    pub fn get(&self) -> Result<Option<Secret>, StoredSecretError> {
        let Some(record) = self.record()? else {
            return Ok(None);
        };
        match self.text(&record) {
            // It may have been changed since its file was read.
            Err(StoredSecretError::Gone) => match self.record()? {
                Some(now) if now.version != record.version => self.text(&now).map(Some),
                Some(_) => Err(StoredSecretError::Gone),
                None => Ok(None),
            },
            text => text.map(Some),
        }
    }

    /// Returns what is another one after each change of the text; none where there is no such secret.
    /// Asks no keyring.
    ///
    /// # Errors
    /// Its file cannot be read.
    pub fn version(&self) -> Result<Option<String>, StoredSecretError> {
        Ok(self.record()?.map(|record| record.version))
    }

    /// Returns the place where the text lies; none where there is no such secret. Asks no keyring.
    ///
    /// # Errors
    /// Its file cannot be read.
    pub fn place(&self) -> Result<Option<SecretPlace>, StoredSecretError> {
        Ok(self.record()?.map(|record| record.place()))
    }

    /// Returns what was said about the text when it was kept; none where there is no such secret. Asks
    /// no keyring.
    ///
    /// # Errors
    /// Its file cannot be read.
    pub fn about(&self) -> Result<Option<String>, StoredSecretError> {
        Ok(self.record()?.map(|record| record.about))
    }

    /// Keeps a text in place of the one before: in the keyring, or encrypted in the file where none
    /// runs. Returns where. Waits for the keyring up to half a minute.
    ///
    /// # Errors
    /// The keyring is there and fails, or the file cannot be written. What was kept before still is.
    pub fn set(&self, text: &Secret) -> Result<SecretPlace, StoredSecretError> {
        self.set_with(text, "")
    }

    fn set_with(&self, text: &Secret, about: &str) -> Result<SecretPlace, StoredSecretError> {
        let before = self.record()?;
        let version = version()?;
        let user = format!("{} {} {version}", self.kind, self.name);
        let label = format!("Dormouse: {} `{}`", self.kind, self.name);
        let kept = match keyring::put(&user, &label, text.expose()) {
            Ok(item) => KeptText::Keyring(item),
            Err(KeyringError::None(why)) => {
                tracing::debug!(
                    "the {} `{}` is kept in an encrypted file: {why}",
                    self.kind,
                    self.name
                );
                self.encrypted(text)?
            }
            Err(error) => return Err(error.into()),
        };
        self.replace(before, version, about, kept)
    }

    /// Keeps a text, with words about it that are no secret, like [`Self::set`], but encrypted in the file where the keyring fails: for a text
    /// that nobody can give again.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn set_anywhere(
        &self,
        text: &Secret,
        about: &str,
    ) -> Result<SecretPlace, StoredSecretError> {
        match self.set_with(text, about) {
            Err(StoredSecretError::File { file, what, why }) => {
                Err(StoredSecretError::File { file, what, why })
            }
            Err(why) => {
                tracing::warn!(
                    "the {} `{}` is kept in an encrypted file: {why}",
                    self.kind,
                    self.name
                );
                let kept = self.encrypted(text)?;
                self.replace(self.record()?, version()?, about, kept)
            }
            Ok(place) => Ok(place),
        }
    }

    /// Removes the secret. False if there was none.
    ///
    /// # Errors
    /// The keyring cannot be reached, or the file not be removed: the secret still is there.
    pub fn remove(&self) -> Result<bool, StoredSecretError> {
        let Some(record) = self.record()? else {
            return Ok(false);
        };
        for item in record.items() {
            keyring::delete(&item)?;
        }
        std::fs::remove_file(&self.file).map_err(|error| StoredSecretError::File {
            file: self.file.clone(),
            what: "removed",
            why: error.to_string(),
        })?;
        sweep_beside(&self.file, ABANDONED);
        Ok(true)
    }

    /// Returns the file that says where the text lies.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    fn record(&self) -> Result<Option<SecretRecord>, StoredSecretError> {
        SecretRecord::read(&self.file, &self.data, &self.name)
    }

    fn text(&self, record: &SecretRecord) -> Result<Secret, StoredSecretError> {
        let text = match &record.text {
            KeptText::Keyring(item) => keyring::get(item)?,
            KeptText::Age(encrypted) => AgeIdentity::of(&self.data).decrypt(encrypted)?,
        };
        Ok(Secret::new(text))
    }

    fn encrypted(&self, text: &Secret) -> Result<KeptText, StoredSecretError> {
        let encrypted = AgeIdentity::of(&self.data).encrypt(text.expose())?;
        Ok(KeptText::Age(encrypted))
    }

    /// Writes the file, and removes from the keyring what no longer counts.
    fn replace(
        &self,
        before: Option<SecretRecord>,
        version: String,
        about: &str,
        kept: KeptText,
    ) -> Result<SecretPlace, StoredSecretError> {
        let mut record = SecretRecord {
            name: self.name.clone(),
            version,
            about: about.to_owned(),
            text: kept,
            outdated: before.map(|before| before.items()).unwrap_or_default(),
        };
        let written = self.make_folders().and_then(|()| record.write(&self.file));
        if let Err(error) = written {
            if let KeptText::Keyring(item) = &record.text {
                self.forget(item);
            }
            return Err(error);
        }
        let all = record.outdated.len();
        record.outdated.retain(|item| !self.forget(item));
        if record.outdated.len() < all {
            record.write(&self.file)?;
        }
        Ok(record.place())
    }

    /// Removes an item of the keyring. Returns whether it is gone.
    fn forget(&self, item: &KeyringItem) -> bool {
        let deleted = keyring::delete(item).map_err(StoredSecretError::from);
        if let Err(why) = &deleted {
            tracing::warn!(
                "an outdated text of the {} `{}` stays in the keyring: {why}",
                self.kind,
                self.name
            );
        }
        deleted.is_ok()
    }

    fn make_folders(&self) -> Result<(), StoredSecretError> {
        let folder = self.file.parent().unwrap_or(&self.data);
        let made = paths::make_private(&self.data).and_then(|()| paths::make_private(folder));
        made.map_err(|error| StoredSecretError::File {
            file: self.file.clone(),
            what: "written",
            why: error.to_string(),
        })
    }
}

/// Returns a text that no other version has.
fn version() -> Result<String, StoredSecretError> {
    let mut random = [0; 16];
    match getrandom::fill(&mut random) {
        Ok(()) => Ok(format!("{:032x}", u128::from_le_bytes(random))),
        Err(error) => Err(StoredSecretError::Refused {
            why: format!("the system has no random numbers: {error}"),
        }),
    }
}
