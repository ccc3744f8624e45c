//! `dormouse enable` and `dormouse disable`

use std::process::ExitCode;

use clap::Args;

use super::{hosts, output};
use crate::config::edit::Editor;
use crate::roster::Places;

#[derive(Debug, Args)]
#[command(after_help = "Running hosts follow at once, and tell their agents.")]
pub(super) struct Switch {
    /// The server's name.
    name: String,
}

impl Switch {
    pub(super) fn run(self, places: &Places, on: bool) -> anyhow::Result<ExitCode> {
        let changed = Editor::new(&places.config)?.set_enabled(&self.name, on)?;
        let state = if on { "enabled" } else { "disabled" };
        let now = if changed { "now" } else { "already" };
        output::say(&format!("`{}` is {now} {state}", self.name));
        hosts::reload(&places.config)?;
        Ok(ExitCode::SUCCESS)
    }
}
