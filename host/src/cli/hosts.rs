//! Telling running hosts what has changed.

use std::future::Future;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::output;
use crate::control;

/// Runs what has to wait for hosts.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("an event loop cannot be started")?;
    Ok(runtime.block_on(future))
}

/// Asks every running host of a configuration to do something, says how many
/// have done it, and returns that. A host that cannot is told of, and is no error: what was written
/// is written, and it will see it sooner or later.
pub(super) fn tell(
    method: &str,
    mut params: Value,
    config: &Path,
    done: &str,
) -> anyhow::Result<usize> {
    if let Some(params) = params.as_object_mut() {
        params.insert("config".to_owned(), json!(config));
    }
    let mut count = 0;
    for answer in block_on(control::ask_all(method, params))? {
        match answer.outcome {
            // It says so in a member of its own, which is false in hosts of
            // other configurations.
            Ok(result) => {
                let told = result.get(done).and_then(serde_json::Value::as_bool);
                count += usize::from(told == Some(true));
            }
            Err(error) => output::warn(&format!("the running host {}: {error}", answer.pid)),
        }
    }
    if count > 0 {
        let hosts = output::counted(count, "running host");
        output::say(&format!("{done} in {hosts}"));
    }
    Ok(count)
}

/// Has every running host of a configuration read it again.
pub(super) fn reload(config: &Path) -> anyhow::Result<()> {
    tell("reload", json!({}), config, "reloaded").map(|_| ())
}
