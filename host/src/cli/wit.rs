//! `dormouse wit`

use std::process::ExitCode;

use clap::Args;

use super::output;

/// Prints the WIT of `dormouse:plugin`, which plugins may import and export.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    mkdir -p wit/deps && dormouse wit > wit/deps/dormouse-plugin.wit\n\n\
    A plugin's own WIT needs it where it says `dormouse:plugin`: toolchains look for it in \
    `wit/deps`. The SDK for Rust brings it along.")]
pub(super) struct WitArgs {}

impl WitArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        output::print(dormouse_wit::CONTRACT_WIT)?;
        Ok(ExitCode::SUCCESS)
    }
}
