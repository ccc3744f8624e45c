//! `dormouse forget`

use std::process::ExitCode;

use clap::Args;

use super::{hosts, output};
use crate::roster::{Places, Roster};

/// Takes a server's tools out of the list: its one tool `discover` brings them back.
#[derive(Debug, Args)]
#[command(
    after_help = "All tools of all servers may be more than a model should read. A server that is \
    forgotten shows `SERVER__discover` alone, as before it was first connected; that, or `dormouse \
    sync SERVER`, lists its tools again. What you have seen and approved of it is still known, so \
    that a change meanwhile is noticed. For good: `exclude_tools`, or `dormouse disable`."
)]
pub(super) struct ForgetArgs {
    /// The servers' names.
    #[arg(required = true)]
    servers: Vec<String>,
}

impl ForgetArgs {
    pub(super) fn run(self, places: Places) -> anyhow::Result<ExitCode> {
        let roster = Roster::open(places)?;
        for server in &self.servers {
            let told = match roster.forget(server)? {
                true => format!("`{server}` shows its tool `discover` alone now"),
                false => format!("nothing is listed of `{server}` but its tool `discover`"),
            };
            output::say(&told);
        }
        hosts::reload(roster.config_path())?;
        Ok(ExitCode::SUCCESS)
    }
}
