//! `dormouse restart`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::{hosts, output};
use crate::config::{self, name};
use crate::roster::Places;

/// Stops a server in every running host, so that its next call starts afresh.
#[derive(Debug, Args)]
#[command(after_help = "A server that could not be started is tried again at once, too.")]
pub(super) struct Restart {
    /// The server's name.
    server: String,
}

impl Restart {
    pub(super) fn run(self, places: &Places) -> anyhow::Result<ExitCode> {
        let config = config::load(&places.config)?;
        if !config.servers.contains_key(&self.server) {
            let names = config.servers.keys().map(String::as_str);
            return Err(name::Unknown::new(&self.server, names).into());
        }
        let params = json!({ "server": self.server });
        if hosts::tell("restart", params, &places.config, "restarted")? == 0 {
            output::say("no host of this configuration is running, so there is nothing to restart");
        }
        Ok(ExitCode::SUCCESS)
    }
}
