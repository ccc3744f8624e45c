//! Everything that has to pass.

use anyhow::Result;
use dormouse_tests::artifacts;

use crate::{build, install, step};

/// Runs it all; the tests come last, so that their summary is the last thing on
/// the screen. With a filter, only the tests that match, and nothing else.
pub(crate) fn run(filter: Option<&str>) -> Result<()> {
    install::prerequisites()?;
    install::all()?;
    build::plugins(build::Extent::Tests)?;
    build::guests()?;
    if filter.is_none() {
        lints()?;
    }
    let mut tests = step::cargo();
    if step::works(step::cargo().args(["nextest", "--version"])) {
        tests.args(["nextest", "run"]);
    } else {
        tests.arg("test");
    }
    step::run(tests.args(["--release", "--workspace"]).args(filter))
}

fn lints() -> Result<()> {
    step::run(step::cargo().args(["fmt", "--all", "--check"]))?;
    let clippy = [
        "clippy",
        "--release",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    step::run(step::cargo().args(clippy))?;
    let deny = artifacts::existing(
        artifacts::target()
            .join("tools/bin")
            .join(format!("cargo-deny{}", std::env::consts::EXE_SUFFIX)),
    )?;
    step::run(step::command(deny).args(["check", "bans", "licenses", "sources"]))
}
