//! Requests to running hosts after changes.

use std::future::Future;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::output;
use crate::control;

/// Runs a future that waits for hosts.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("an event loop cannot be started")?;
    Ok(runtime.block_on(future))
}

/// Numbers of running hosts that have, and have not, carried out a request.
#[derive(Default)]
pub(super) struct CarriedOutCounts {
    /// Number of hosts that have carried it out.
    pub(super) done: usize,
    /// Number of hosts that could not.
    pub(super) failed: usize,
}

/// Sends a request to every running host of a configuration, and prints the number of those that
/// have carried it out. A host that cannot is printed, and is no error: the change is on disk, and
/// the host will see it sooner or later.
pub(super) fn tell(
    method: &str,
    params: Value,
    config: &Path,
    done: &str,
) -> anyhow::Result<CarriedOutCounts> {
    tell_and_hear(method, params, config, done, |_| ())
}

/// Does the same as [`tell`], and hands on what each host has answered that could carry it out.
pub(super) fn tell_and_hear(
    method: &str,
    mut params: Value,
    config: &Path,
    done: &str,
    mut hear: impl FnMut(&Value),
) -> anyhow::Result<CarriedOutCounts> {
    if let Some(params) = params.as_object_mut() {
        params.insert("config".to_owned(), json!(config));
    }
    let mut all = CarriedOutCounts::default();
    for answer in block_on(control::ask_all(method, params))? {
        match answer.outcome {
            // It says so in a member of its own, which is false in hosts of
            // other configurations.
            Ok(result) => {
                let told = result.get(done).and_then(serde_json::Value::as_bool);
                all.done += usize::from(told == Some(true));
                hear(&result);
                if let Some(warning) = result.get("warning").and_then(Value::as_str) {
                    output::warn(&format!("the running host {}: {warning}", answer.pid));
                }
            }
            Err(error) => {
                all.failed += 1;
                output::warn(&format!("the running host {}: {error}", answer.pid));
            }
        }
    }
    if all.done > 0 {
        let hosts = output::counted(all.done, "running host");
        output::say(&format!("{done} in {hosts}"));
    }
    Ok(all)
}

/// Makes every running host of a configuration read it again.
pub(super) fn reload(config: &Path) -> anyhow::Result<CarriedOutCounts> {
    tell("reload", json!({}), config, "reloaded")
}
