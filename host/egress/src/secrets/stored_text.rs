//! Text of a secret in the user's own store: the one that it has there at each request, so that a
//! change counts at once.

use std::sync::Arc;

use dormouse_files::paths;
use dormouse_launch::Secret;
use dormouse_secrets::SecretStore;
use parking_lot::Mutex;

use super::error::SecretFault;
use super::known_texts::KnownTexts;
use super::plugin_secret::ResolvedSecret;

/// Texts that a secret has had, and the version of the one that counts.
#[derive(Default)]
pub(super) struct StoredText {
    now: Mutex<Option<(String, Arc<ResolvedSecret>)>>,
    known: KnownTexts,
}

impl StoredText {
    /// Returns all texts that were looked up.
    pub(super) fn all(&self) -> Vec<Arc<ResolvedSecret>> {
        self.known.all()
    }

    /// Returns the text that the secret has now. The keyring is asked for another one than before
    /// alone.
    pub(super) async fn resolve(
        &self,
        name: &str,
        make: impl FnOnce(Secret) -> ResolvedSecret,
    ) -> Result<Arc<ResolvedSecret>, SecretFault> {
        let before = self.now.lock().clone();
        let (version, resolved) = before.unzip();
        let (version, text) = look_up(name, version).await?;
        match (text, resolved) {
            (None, Some(resolved)) => Ok(resolved),
            (text, _) => {
                let resolved = self.known.find_or_add(text.unwrap_or_default(), make);
                *self.now.lock() = Some((version, Arc::clone(&resolved)));
                Ok(resolved)
            }
        }
    }
}

/// Looks up a secret of the user's store: its version, and its text where that is not the `known`
/// version.
///
/// # Errors
/// There is none, or it cannot be had now; with its name, and nothing of its text.
pub(super) async fn look_up(
    name: &str,
    known: Option<String>,
) -> Result<(String, Option<Secret>), SecretFault> {
    let name = name.to_owned();
    let looked_up = tokio::task::spawn_blocking(move || look_up_blocking(&name, known));
    let looked_up = looked_up.await;
    looked_up.unwrap_or_else(|error| Err(wrong(&error.to_string())))
}

fn look_up_blocking(
    name: &str,
    known: Option<String>,
) -> Result<(String, Option<Secret>), SecretFault> {
    let data = paths::data_dir().map_err(|error| wrong(&error.to_string()))?;
    let store = SecretStore::open(&data);
    let version = store.version(name);
    let missing = || SecretFault {
        why: format!("has no value: you have no secret `{name}`"),
        hint: format!("`dormouse secret set {name}` asks you for it").into(),
        is_absent: true,
    };
    let version = version.map_err(|why| wrong(&why.to_string()))?;
    let version = version.ok_or_else(missing)?;
    if known.is_some_and(|known| known == version) {
        return Ok((version, None));
    }
    // A change in between has another version, and is found at the next request.
    let text = store.get(name).map_err(|why| wrong(&why.to_string()))?;
    Ok((version, Some(text.ok_or_else(missing)?)))
}

/// Returns what is wrong with a secret, in words that may have a hint.
fn wrong(why: &str) -> SecretFault {
    let (why, hint) = why
        .split_once("\nhint: ")
        .unwrap_or((why, "`dormouse secret list` shows what there is"));
    SecretFault {
        why: format!("has no value: {why}"),
        hint: hint.to_owned().into(),
        is_absent: false,
    }
}
