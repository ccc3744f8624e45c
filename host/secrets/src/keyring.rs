//! The system's keyring, asked by threads of their own that nobody waits for longer than a while.

#[cfg(target_os = "linux")]
mod session_bus;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use keyring_core::api::CredentialStore;
use keyring_core::{Entry, Error};
use parking_lot::Mutex;

use crate::error::StoredSecretError;
use crate::record::KeyringItem;

/// Environment variable that switches the keyring off, with `off`.
pub const KEYRING_VARIABLE: &str = "DORMOUSE_KEYRING";

/// Time that the keyring may take: its user may have to unlock it.
pub(crate) const WAIT: Duration = Duration::from_secs(30);

/// Name of the service under which its items are in the keyring.
const SERVICE: &str = "dormouse";

/// Largest part that an item is kept in, in bytes. Windows has no room for more than 2560.
const MAX_PART_BYTES: usize = if cfg!(windows) { 2048 } else { 1 << 20 };

/// One request at a time: a keyring that waits for its user is not asked again meanwhile.
static TURN: Mutex<()> = Mutex::new(());

/// Time at which whoever has asked for the request that runs stops waiting for it.
static RUNNING_UNTIL: Mutex<Option<Instant>> = Mutex::new(None);

/// Reason why the keyring cannot be used.
pub(crate) enum KeyringError {
    /// None runs, or none is wanted: a file has to do.
    None(StoredSecretError),
    /// It is there, and fails.
    Failed(StoredSecretError),
    /// It does not have what is looked for.
    Missing,
}

impl From<KeyringError> for StoredSecretError {
    fn from(error: KeyringError) -> Self {
        match error {
            KeyringError::None(why) | KeyringError::Failed(why) => why,
            KeyringError::Missing => Self::Gone,
        }
    }
}

/// Puts a text into the keyring, as a new item. `label` is what its user sees there.
pub(crate) fn put(user: &str, label: &str, text: &str) -> Result<KeyringItem, KeyringError> {
    let parts: Vec<_> = text
        .as_bytes()
        .chunks(MAX_PART_BYTES)
        .map(<[u8]>::to_vec)
        .collect();
    let item = KeyringItem {
        user: user.to_owned(),
        parts: u16::try_from(parts.len()).map_err(|_| too_long())?,
    };
    let label = label.to_owned();
    let put = item.clone();
    let undone = item.clone();
    ask(
        move |store| {
            let entries = entries(store, &put, Some(&label))?;
            for (entry, part) in entries.iter().zip(&parts) {
                if let Err(error) = entry.set_secret(part) {
                    remove(store, &put)?;
                    return Err(error);
                }
            }
            Ok(())
        },
        // Who asked has gone, and will not know of it.
        move |store| {
            let _ = remove(store, &undone);
        },
    )?;
    Ok(item)
}

/// Returns the text of an item.
pub(crate) fn get(item: &KeyringItem) -> Result<String, KeyringError> {
    let item = item.clone();
    let bytes = ask(
        move |store| {
            let mut bytes = Vec::new();
            for entry in entries(store, &item, None)? {
                bytes.extend(entry.get_secret()?);
            }
            Ok(bytes)
        },
        |_| {},
    )?;
    String::from_utf8(bytes).map_err(|_| KeyringError::Missing)
}

/// Removes an item. One that is not there is removed.
pub(crate) fn delete(item: &KeyringItem) -> Result<(), KeyringError> {
    let item = item.clone();
    ask(move |store| remove(store, &item), |_| {})
}

fn entries(
    store: &Arc<CredentialStore>,
    item: &KeyringItem,
    label: Option<&str>,
) -> keyring_core::Result<Vec<Entry>> {
    // Other systems have no labels, or take them from the name.
    let label = label.filter(|_| cfg!(target_os = "linux"));
    let label: HashMap<_, _> = label.into_iter().map(|label| ("label", label)).collect();
    let users = (0..item.parts).map(|part| match part {
        0 => item.user.clone(),
        part => format!("{} {part}", item.user),
    });
    let entries = users.map(|user| match label.is_empty() {
        true => store.build(SERVICE, &user, None),
        false => store.build(SERVICE, &user, Some(&label)),
    });
    entries.collect()
}

fn remove(store: &Arc<CredentialStore>, item: &KeyringItem) -> keyring_core::Result<()> {
    for entry in entries(store, item, None)? {
        match entry.delete_credential() {
            Ok(()) | Err(Error::NoEntry) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Has the keyring do something, in a thread that may wait for its user as long as it likes. `undo`
/// is for what is done when nobody waits for it any more.
fn ask<T: Send + 'static>(
    work: impl FnOnce(&Arc<CredentialStore>) -> keyring_core::Result<T> + Send + 'static,
    undo: impl FnOnce(&Arc<CredentialStore>) + Send + 'static,
) -> Result<T, KeyringError> {
    check_is_wanted()?;
    let unanswered = || KeyringError::Failed(StoredSecretError::Unanswered);
    // The keyring is at what nobody waits for any more, so this would wait in vain as well.
    if RUNNING_UNTIL
        .lock()
        .is_some_and(|end| Instant::now() >= end)
    {
        return Err(unanswered());
    }
    let end = Instant::now() + WAIT;
    // Without room in it: what is sent was received.
    let (sender, receiver) = sync_channel(0);
    let thread = std::thread::Builder::new().name("keyring".to_owned());
    let started = thread.spawn(move || {
        let Some(_turn) = TURN.try_lock_until(end) else {
            return;
        };
        let _running = RunningRequest::begin(end);
        let store = check_is_users().and_then(|()| connect().map_err(|error| none(&error)));
        let store = match store {
            Ok(store) => store,
            Err(error) => {
                let _ = sender.send(Err(error));
                return;
            }
        };
        let done = work(&store);
        let is_done = done.is_ok();
        if sender.send(done.map_err(failed)).is_err() && is_done {
            undo(&store);
        }
    });
    started.map_err(|error| refused(error.to_string()))?;
    match receiver.recv_timeout(WAIT) {
        Ok(answer) => answer,
        Err(RecvTimeoutError::Timeout) => Err(unanswered()),
        // It gave up waiting for its turn, or has failed where it must not.
        Err(RecvTimeoutError::Disconnected) => match Instant::now() < end {
            true => Err(refused("its client has failed".to_owned())),
            false => Err(unanswered()),
        },
    }
}

/// Mark that a request runs.
struct RunningRequest;

impl RunningRequest {
    fn begin(end: Instant) -> Self {
        *RUNNING_UNTIL.lock() = Some(end);
        Self
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        *RUNNING_UNTIL.lock() = None;
    }
}

fn check_is_wanted() -> Result<(), KeyringError> {
    match std::env::var_os(KEYRING_VARIABLE) {
        Some(value) if value == "off" => Err(KeyringError::None(StoredSecretError::KeyringOff)),
        Some(value) if !value.is_empty() => {
            Err(KeyringError::Failed(StoredSecretError::Variable {
                value: value.to_string_lossy().into_owned(),
            }))
        }
        _ => Ok(()),
    }
}

/// Checks that the keyring that would be asked is this user's own, and none that another user runs.
#[cfg(target_os = "linux")]
fn check_is_users() -> Result<(), KeyringError> {
    let no_keyring = |why| KeyringError::None(StoredSecretError::NoKeyring { why });
    session_bus::check().map_err(no_keyring)
}

/// The systems themselves know whose keyring they have.
#[cfg(not(target_os = "linux"))]
fn check_is_users() -> Result<(), KeyringError> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn connect() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(zbus_secret_service_keyring_store::Store::new()?)
}

#[cfg(target_os = "macos")]
fn connect() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(apple_native_keyring_store::keychain::Store::new()?)
}

#[cfg(windows)]
fn connect() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(windows_native_keyring_store::Store::new()?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
fn connect() -> keyring_core::Result<Arc<CredentialStore>> {
    Err(Error::NoDefaultStore)
}

fn failed(error: Error) -> KeyringError {
    match error {
        Error::NoEntry => KeyringError::Missing,
        error if has_no_collection(&error) => none(&error),
        error => refused(error.to_string()),
    }
}

fn none(error: &Error) -> KeyringError {
    KeyringError::None(StoredSecretError::NoKeyring {
        why: error.to_string(),
    })
}

fn refused(why: String) -> KeyringError {
    KeyringError::Failed(StoredSecretError::Refused { why })
}

fn too_long() -> KeyringError {
    refused("it has no room for a secret of this length".to_owned())
}

/// Whether a Secret Service runs in which nobody has set up a keyring, as on a machine that nobody
/// has logged in to with a desktop.
#[cfg(target_os = "linux")]
fn has_no_collection(error: &Error) -> bool {
    let (Error::NoStorageAccess(why) | Error::PlatformFailure(why)) = error else {
        return false;
    };
    let why = why.downcast_ref::<secret_service::Error>();
    why.is_some_and(|why| matches!(why, secret_service::Error::NoResult))
}

#[cfg(not(target_os = "linux"))]
fn has_no_collection(_: &Error) -> bool {
    false
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
