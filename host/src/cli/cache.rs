//! `dormouse cache`

use std::process::ExitCode;

use clap::{Args, Subcommand};
use dormouse_config::units;
use dormouse_files::paths;
use dormouse_runtime::Runtime;

use super::output;
use crate::child_commands::compile_command;

/// Looks after compiled plugins.
#[derive(Debug, Args)]
pub(super) struct CacheArgs {
    #[command(subcommand)]
    command: CacheCommand,
}

#[derive(Debug, Subcommand)]
enum CacheCommand {
    /// Removes all compiled plugins; each is compiled again on its next first call.
    Clean,
}

impl CacheArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let CacheCommand::Clean = self.command;
        let freed = Runtime::new(paths::cache_dir()?, compile_command).clean_cache()?;
        output::say(&format!("freed {}", units::human_size(freed)));
        Ok(ExitCode::SUCCESS)
    }
}
