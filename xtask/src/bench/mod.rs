//! Benches. All is measured side by side with an rmcp-only server in the same run, because absolute
//! figures tell of the machine and the hour.

mod against;
mod bridges;
mod caller;
mod calls;
mod context;
mod fleet;
mod http;
mod http_out;
mod listing;
mod reference;
mod reference_pair;
mod report;
mod retrieval;
mod sample;

use std::path::Path;

use anyhow::Result;
use clap::ValueEnum;
use dormouse_tests::artifacts;

use crate::{build, install};
use report::Report;

/// Parts of the benches, each of which can be measured by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// From the start to the whole list.
    Listing,
    /// Calls over stdio.
    Calls,
    /// Calls over HTTP.
    Http,
    /// HTTP requests of plugins.
    HttpOut,
    /// The reference servers and our plugins in their place.
    Reference,
    /// Real servers behind Dormouse, and as clients have them today.
    Bridges,
    /// Search among tools.
    Retrieval,
    /// Tokens of real servers' tools in an agent's context.
    Context,
}

/// Compares an older `dormouse` with this one, prints the ratios and writes
/// `target/bench-against.json`.
///
/// # Errors
/// One of the two does not do what is measured.
pub(crate) fn against(older: &Path, rounds: u32) -> Result<()> {
    build::plugins(build::Profile::Release)?;
    build::dist()?;
    build::guests()?;
    let mut report = Report::default();
    against::measure(&mut report, older, rounds as usize)?;
    report.write(&artifacts::target().join("bench-against.json"))
}

/// Measures these parts, or all where none is named, prints the ratios and writes
/// `target/bench.json`. `captures` is a folder of real servers' tools in place of the project's.
pub(crate) fn run(parts: &[Part], rounds: u32, captures: Option<&Path>) -> Result<()> {
    let parts = match parts {
        [] => Part::value_variants(),
        parts => parts,
    };
    if parts.contains(&Part::Reference) || parts.contains(&Part::Bridges) {
        install::prerequisites()?;
        install::python("reference")?;
        install::python("servers")?;
        install::npm()?;
    }
    if parts.iter().any(|part| *part != Part::Retrieval) {
        build::plugins(build::Profile::Release)?;
    }
    // Tokens are the same in each profile.
    let without_dist = [Part::Retrieval, Part::Context];
    if parts.iter().any(|part| !without_dist.contains(part)) {
        build::dist()?;
        build::guests()?;
    }

    let rounds = rounds as usize;
    let mut report = Report::default();
    for part in parts {
        let report = &mut report;
        match part {
            Part::Listing => listing::measure(report, rounds),
            Part::Calls => calls::measure(report, rounds),
            Part::Http => http::measure(report, rounds),
            Part::HttpOut => http_out::measure(report, rounds),
            Part::Reference => reference::measure(report, rounds),
            Part::Bridges => bridges::measure(report, rounds),
            Part::Retrieval => retrieval::measure(report, rounds),
            Part::Context => context::measure(report, captures),
        }?;
    }
    report.write(&artifacts::target().join("bench.json"))
}
