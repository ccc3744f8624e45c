//! Reasons why a secret cannot be kept or read. None has anything of its text in it.

use std::path::PathBuf;

use crate::keyring::{KEYRING_VARIABLE, WAIT};

/// Reason why a named secret cannot be kept, read or removed.
#[derive(Debug, thiserror::Error)]
pub enum SecretStoreError {
    /// It is no name of a secret.
    #[error(
        "`{}` is no name of a secret\nhint: use letters (a-z, A-Z), digits, `-` and `_`, at most 64",
        name.escape_debug()
    )]
    Name {
        /// The text that is no name.
        name: String,
    },
    /// Its text is empty, or longer than any secret.
    #[error("the secret `{name}` cannot be kept: its text {why}")]
    Text {
        /// Its name.
        name: String,
        /// Fault of its text.
        why: &'static str,
    },
    /// Another process holds the store's lock, or files of the store cannot be reached.
    #[error("the secrets in `{}` cannot be reached: {why}", folder.display())]
    Folder {
        /// The store's folder.
        folder: PathBuf,
        /// Fault of it.
        why: String,
    },
    /// The secret cannot be reached.
    #[error("the secret `{name}` cannot be {what}: {cause}")]
    Secret {
        /// Its name.
        name: String,
        /// Action that cannot be done: `read`, `kept`, `removed`.
        what: &'static str,
        /// The reason.
        cause: StoredSecretError,
    },
}

/// Reason why the text of one secret cannot be kept, read or removed.
#[derive(Debug, thiserror::Error)]
pub enum StoredSecretError {
    /// It lies in the keyring, which does not run.
    #[error(
        "it lies in the system's keyring, which cannot be reached: {why}\n\
         hint: start the keyring (of your desktop, or `gnome-keyring-daemon`), or set the secret anew"
    )]
    NoKeyring {
        /// Reason for which the keyring's connection failed.
        why: String,
    },
    /// It lies in the keyring, which is switched off.
    #[error(
        "it lies in the system's keyring, and `{KEYRING_VARIABLE}` is `off`\n\
         hint: unset `{KEYRING_VARIABLE}`, or set the secret anew"
    )]
    KeyringOff,
    /// The variable that switches the keyring off has a value that nobody knows.
    #[error("`{KEYRING_VARIABLE}` is `{}`\nhint: unset it, or set it to `off`", value.escape_debug())]
    Variable {
        /// Its value.
        value: String,
    },
    /// The keyring does not answer: it hangs, or waits for its user.
    #[error(
        "the system's keyring has not answered within {} seconds\n\
         hint: unlock it, or set `{KEYRING_VARIABLE}=off` to keep secrets in encrypted files",
        WAIT.as_secs()
    )]
    Unanswered,
    /// The keyring refuses it: it is locked, and its user has not unlocked it.
    #[error(
        "the system's keyring does not give access ({why})\n\
         hint: unlock it, or set `{KEYRING_VARIABLE}=off` to keep secrets in encrypted files"
    )]
    Refused {
        /// The keyring's words.
        why: String,
    },
    /// The keyring no longer has what was put there.
    #[error("the system's keyring no longer has it\nhint: set it anew")]
    Gone,
    /// The key of the encrypted files is not the one that it was encrypted with.
    #[error(
        "it cannot be decrypted with the key in `{}`: {why}\nhint: set it anew, or put the old key back",
        identity.display()
    )]
    Undecryptable {
        /// The file with the key.
        identity: PathBuf,
        /// The reason.
        why: String,
    },
    /// A file cannot be read or written.
    #[error("`{}` cannot be {what}: {why}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Action that cannot be done with it.
        what: &'static str,
        /// The reason.
        why: String,
    },
}
