//! What takes more than one command: building the plugins, the tests with all
//! that they need, the demo and the benches.

#![allow(clippy::print_stdout, reason = "a program for a person at a terminal")]

mod bench;
mod build;
mod demo;
mod install;
mod step;
mod test;

use clap::Parser;

/// Builds, tests, shows and measures Dormouse.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Task {
    /// Builds every plugin into target/plugins/NAME.wasm.
    Plugins,
    /// Runs everything that has to pass: format, lints, licences, all tests.
    ///
    /// What the tests need besides Rust, Python and Node is installed below
    /// target/ first, and again only when its list has changed.
    Test {
        /// Runs only the tests whose name contains this, and no lints.
        #[arg(long, value_name = "TEXT")]
        filter: Option<String>,
    },
    /// Shows a real session: two servers listed, none awake; one call, one awake.
    Demo,
    /// Measures against an rmcp-only server and the reference servers; writes
    /// target/bench.json.
    Bench {
        /// What to measure; everything, where nothing is named.
        #[arg(value_enum, value_name = "PART")]
        parts: Vec<bench::Part>,
        /// How often each measurement is taken; the median counts.
        #[arg(long, default_value_t = 11, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        rounds: u32,
    },
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Plugins => build::plugins(build::Extent::Programs),
        Task::Test { filter } => test::run(filter.as_deref()),
        Task::Demo => demo::run(),
        Task::Bench { parts, rounds } => bench::run(&parts, rounds),
    }
}
