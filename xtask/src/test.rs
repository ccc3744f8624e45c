//! Checks that have to pass.

use std::thread::{self, available_parallelism};

use anyhow::{Result, anyhow};

use crate::build::{self, Profile};
use crate::{install, lints, step};

/// Runs all checks; the tests come last, so that their summary is the last thing on the screen.
/// With a filter, only the tests that match, and nothing else.
pub(crate) fn run(filter: Option<&str>) -> Result<()> {
    install::prerequisites()?;
    if filter.is_none() {
        lints::format()?;
    }
    thread::scope(|scope| {
        // It waits for others' machines, and the build for this one's processors.
        let installing = scope.spawn(install::all);
        build::all()?;
        let installed = installing.join();
        installed.map_err(|_| anyhow!("installing what the tests need has panicked"))?
    })?;
    let mut tests = step::cargo();
    if step::works(step::cargo().args(["nextest", "--version"])) {
        // Many of them wait for most of their time.
        let threads = available_parallelism().map_or(3, |cores| cores.get() + 2);
        tests.args(["nextest", "run", "--test-threads", &threads.to_string()]);
    } else {
        tests.arg("test");
    }
    tests.args(["--release", "--workspace", "--tests"]);
    if let Some(filter) = filter {
        tests.arg(filter);
    } else {
        lints::run()?;
        // The lints have put others in their place.
        build::programs(Profile::Release)?;
        lints::build_by_clippy(&mut tests);
    }
    step::run(&mut tests)
}
