//! Tasks that take more than one command: building the plugins, the tests with all that they need,
//! the demo and the benches.

#![allow(clippy::print_stdout, reason = "a program for a person at a terminal")]

mod bench;
mod build;
mod demo;
mod foreign;
mod install;
mod lints;
mod members;
#[cfg(test)]
mod selection;
mod step;
mod test;
#[cfg(test)]
mod type_names;

use std::path::PathBuf;

use clap::Parser;

/// Builds, tests, shows and measures Dormouse.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Task {
    /// Builds every plugin into target/plugins/NAME.wasm.
    Plugins,
    /// Builds what is shipped: target/dist/dormouse.
    Dist,
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
        /// Folder with real servers' tools, one JSON file for each, in place of tests/fixtures/tools.
        #[arg(long, value_name = "FOLDER")]
        tools: Option<PathBuf>,
        /// Compares with this older `dormouse` instead, in interleaved pairs.
        #[arg(long, value_name = "BINARY", conflicts_with = "parts")]
        against: Option<PathBuf>,
    },
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Plugins => build::plugins(build::Profile::Release),
        Task::Dist => build::dist(),
        Task::Test { filter } => test::run(filter.as_deref()),
        Task::Demo => demo::run(),
        Task::Bench {
            parts,
            rounds,
            tools,
            against,
        } => match against {
            Some(older) => bench::against(&older, rounds),
            None => bench::run(&parts, rounds, tools.as_deref()),
        },
    }
}
