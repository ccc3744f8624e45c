//! `dormouse approve`

use std::borrow::Cow;
use std::process::ExitCode;

use clap::Args;

use super::consent::consent;
use super::{hosts, output, tools};
use crate::roster::{Places, Roster, difference};

/// Allows what a server offers that is no longer what it was, or new.
#[derive(Debug, Args)]
#[command(
    after_help = "A server that is trusted today could tell your model something else tomorrow. So \
    what it says to a model (tools, prompts, resource templates) is not shown when it has changed \
    or is new, until you have seen it. What you are shown is what is allowed: if it changes \
    meanwhile, nothing is."
)]
pub(super) struct Approve {
    /// The server's name.
    server: String,
    /// Do not ask: what is shown is allowed. It is logged that nobody was asked.
    #[arg(short, long)]
    yes: bool,
    /// Only show what has changed.
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

impl Approve {
    pub(super) fn run(self, places: Places) -> anyhow::Result<ExitCode> {
        let server = &self.server;
        let roster = Roster::open(places)?;
        let snapshot = roster.snapshot();
        tools::known(&snapshot, server)?;
        let found = snapshot.servers().get(server);
        let pending = found.map_or_else(Cow::default, |server| server.pending());
        if pending.is_empty() {
            output::say(&format!("nothing of `{server}` has changed"));
            return Ok(ExitCode::SUCCESS);
        }
        for item in pending.iter() {
            output::print(&difference(item))?;
        }
        if self.dry_run {
            return Ok(ExitCode::SUCCESS);
        }
        let question = format!("Allow all of this of `{server}` as it is now?");
        let Some(by) = consent(&question, self.yes)? else {
            return Ok(ExitCode::FAILURE);
        };
        let approved = roster.approve(server, &pending.digest(), by)?;
        let items = output::counted(approved.len() as u64, "item");
        output::say(&format!("{items} of `{server}` allowed"));
        hosts::reload(roster.config_path())?;
        Ok(ExitCode::SUCCESS)
    }
}
