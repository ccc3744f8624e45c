//! `dormouse approve`

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

use super::{hosts, output, tools};
use crate::roster::{Places, Roster, difference};

/// Allows the tools of a server that are no longer what they were.
#[derive(Debug, Args)]
#[command(
    after_help = "A server that is trusted today could tell your model something else tomorrow. So \
    a tool whose description or schema has changed is not shown until you have seen how."
)]
pub(super) struct Approve {
    /// The server's name.
    server: String,
    /// Do not ask.
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
        let known = snapshot
            .servers()
            .get(server)
            .and_then(|server| server.known());
        let changed = known.map_or(&[][..], |known| &known.changed);
        if changed.is_empty() {
            output::say(&format!("no tool of `{server}` has changed"));
            return Ok(ExitCode::SUCCESS);
        }
        for tool in changed {
            output::print_foreign(&difference(tool))?;
        }
        if self.dry_run {
            return Ok(ExitCode::SUCCESS);
        }
        if !self.yes && !agreed(server)? {
            output::say("nothing is changed");
            return Ok(ExitCode::FAILURE);
        }
        let approved = roster.approve(server)?;
        let tools = output::counted(approved.len() as u64, "tool");
        output::say(&format!("{tools} of `{server}` allowed"));
        hosts::reload(roster.config_path())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Asks on a terminal. Where there is none nobody has seen the changes.
fn agreed(server: &str) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        bail!(
            "there is no terminal to ask on\nhint: read the changes above, and allow them with `--yes`"
        );
    }
    eprint!("Allow these tools of `{server}` as they are now? [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
