//! Store of secrets: the system's keyring, or files that are encrypted where no keyring runs.
//!
//! All of it blocks: a keyring may ask its user to unlock it, for which half a minute is waited.
//! Nothing is read, and nobody is asked, before a secret is.

#![forbid(unsafe_code)]

mod age_identity;
mod error;
mod keyring;
mod record;
mod store;
mod stored_secret;

pub use self::error::{SecretStoreError, StoredSecretError};
pub use self::keyring::KEYRING_VARIABLE;
pub use self::record::SecretPlace;
pub use self::store::{ListedSecret, MAX_SECRET_BYTES, SecretStore};
pub use self::stored_secret::StoredSecret;
