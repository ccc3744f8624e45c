//! `dormouse read-component`: reads a component for a host or another command, which sends it.

use std::process::ExitCode;

use clap::Args;
use dormouse_catalog::{ReadTask, read_process};

#[derive(Debug, Args)]
pub(super) struct ReadComponentArgs {
    /// What is to be found out.
    #[arg(value_parser = task)]
    task: ReadTask,
}

fn task(name: &str) -> Result<ReadTask, String> {
    let mut tasks = ReadTask::ALL.into_iter();
    let task = tasks.find(|task| task.name() == name);
    task.ok_or_else(|| "it is no task".to_owned())
}

impl ReadComponentArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        read_process::run(self.task)?;
        Ok(ExitCode::SUCCESS)
    }
}
