//! `dormouse trust`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use dormouse_config::discovery::Surroundings;
use dormouse_config::{TrustedFolders as _, told_files};
use dormouse_text::visible::visible_line;

use super::consent::consent;
use super::{hosts, output};
use crate::roster::{Places, Roster};
use crate::store::{DecidedBy, Decision, Decisions, RecordedFolders, Trust};

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
        if self.revoke {
            return revoke(&trusted, &places, &here);
        }
        let here = real_path(here);
        let around = Surroundings::of_process(Some(&here))?.with_configuration(&places.config);
        let project = around.project.clone().unwrap_or_else(|| here.clone());
        let shown = visible_line(&project.to_string_lossy()).into_owned();
        if self.yes && self.folder.is_some() && project != here {
            bail!(
                "`{}` is no project of its own, and a part of the project `{shown}`, which you have not \
                 named: nothing is trusted\nhint: name that folder; `dormouse trust` without `--yes` \
                 shows what is in it, and asks",
                visible_line(&here.to_string_lossy())
            );
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
        } else if let Some(record) = trusted.folders()?.get(&project) {
            let files = told_files(&configured.changed_since(&project, record));
            output::say(&format!(
                "`{shown}` was trusted with what its files said then; they have changed since{files}"
            ));
        }
        let text = output::judged(&review.text);
        output::print(&text)?;
        review.check_usable()?;
        RecordedFolders::check_project(&project, &review.real_paths)?;
        // Of a long text, its reader may have seen the end alone.
        let lines = text.lines().count();
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

/// Trusts a folder no longer, or else, where it is there, the nearest trusted one around it that is not
/// beyond its project: what is recorded counts, for the folder may be gone, or be no project at the moment.
fn revoke(trusted: &Trust, places: &Places, named: &Path) -> anyhow::Result<ExitCode> {
    let real = real_path(named.to_owned());
    let project = Surroundings::of_process(Some(&real))?.project;
    let recorded = trusted.folders()?;
    // What is not there may be a slip, and stands for nothing around it.
    let is_there = named.exists();
    let around = real.ancestors().take(if is_there { usize::MAX } else { 1 });
    let up_to_project = around.take_while(|folder| {
        let project = project.as_deref();
        project.is_none_or(|project| folder.starts_with(project))
    });
    let folder = std::iter::once(named)
        .chain(up_to_project)
        .find(|folder| recorded.contains_key(*folder));
    let shown = visible_line(&folder.unwrap_or(named).to_string_lossy()).into_owned();
    let was_trusted = match folder {
        Some(folder) => trusted.revoke(folder)?,
        None => false,
    };
    // What its files named takes the room of what those of others name. It is trusted no longer in any case.
    let recorded_folders = RecordedFolders::new(&places.data);
    if let Err(error) = recorded_folders.forget_project(folder.unwrap_or(named)) {
        output::warn(&format!(
            "where its folders were is not forgotten: {error:#}"
        ));
    }
    // Whatever comes of its line in the log, hosts are told.
    let noted = match folder.filter(|_| was_trusted) {
        Some(folder) => Decisions::new(&places.data).note_in_effect(&Decision {
            what: "revoke-trust",
            subject: &folder.to_string_lossy(),
            shown: recorded.get(folder).map_or("", String::as_str),
            by: DecidedBy::Command,
        }),
        None => Ok(()),
    };
    if was_trusted {
        output::say(&format!("`{shown}` is trusted no longer"));
    }
    // A host that could not be told the last time may be told now.
    let told = hosts::reload(&places.config)?;
    if told.failed > 0 {
        bail!(
            "a running host could not be told, and what it has started of the project may go on\n\
             hint: end that host, or start the client again that it serves"
        );
    }
    noted?;
    if !was_trusted {
        let why = match is_there {
            true => "is not trusted, and neither is a project that it is in",
            false => "is not there, and is not trusted",
        };
        bail!(
            "`{shown}` {why}: nothing is revoked\n\
             hint: `dormouse trust --list` shows the folders that are trusted"
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the path by which a host knows a folder that it works in, through whatever link somebody has
/// come here. Of a folder that is gone, that is the path of what is left, and the rest as it is written.
fn real_path(folder: PathBuf) -> PathBuf {
    if cfg!(windows) {
        return folder;
    }
    let known = folder.ancestors().find_map(|known| {
        let rest = folder.strip_prefix(known).ok()?;
        let known = known.canonicalize().ok()?;
        // Nothing behind it would end the path with a separator.
        Some(known.components().chain(rest.components()).collect())
    });
    known.unwrap_or(folder)
}
