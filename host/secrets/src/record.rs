//! Record of a secret: a file that says where its text lies. It is the only word on that, so that a
//! keyring that comes or goes makes no second secret of the same name.

use std::path::Path;

use dormouse_files::ownership;
use dormouse_files::regular::read_regular_file;
use dormouse_files::replace::{Access, replace};
use serde::{Deserialize, Serialize};

use crate::error::StoredSecretError;

/// Largest record that is read, in bytes.
const MAX_FILE_BYTES: u64 = 32 << 20;

/// Place where the text of a secret lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretPlace {
    /// The system's keyring.
    Keyring,
    /// An encrypted file.
    File,
}

/// Record of a secret.
#[derive(Serialize, Deserialize)]
pub(crate) struct SecretRecord {
    /// Name of the secret.
    pub(crate) name: String,
    /// Text that is another one after each change.
    pub(crate) version: String,
    /// Facts on the text that anybody who reads the record may know.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) about: String,
    /// Its text, or where that is.
    #[serde(flatten)]
    pub(crate) text: KeptText,
    /// Items of the keyring with texts that no longer count, which could not be removed yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) outdated: Vec<KeyringItem>,
}

/// Text of a secret, as it is kept.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeptText {
    /// In the keyring.
    Keyring(KeyringItem),
    /// Here, encrypted by age, in base64.
    Age(String),
}

/// Item of the keyring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeyringItem {
    /// Name under which it is in the keyring.
    pub(crate) user: String,
    /// Number of parts that it has there.
    pub(crate) parts: u16,
}

impl SecretRecord {
    /// Reads the record of a secret. None where there is none, and where somebody else can have
    /// written it, which is logged.
    pub(crate) fn read(
        file: &Path,
        data: &Path,
        name: &str,
    ) -> Result<Option<Self>, StoredSecretError> {
        let record = Self::read_any(file, data)?;
        // A file that was moved here is another secret's.
        Ok(record.filter(|record| record.name == name))
    }

    /// Reads a record, whatever the name of its secret.
    pub(crate) fn read_any(file: &Path, data: &Path) -> Result<Option<Self>, StoredSecretError> {
        if !ownership::counts(file, data) {
            return Ok(None);
        }
        let bytes = read_regular_file(file, MAX_FILE_BYTES);
        let Some(bytes) = bytes.map_err(|error| unread(file, &error.to_string()))? else {
            return Ok(None);
        };
        // What serde says may quote a part of the text.
        let record = serde_json::from_slice(&bytes);
        record.map(Some).map_err(|_| {
            unread(
                file,
                "it is not what was written\nhint: remove it, and set the secret anew",
            )
        })
    }

    /// Writes the record, all or nothing, and on the disk when this returns.
    pub(crate) fn write(&self, file: &Path) -> Result<(), StoredSecretError> {
        let write =
            || -> anyhow::Result<()> { replace(file, &serde_json::to_vec(self)?, Access::Private) };
        write().map_err(|error| StoredSecretError::File {
            file: file.to_owned(),
            what: "written",
            why: error.to_string(),
        })
    }

    /// Returns the place of the text.
    pub(crate) fn place(&self) -> SecretPlace {
        match self.text {
            KeptText::Keyring(_) => SecretPlace::Keyring,
            KeptText::Age(_) => SecretPlace::File,
        }
    }

    /// Returns all items of the keyring that it names.
    pub(crate) fn items(&self) -> Vec<KeyringItem> {
        let mut items = self.outdated.clone();
        if let KeptText::Keyring(item) = &self.text {
            items.push(item.clone());
        }
        items
    }
}

fn unread(file: &Path, why: &str) -> StoredSecretError {
    StoredSecretError::File {
        file: file.to_owned(),
        what: "read",
        why: why.to_owned(),
    }
}
