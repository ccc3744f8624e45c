//! Backups of the files that were changed, and undoing the changes.
//!
//! Each run that changes files has a folder, named by its time; the last one is the
//! one that is undone. A file is only put back as a whole where it still is what the
//! run has made of it.

mod earlier_change;
mod undo;

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use dormouse_files::replace::{Access, remove_if, replace};
use dormouse_files::{attributes, ownership, paths};
use dormouse_text::visible::visible_path;
use serde::{Deserialize, Serialize};

use crate::discovery::places::Syntax;
use crate::edit::EditLock;
use crate::file;
use crate::reading::settled;

pub use self::earlier_change::{EarlierChange, changes_of};
pub use self::undo::Undo;
use super::FileChange;

const MANIFEST: &str = "manifest.json";

/// Changes of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Manifest {
    /// The command that made them, as a user would write it.
    command: String,
    files: Vec<Saved>,
}

/// File that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Saved {
    path: PathBuf,
    /// Hash of the text before; none where there was no file.
    before: Option<String>,
    /// Hash of the text after.
    after: String,
    /// Name of the backup in this folder.
    copy: Option<String>,
    /// Whether the file is Dormouse's own configuration.
    own: bool,
    /// Mode of the file before, where the change has made it private.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<u32>,
    /// Text that says whom that mode is about ([`attributes::sharing`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sharing: Option<String>,
    /// Whether the file has been put back.
    #[serde(default)]
    undone: bool,
}

/// A run that can be undone.
#[derive(Debug)]
pub struct Run {
    folder: PathBuf,
    manifest: Manifest,
}

/// Returns the folder of all backups, in Dormouse's folder for data.
#[must_use]
pub fn folder(data: &Path) -> PathBuf {
    data.join("backups")
}

/// Returns Dormouse's folder for data, which the folder of all backups is in.
fn data_of(backups: &Path) -> &Path {
    backups.parent().unwrap_or(backups)
}

/// Keeps the texts of files before they are changed. Returns the folder of these backups.
///
/// # Errors
/// The backups cannot be written: then nothing is to be changed either.
pub fn keep(backups: &Path, command: &str, changes: &[&FileChange]) -> Result<PathBuf> {
    let keep = || -> Result<PathBuf> {
        ownership::check(backups, data_of(backups))?;
        paths::make_private(backups)?;
        let folder = backups.join(timestamp(SystemTime::now()));
        paths::make_private(&folder)?;
        let mut files = Vec::new();
        for (index, change) in changes.iter().enumerate() {
            let copy = match &change.before {
                Some(text) => {
                    let name = change.file.file_name().unwrap_or_default();
                    let copy = format!("{index}-{}", name.to_string_lossy());
                    replace(&folder.join(&copy), text.as_bytes(), Access::Private)?;
                    Some(copy)
                }
                None => None,
            };
            let mode = match change.access {
                Access::Private => mode(&change.file),
                Access::Kept | Access::Given(_) => None,
            };
            files.push(Saved {
                path: change.file.clone(),
                before: change.before.as_deref().map(hash),
                after: hash(&change.after),
                copy,
                own: change.own,
                mode,
                sharing: mode.and_then(|_| attributes::sharing(&change.file)),
                undone: false,
            });
        }
        let command = command.to_owned();
        write(&folder, &Manifest { command, files })?;
        Ok(folder)
    };
    keep().with_context(|| {
        let shown = visible_path(backups);
        format!("no backup can be kept in `{shown}`, so nothing is changed")
    })
}

/// Returns the last run that has not been undone, of those whose manifest can be read.
#[must_use]
pub fn last(backups: &Path) -> Option<Run> {
    let is_open = |run: &Run| run.manifest.files.iter().any(|saved| !saved.undone);
    runs(backups).find(is_open)
}

/// Function that undoes an earlier change of a file that has been edited since; none where it
/// cannot.
pub type Merge<'m> = &'m dyn Fn(&Path, &EarlierChange) -> Option<MergedChange>;

/// Change that undoes an earlier one of a file that has been edited since.
#[derive(Debug)]
pub struct MergedChange {
    /// The change.
    pub change: FileChange,
    /// Names of servers that the file does not get back, because it has others of these names now.
    pub kept_out: Vec<String>,
}

/// Returns the runs, the last one first. One that cannot be read is told, and hides no other. One
/// that another user can have written does not count: they could have any file put back as they
/// like.
fn runs(backups: &Path) -> impl Iterator<Item = Run> {
    let counts = |folder: &PathBuf| {
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files = files.map(|entry| entry.path());
        files.all(|file| ownership::counts(&file, data_of(backups)))
    };
    let read = |folder| match Run::read(folder) {
        Ok(run) => run,
        Err(error) => {
            tracing::warn!("{error:#}");
            None
        }
    };
    folders(backups).into_iter().filter(counts).filter_map(read)
}

/// Returns the folders of all runs, the last one first.
fn folders(backups: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(backups).into_iter().flatten();
    let mut folders: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders.reverse();
    folders
}

impl Run {
    /// Reads a run. None where it ended before its manifest was there: it has changed nothing.
    fn read(folder: PathBuf) -> Result<Option<Self>> {
        let Some(text) = file::read(&folder.join(MANIFEST))? else {
            return Ok(None);
        };
        let manifest: Manifest = serde_json::from_str(&text).with_context(|| {
            format!(
                "the backup `{}` cannot be read, so what it is of is not put back",
                visible_path(&folder)
            )
        })?;
        Ok(Some(Self { folder, manifest }))
    }

    /// Reads a file's text before; none where there was no file.
    fn copy(&self, saved: &Saved) -> Result<Option<String>> {
        let Some(copy) = &saved.copy else {
            return Ok(None);
        };
        let mut parts = Path::new(copy).components();
        let (Some(Component::Normal(name)), None) = (parts.next(), parts.next()) else {
            bail!(
                "the backup `{}` names a file that is in another folder, so what it is of is not \
                 put back",
                visible_path(&self.folder)
            );
        };
        let copy = self.folder.join(name);
        let text = file::read(&copy)?;
        let text = text.with_context(|| format!("the backup `{}` is gone", visible_path(&copy)))?;
        Ok(Some(text))
    }

    fn change(&self, saved: &Saved) -> Result<EarlierChange> {
        Ok(EarlierChange {
            command: self.manifest.command.clone(),
            before: self.copy(saved)?,
            after: saved.after.clone(),
        })
    }

    /// Returns the command that made the changes.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.manifest.command
    }

    /// Returns the folder of the run's backups.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Plans how each of the run's files is undone, Dormouse's own last: the clients' servers are
    /// in there for as long as clients do not have them back. With `force`, files that have been
    /// edited since are put back, too; without it, `merge` makes the change of them, if it can.
    ///
    /// # Errors
    /// A file or its backup cannot be read.
    pub fn undo(&self, force: bool, merge: Merge<'_>) -> Result<Vec<Undo>> {
        let open = || self.manifest.files.iter().filter(|saved| !saved.undone);
        let merge = (!force).then_some(merge);
        let of_clients = open().filter(|saved| !saved.own);
        let mut steps: Vec<_> = of_clients
            .map(|saved| self.undo_one(saved, merge))
            .collect::<Result<_>>()?;
        let lacks_servers = |step: &Undo| matches!(step, Undo::Edited(_) | Undo::MergePart(..));
        let is_needed = steps.iter().any(lacks_servers);
        for saved in open().filter(|saved| saved.own) {
            steps.push(match self.undo_one(saved, merge)? {
                Undo::Back(_) | Undo::Remove(..) if is_needed => Undo::Needed(saved.path.clone()),
                step => step,
            });
        }
        Ok(steps)
    }

    fn undo_one(&self, saved: &Saved, merge: Option<Merge<'_>>) -> Result<Undo> {
        let now = settled::read(&saved.path, Syntax::of(&saved.path))?;
        let hash = now.as_deref().map(hash);
        if hash == saved.before {
            return Ok(Undo::Nothing);
        }
        if hash.as_ref() != Some(&saved.after)
            && let Some(merge) = merge
        {
            let merged = match saved.own {
                true => None,
                false => merge(&saved.path, &self.change(saved)?),
            };
            return Ok(match merged {
                None => Undo::Edited(saved.path.clone()),
                Some(merged) if merged.kept_out.is_empty() => Undo::Merge(merged.change),
                Some(merged) => Undo::MergePart(merged.change, merged.kept_out),
            });
        }
        let Some(after) = self.copy(saved)? else {
            return Ok(Undo::Remove(saved.path.clone(), now.unwrap_or_default()));
        };
        Ok(Undo::Back(FileChange {
            syntax: Syntax::of(&saved.path),
            file: saved.path.clone(),
            before: now,
            after,
            access: saved.access(),
            own: saved.own,
        }))
    }

    /// Notes that the run's files are as they were before, except for `but`.
    ///
    /// # Errors
    /// The manifest cannot be written.
    pub fn undone(&mut self, but: &[PathBuf]) -> Result<()> {
        for saved in &mut self.manifest.files {
            saved.undone |= !but.contains(&saved.path);
        }
        write(&self.folder, &self.manifest)
    }
}

impl Saved {
    /// Returns the permissions that the file is put back with: those before, where it is still shared
    /// with whom it was then. A client that has written it anew may have left a group or an access
    /// control list out, and the mode before would be about others.
    fn access(&self) -> Access {
        let now = fs::metadata(&self.path);
        let sharing = attributes::sharing(&self.path);
        let mode = self
            .mode
            .filter(|_| sharing.is_some() && sharing == self.sharing);
        match (mode, now) {
            #[cfg(unix)]
            (Some(mode), Ok(now)) if !now.permissions().readonly() => {
                Access::Given(std::os::unix::fs::PermissionsExt::from_mode(mode))
            }
            _ => Access::Kept,
        }
    }
}

/// Returns the mode of a file; none where files have none.
#[cfg(unix)]
fn mode(file: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;

    let metadata = fs::metadata(file).ok()?;
    Some(metadata.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_: &Path) -> Option<u32> {
    None
}

fn write(folder: &Path, manifest: &Manifest) -> Result<()> {
    let text = serde_json::to_string_pretty(manifest)?;
    replace(&folder.join(MANIFEST), text.as_bytes(), Access::Private)
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Returns a time as the name of a folder: in UTC, and in the order of time when sorted.
fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // The civil calendar in eras of 400 years that begin in March, where a leap day
    // is the last of its year.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = era * 400 + year + next;
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    let (second, fraction) = (second % 60, since.subsec_micros());
    format!("{year:04}-{month:02}-{day:02}T{hour:02}.{minute:02}.{second:02}.{fraction:06}Z")
}

#[cfg(test)]
mod tests;
