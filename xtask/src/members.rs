//! The packages of the workspace.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::step;

/// Names of the workspace's packages, by what they are compiled for.
pub(crate) struct Members {
    /// Programs and libraries of this machine.
    pub(crate) native: Vec<String>,
    /// Components, which only a linker for WebAssembly can link.
    pub(crate) guests: Vec<String>,
}

impl Members {
    /// Reads the names from the workspace's manifests.
    ///
    /// # Errors
    /// Cargo cannot read a manifest.
    pub(crate) fn read() -> Result<Self> {
        let mut metadata = step::cargo();
        metadata.args(["metadata", "--format-version", "1", "--no-deps", "--locked"]);
        let output = metadata.output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`cargo metadata` failed: {errors}");
        let metadata: Value = serde_json::from_slice(&output.stdout)
            .context("`cargo metadata` has printed no metadata")?;
        let mut members = Self {
            native: Vec::new(),
            guests: Vec::new(),
        };
        for package in list(&metadata, "packages") {
            let name = package.get("name").and_then(Value::as_str);
            let targets = list(package, "targets");
            let is_guest = targets
                .iter()
                .flat_map(|target| list(target, "crate_types"))
                .any(|kind| kind == "cdylib");
            let members = match is_guest {
                true => &mut members.guests,
                false => &mut members.native,
            };
            members.extend(name.map(str::to_owned));
        }
        Ok(members)
    }
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}
