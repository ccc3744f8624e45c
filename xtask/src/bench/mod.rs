//! The benches. Everything is measured side by side with an rmcp-only server in
//! the same run, because absolute figures tell of the machine and the hour.

mod calls;
mod fleet;
mod listing;
mod reference;
mod report;
mod sample;

use anyhow::Result;
use dormouse_tests::artifacts;

use crate::{build, install};
use report::Report;

/// Takes every measurement, prints the ratios and writes `target/bench.json`.
pub(crate) fn run(rounds: u32) -> Result<()> {
    install::prerequisites()?;
    install::python("reference")?;
    install::npm()?;
    build::plugins()?;
    build::guests()?;

    let rounds = rounds as usize;
    let mut report = Report::default();
    listing::measure(&mut report, rounds)?;
    calls::measure(&mut report, rounds)?;
    reference::measure(&mut report, rounds)?;
    report.write(&artifacts::target().join("bench.json"))
}
