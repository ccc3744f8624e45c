//! The workspace's lints, and its format.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::build::{self, TARGET};
use crate::members::Members;
use crate::step;

/// Checks the format.
///
/// # Errors
/// A file is not formatted.
pub(crate) fn format() -> Result<()> {
    step::run(step::cargo().args(["fmt", "--all", "--check"]))
}

/// Checks the lints, those of clippy included, and builds programs, tests, plugins and guests as
/// [`build_by_clippy`] does.
///
/// Components are linted as what they are, for WebAssembly: only its linker can link them.
///
/// # Errors
/// Something does not compile, or is warned of.
pub(crate) fn run() -> Result<()> {
    build::target()?;
    let members = Members::read()?;
    let mut ours = step::cargo();
    ours.args(["build", "--release", "--workspace", "--all-targets"]);
    for name in &members.guests {
        ours.args(["--exclude", name]);
    }
    build_by_clippy(&mut ours);
    check(ours, "the workspace")?;
    let mut components = step::cargo();
    components.args(["build", "--release", "--target", TARGET]);
    components.args(["--lib", "--examples"]);
    for name in &members.guests {
        components.args(["--package", name]);
    }
    components.env("RUSTC_WORKSPACE_WRAPPER", CLIPPY);
    check(components, "components")
}

/// Compiler that checks clippy's lints, too.
const CLIPPY: &str = "clippy-driver";

/// Crates that take longer to optimize than their tests take when they are not.
const NOT_OPTIMIZED: [&str; 3] = ["dormouse-floor", "dormouse-tests", "xtask"];

/// Has a command of cargo's compile our own crates by clippy's driver, for tests and lints alike.
///
/// `cargo clippy` would type-check every dependency once more, wasmtime included, because
/// `cargo check` shares nothing with `cargo build`: in a build, all dependencies are there already.
/// And what was compiled for the lints need not be compiled once more to be run.
pub(crate) fn build_by_clippy(cargo: &mut Command) {
    for name in NOT_OPTIMIZED {
        cargo
            .arg("--config")
            .arg(format!("profile.release.package.\"{name}\".opt-level=0"));
    }
    cargo.env("RUSTC_WORKSPACE_WRAPPER", CLIPPY);
}

/// Runs a build by clippy's driver, and counts what is warned of.
fn check(mut build: Command, what: &str) -> Result<()> {
    eprintln!("+ lints of {what} (by clippy-driver)");
    let mut running = build
        .args(["--message-format", "json-diagnostic-rendered-ansi"])
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
