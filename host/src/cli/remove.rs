//! `dormouse remove`

use std::process::ExitCode;

use clap::Args;

use super::{hosts, output};
use crate::config::edit::Editor;
use crate::roster::Places;

/// Removes a server and everything configured for it; the plugin's file stays.
#[derive(Debug, Args)]
#[command(after_help = "To hide its tools for a while only: `dormouse disable NAME`.")]
pub(super) struct Remove {
    /// The server's name.
    name: String,
}

impl Remove {
    pub(super) fn run(self, places: &Places) -> anyhow::Result<ExitCode> {
        Editor::new(&places.config)?.remove(&self.name)?;
        output::say(&format!("removed `{}`", self.name));
        hosts::reload(&places.config)?;
        Ok(ExitCode::SUCCESS)
    }
}
