//! `dormouse trust`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use dormouse_config::TrustedFolders as _;
use dormouse_config::discovery::Surroundings;
use dormouse_text::visible::visible_line;

use super::consent::consent;
use super::{hosts, output};
use crate::roster::{Places, Roster};
use crate::store::{RecordedFolders, Trust};

/// Allows the servers in a project's files to be started.
#[derive(Debug, Args)]
#[command(
    after_help = "Whoever can write to a repository could otherwise run programs of theirs on your \
    machine. So all of its servers are shown, with what they run, read and are given, and you are \
    asked. What is trusted is the folder with what its files say now: when that changes, it is \
    trusted no longer. Programs and plugins that the files name are trusted with whatever they \
    become."
)]
pub(super) struct TrustArgs {
    /// The project's folder; the one that you are in where none is named.
    folder: Option<PathBuf>,
    /// Do not ask: what is shown is trusted. It is logged that nobody was asked.
    #[arg(short, long, conflicts_with_all = ["revoke", "list"])]
    yes: bool,
    /// Trust it no longer.
    #[arg(long, conflicts_with = "list")]
    revoke: bool,
    /// List the trusted folders.
    #[arg(long, conflicts_with = "folder")]
    list: bool,
}

impl TrustArgs {
    pub(super) fn run(self, mut places: Places) -> anyhow::Result<ExitCode> {
        let trusted = Trust::new(&places.data);
        if self.list {
            let folders = trusted.folders()?;
            let lines = folders
                .keys()
                .map(|folder| format!("{}\n", visible_line(&folder.to_string_lossy())));
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
        let around = Surroundings::of_process(Some(&here))?.with_configuration(&places.config);
        let project = around.project.clone().unwrap_or(here);
        let shown = visible_line(&project.to_string_lossy()).into_owned();
        if self.revoke {
            let was = trusted.revoke(&project)?;
            let now = if was {
                "is trusted no longer"
            } else {
                "was not trusted"
            };
            output::say(&format!("`{shown}` {now}"));
            let told = hosts::reload(&places.config)?;
            if told.failed > 0 {
                bail!(
                    "a running host could not be told, and what it has started of the project may \
                     go on\nhint: end that host, or start the client again that it serves"
                );
            }
            return Ok(ExitCode::SUCCESS);
        }
        places.around = Some(around);
        let recorded = RecordedFolders::new(&places.data);
        let roster = Roster::open(places)?;
        let configured = roster.configured()?;
        let review = roster.review(&project)?;
        let is_trusted = configured.trusts(&project);
        let known = recorded.known(Some(&project))?;
        let mut shown_paths = review.real_paths.iter();
        // Of a path that leads elsewhere by now, its user has not been shown where.
        let is_where_shown = shown_paths.all(|(path, real)| known.get(path) == Some(real));
        if is_trusted && is_where_shown {
            output::say(&format!("`{shown}` is trusted already"));
            return Ok(ExitCode::SUCCESS);
        }
        if is_trusted {
            output::say(&format!(
                "`{shown}` is trusted, and a path that its files name does not lead where it was shown"
            ));
        } else if trusted.folders()?.contains_key(&project) {
            output::say(&format!(
                "`{shown}` was trusted with what its files said then; they have changed since"
            ));
        }
        output::print(&review.text)?;
        review.check_usable()?;
        // Of a long text, its reader may have seen the end alone.
        let lines = output::lines_on_terminal(&review.text);
        let question = format!(
            "Trust `{shown}`, and let all of these be started: {}, in {}?",
            output::counted(review.servers as u64, "server"),
            output::counted(lines as u64, "line")
        );
        let Some(by) = consent(&question, self.yes)? else {
            return Ok(ExitCode::FAILURE);
        };
        roster.trust(&review, by)?;
        output::say(&format!("`{shown}` is trusted with what its files say now"));
        hosts::reload(roster.config_path())?;
        Ok(ExitCode::SUCCESS)
    }
}
