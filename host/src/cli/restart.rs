//! `dormouse restart`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::{hosts, output, tools};
use crate::roster::{Places, Roster};

/// Stops a server in every running host, so that its next call starts afresh.
#[derive(Debug, Args)]
#[command(after_help = "A server that could not be started is tried again at once, too.")]
pub(super) struct RestartArgs {
    /// The server's name.
    server: String,
}

impl RestartArgs {
    pub(super) fn run(self, places: Places) -> anyhow::Result<ExitCode> {
        let roster = Roster::open(places)?;
        tools::exists(&roster.snapshot(), &self.server)?;
        let params = json!({ "server": self.server });
        if hosts::tell("restart", params, roster.config_path(), "restarted")?.done == 0 {
            output::say("no host of this configuration is running, so there is nothing to restart");
        }
        Ok(ExitCode::SUCCESS)
    }
}
