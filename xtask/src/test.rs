//! Checks that have to pass.

use std::thread::{self, available_parallelism};

use anyhow::{Result, anyhow};
use dormouse_tests::{artifacts, compiled};

use crate::{build, install, lints, step};

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
        match filter {
            Some(_) => build::all()?,
            // What is linted is what the tests run: nothing is compiled a second time for them.
            None => {
                lints::run()?;
                build::pack_plugins()?;
                compile()?;
            }
        }
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
    // Clients on Node are started hundreds of times, and would compile their modules each time.
    tests.env("NODE_COMPILE_CACHE", artifacts::target().join("node"));
    match filter {
        Some(filter) => _ = tests.arg(filter),
        None => lints::build_by_clippy(&mut tests),
    }
    step::run(&mut tests)
}

/// Has compiled what many tests would each compile for themselves.
fn compile() -> Result<()> {
    let made_from = compiled::made_from()?;
    step::once(&compiled::folder(), made_from.as_bytes(), || {
        eprintln!("+ compiling components for all tests");
        compiled::compile()
    })
}
