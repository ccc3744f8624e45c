//! The workspace's lints, and its format.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::build::TARGET;
use crate::members::Members;
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
/// Components are linted as what they are, for WebAssembly: only its linker can link them.
///
/// # Errors
/// Something does not compile, or is warned of.
pub(crate) fn run() -> Result<()> {
    let Members { native, guests } = Members::read()?;
    let mut ours = step::cargo();
    ours.args(["build", "--release", "--workspace", "--all-targets"]);
    for name in &guests {
        ours.args(["--exclude", name]);
    }
    for name in native.iter().chain(&guests) {
        ours.arg("--config")
            .arg(format!("profile.release.package.\"{name}\".opt-level=0"));
    }
    check(ours, "the workspace")?;
    let mut components = step::cargo();
    components.args(["build", "--release", "--target", TARGET]);
    components.args(["--lib", "--examples"]);
    for name in &guests {
        components.args(["--package", name]);
    }
    check(components, "components")
}

/// Runs a build with clippy's driver in place of the compiler.
fn check(mut build: Command, what: &str) -> Result<()> {
    eprintln!("+ lints of {what} (by clippy-driver)");
    let mut running = build
        .args(["--message-format", "json-diagnostic-rendered-ansi"])
        .env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
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
    ensure!(status.success(), "{what} cannot be compiled: {status}");
    ensure!(
        warnings == 0,
        "clippy warned {warnings} times (above)\nhint: each warning has to be mended, or allowed where it is with a reason"
    );
    Ok(())
}
