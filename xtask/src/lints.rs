//! The workspace's lints, and its format.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::step;

/// Checks the format.
///
/// # Errors
/// A file is not formatted.
pub(crate) fn format() -> Result<()> {
    step::run(step::cargo().args(["fmt", "--all", "--check"]))
}

/// Checks the lints, those of clippy included.
///
/// `cargo clippy` would type-check every dependency once more, wasmtime included, because
/// `cargo check` shares nothing with `cargo build`. So clippy's driver compiles our own
/// crates in a build instead, for which all dependencies are there already. It is not
/// optimized, because nothing of it is run.
///
/// # Errors
/// Something does not compile, or is warned of.
pub(crate) fn run() -> Result<()> {
    let mut build = step::cargo();
    build
        .args(["build", "--release", "--workspace", "--all-targets"])
        .args(["--message-format", "json-diagnostic-rendered-ansi"]);
    for member in members()? {
        build
            .arg("--config")
            .arg(format!("profile.release.package.\"{member}\".opt-level=0"));
    }
    build.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    let shown = "cargo build --release --workspace --all-targets (by clippy-driver)";
    eprintln!("+ {shown}");
    let mut running = build
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{shown}`"))?;
    let messages = running.stdout.take().context("there is no stdout")?;
    let mut warnings = 0_usize;
    for line in BufReader::new(messages).lines() {
        let message: Value = serde_json::from_str(&line?)?;
        // Each warning is there once for every target that it was found in, and says which.
        if let Some(text) = message.pointer("/message/rendered").and_then(Value::as_str) {
            eprint!("{text}");
            warnings += 1;
        }
    }
    let status = running.wait()?;
    ensure!(status.success(), "`{shown}` failed: {status}");
    ensure!(
        warnings == 0,
        "clippy warned {warnings} times (above)\nhint: each warning has to be mended, or allowed where it is with a reason"
    );
    Ok(())
}

/// The names of the workspace's packages.
fn members() -> Result<Vec<String>> {
    let mut metadata = step::cargo();
    let output = metadata
        .args(["metadata", "--format-version", "1", "--no-deps", "--locked"])
        .output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .context("`cargo metadata` has printed no metadata")?;
    let packages = metadata.get("packages").and_then(Value::as_array);
    Ok(packages
        .into_iter()
        .flatten()
        .filter_map(|package| package.get("name")?.as_str().map(str::to_owned))
        .collect())
}
