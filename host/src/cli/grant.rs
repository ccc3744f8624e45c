//! `dormouse grant`

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use dormouse_policy::{FsMode, real_path};
use dormouse_text::nearest::nearest;
use dormouse_text::visible::visible_line;

use super::consent::consent;
use super::{hosts, output};
use crate::roster::{Places, Roster};
use crate::store::{Decision, Decisions, RealPaths, RecordedFolders};

/// Grants a server its folders as they are now.
#[derive(Debug, Args)]
#[command(
    after_help = "Where a folder that is named in `fs` of a server's grants really is, is recorded \
    when it is granted. If its path leads somewhere else later, because somebody has put a link in \
    place of a folder, the server is not started. This shows where each folder was and where it is \
    now, and asks whether it is granted there."
)]
pub(super) struct Grant {
    /// The server's name.
    server: String,
    /// Do not ask: what is shown is granted. It is logged that nobody was asked.
    #[arg(short, long)]
    yes: bool,
}

impl Grant {
    pub(super) fn run(self, places: Places) -> anyhow::Result<ExitCode> {
        let recorded = RecordedFolders::new(&places.data);
        let decisions = Decisions::new(&places.data);
        let roster = Roster::open(places)?;
        let configured = roster.configured()?;
        let servers = &configured.servers;
        let name = &self.server;
        let server = servers.get(name).with_context(|| {
            let nearest = nearest(name, servers.keys().map(String::as_str));
            let meant = nearest.map(|near| format!("did you mean `{near}`? "));
            format!(
                "there is no server `{name}`\nhint: {}`dormouse list` shows them all",
                meant.unwrap_or_default()
            )
        })?;
        if server.grants.fs.is_empty() {
            bail!(
                "server `{name}` is granted no folder\nhint: name one in `fs` of `[servers.{name}.grants]`"
            );
        }
        let mut anew = RealPaths::new();
        let mut text = String::new();
        for grant in &server.grants.fs {
            let now = real_path(&grant.path);
            let mode = match grant.mode {
                FsMode::ReadOnly => "ro",
                FsMode::ReadWrite => "rw",
            };
            let line = |path: &Path| visible_line(&path.to_string_lossy()).into_owned();
            let written = line(&grant.path);
            text.push_str(&format!("{written} ({mode})\n  is {}\n", line(&now)));
            if grant.real_path() != now {
                let was = line(grant.real_path());
                text.push_str(&format!("  was {was} when it was granted\n"));
                anew.insert(grant.path.clone(), now);
            }
        }
        output::print(&text)?;
        if anew.is_empty() {
            output::say("nothing has changed");
            return Ok(ExitCode::SUCCESS);
        }
        let question = format!("Grant `{name}` its folders as they are now?");
        let Some(by) = consent(&question, self.yes)? else {
            return Ok(ExitCode::FAILURE);
        };
        let shown = blake3::hash(text.as_bytes()).to_hex();
        decisions.note(&Decision {
            what: "grant",
            subject: name,
            shown: &shown,
            by,
        })?;
        recorded.record_anew(&anew)?;
        output::say(&format!("`{name}` is granted its folders as they are now"));
        hosts::reload(roster.config_path())?;
        Ok(ExitCode::SUCCESS)
    }
}
