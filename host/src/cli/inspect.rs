//! stub
use clap::Args;
use std::process::ExitCode;
#[derive(Debug, Args)]
pub(super) struct Inspect {}
impl Inspect {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        Ok(ExitCode::SUCCESS)
    }
}
