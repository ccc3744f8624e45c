//! `dormouse trust`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use super::{hosts, output};
use crate::config::discovery::Surroundings;
use crate::roster::{Places, Roster};
use crate::store::Trust as Trusted;

/// Allows the servers in a project's files to be started.
#[derive(Debug, Args)]
#[command(
    after_help = "Whoever can write to a repository could otherwise run programs of theirs on your \
    machine. What is trusted is the folder with what its files say now: when that changes, you \
    are asked again."
)]
pub(super) struct Trust {
    /// The project's folder; the one that you are in where none is named.
    folder: Option<PathBuf>,
    /// Trust it no longer.
    #[arg(long, conflicts_with = "list")]
    revoke: bool,
    /// List the trusted folders.
    #[arg(long, conflicts_with = "folder")]
    list: bool,
}

impl Trust {
    pub(super) fn run(self, mut places: Places) -> anyhow::Result<ExitCode> {
        let trusted = Trusted::new(&places.data);
        if self.list {
            let folders = trusted.folders()?;
            let lines = folders
                .keys()
                .map(|folder| format!("{}\n", folder.display()));
            output::print(&lines.collect::<String>())?;
            return Ok(ExitCode::SUCCESS);
        }
        let here = match &self.folder {
            Some(folder) => std::path::absolute(folder).context("the folder's path is none")?,
            None => std::env::current_dir().context("the folder that you are in is gone")?,
        };
        // A host knows the folder that it works in by its real path, through whatever
        // link somebody has come here. One that is gone can still be revoked.
        #[cfg(unix)]
        let here = here.canonicalize().unwrap_or(here);
        let around = Surroundings::of_process(Some(&here))?;
        let project = around.project.clone().unwrap_or(here);
        let shown = project.display().to_string();
        if self.revoke {
            let was = trusted.revoke(&project)?;
            let now = if was {
                "is trusted no longer"
            } else {
                "was not trusted"
            };
            output::say(&format!("`{shown}` {now}"));
            hosts::reload(&places.config)?;
            return Ok(ExitCode::SUCCESS);
        }
        places.around = Some(around);
        let roster = Roster::open(places)?;
        for server in roster.snapshot().servers().values() {
            let config = server.config();
            if config.untrusted.as_ref() == Some(&project) {
                output::say(&format!("{}: {}", config.name, config.runs()));
            }
        }
        roster.trust(&project)?;
        output::say(&format!("`{shown}` is trusted with what its files say now"));
        hosts::reload(roster.config_path())?;
        Ok(ExitCode::SUCCESS)
    }
}
