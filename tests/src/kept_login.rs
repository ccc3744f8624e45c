//! Logins as Dormouse keeps them, in the home of a test.

use std::path::Path;

use anyhow::{Context as _, Result};
use dormouse_launch::Secret;
use dormouse_secrets::StoredSecret;
use serde_json::Value;

/// Reads the login of a file in the folder of logins.
///
/// # Errors
/// There is none.
pub fn read(file: &Path) -> Result<Value> {
    let login = stored(file)?.get()?.context("there is no login")?;
    Ok(serde_json::from_str(login.expose())?)
}

/// Keeps a login in place of the one in a file.
///
/// # Errors
/// It cannot be kept.
pub fn write(file: &Path, login: &Value) -> Result<()> {
    stored(file)?.set_anywhere(&Secret::new(login.to_string()), "")?;
    Ok(())
}

fn stored(file: &Path) -> Result<StoredSecret> {
    let record: Value = serde_json::from_slice(&std::fs::read(file)?)?;
    let name = record.get("name").and_then(Value::as_str);
    let data = file.ancestors().nth(2).context("it is in no data folder")?;
    let name = name.context("it has no name")?;
    Ok(StoredSecret::new(data, file, "login", name))
}
