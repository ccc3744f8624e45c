//! Backups of the files that were changed, and their way back.
//!
//! Each run that changes files has a folder, named by its time; the last one is the
//! one that is undone. A file is only put back as a whole where it still is what the
//! run has made of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use dormouse_files::paths;
use dormouse_files::replace::{Access, remove, replace};
use serde::{Deserialize, Serialize};

use crate::discovery::places::Syntax;
use crate::file;

use super::Change;

const MANIFEST: &str = "manifest.json";

/// What one run has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Manifest {
    /// The command that did it, as a user would write it.
    command: String,
    files: Vec<Saved>,
}

/// One file that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Saved {
    path: PathBuf,
    /// The hash of the text before; none where there was no file.
    before: Option<String>,
    /// The hash of the text after.
    after: String,
    /// The backup's name in this folder.
    copy: Option<String>,
    /// Whether it is Dormouse's own configuration.
    own: bool,
    /// Whether it has been put back.
    #[serde(default)]
    undone: bool,
}

/// A run that can be undone.
#[derive(Debug)]
pub struct Run {
    folder: PathBuf,
    manifest: Manifest,
}

/// What can be done about one file of a run.
#[derive(Debug)]
pub enum Undo {
    /// It is put back: this is the change, or the file's removal.
    Back(Change),
    /// It was not there before, and is removed.
    Remove(PathBuf),
    /// It has been edited since, and gets back what it had, with what was written into it since.
    Merge(Change),
    /// It has been edited since.
    Edited(PathBuf),
    /// It is Dormouse's own, which files that are left as they are still need.
    Needed(PathBuf),
    /// It is as it was before.
    Nothing,
}

/// The folder of all backups, in Dormouse's folder for data.
#[must_use]
pub fn folder(data: &Path) -> PathBuf {
    data.join("backups")
}

/// Keeps what files are before they are changed. Returns the backups' folder.
///
/// # Errors
/// The backups cannot be written: then nothing is to be changed either.
pub fn keep(backups: &Path, command: &str, changes: &[&Change]) -> Result<PathBuf> {
    let keep = || -> Result<PathBuf> {
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
            files.push(Saved {
                path: change.file.clone(),
                before: change.before.as_deref().map(hash),
                after: hash(&change.after),
                copy,
                own: change.own,
                undone: false,
            });
        }
        let command = command.to_owned();
        write(&folder, &Manifest { command, files })?;
        Ok(folder)
    };
    keep().with_context(|| {
        let shown = backups.display();
        format!("no backup can be kept in `{shown}`, so nothing is changed")
    })
}

/// The last run that has not been undone.
///
/// # Errors
/// A backup cannot be read.
pub fn last(backups: &Path) -> Result<Option<Run>> {
    for folder in folders(backups) {
        let run = Run::read(folder)?;
        let is_open = |run: &Run| run.manifest.files.iter().any(|saved| !saved.undone);
        if let Some(run) = run.filter(is_open) {
            return Ok(Some(run));
        }
    }
    Ok(None)
}

/// What becomes of a file that has been edited since a change; none where that cannot be said.
pub type Merge<'m> = &'m dyn Fn(&Path, &EarlierChange) -> Option<Change>;

/// A change that a run has made of one file.
#[derive(Debug)]
pub struct EarlierChange {
    /// The command that made it, as a user would write it.
    pub command: String,
    /// The file's text before; none where there was no file.
    pub before: Option<String>,
    /// The hash of the text after.
    after: String,
}

impl EarlierChange {
    /// Whether it has left a file with this text.
    #[must_use]
    pub fn has_made(&self, text: &str) -> bool {
        hash(text) == self.after
    }
}

/// The changes of a file that have not been undone, the last one first.
///
/// # Errors
/// A backup cannot be read.
pub fn changes_of(backups: &Path, file: &Path) -> Result<Vec<EarlierChange>> {
    let mut changes = Vec::new();
    for folder in folders(backups) {
        let Some(run) = Run::read(folder)? else {
            continue;
        };
        let mut saved = run.manifest.files.iter();
        let Some(saved) = saved.find(|saved| saved.path == file && !saved.undone) else {
            continue;
        };
        changes.push(run.change(saved)?);
    }
    Ok(changes)
}

/// The folders of all runs, the last one first.
fn folders(backups: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(backups).into_iter().flatten();
    let mut folders: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
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
        let manifest: Manifest = serde_json::from_str(&text)
            .with_context(|| format!("the backup `{}` cannot be read", folder.display()))?;
        Ok(Some(Self { folder, manifest }))
    }

    /// A file's text before; none where there was no file.
    fn copy(&self, saved: &Saved) -> Result<Option<String>> {
        let Some(copy) = &saved.copy else {
            return Ok(None);
        };
        let copy = self.folder.join(copy);
        let text = file::read(&copy)?;
        let text = text.with_context(|| format!("the backup `{}` is gone", copy.display()))?;
        Ok(Some(text))
    }

    fn change(&self, saved: &Saved) -> Result<EarlierChange> {
        Ok(EarlierChange {
            command: self.manifest.command.clone(),
            before: self.copy(saved)?,
            after: saved.after.clone(),
        })
    }

    /// The command that did it.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.manifest.command
    }

    /// Where the backups are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What can be done about each of its files, Dormouse's own last: their servers are in there for
    /// as long as clients do not have them back. With `force`, what has been edited since is put
    /// back, too; without it, `merge` says what becomes of it, if it can.
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
        let is_needed = steps.iter().any(|step| matches!(step, Undo::Edited(_)));
        for saved in open().filter(|saved| saved.own) {
            steps.push(match self.undo_one(saved, merge)? {
                Undo::Back(_) | Undo::Remove(_) if is_needed => Undo::Needed(saved.path.clone()),
                step => step,
            });
        }
        Ok(steps)
    }

    fn undo_one(&self, saved: &Saved, merge: Option<Merge<'_>>) -> Result<Undo> {
        let now = file::read(&saved.path)?;
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
            let edited = || Undo::Edited(saved.path.clone());
            return Ok(merged.map_or_else(edited, Undo::Merge));
        }
        let Some(after) = self.copy(saved)? else {
            return Ok(Undo::Remove(saved.path.clone()));
        };
        Ok(Undo::Back(Change {
            syntax: Syntax::of(&saved.path),
            file: saved.path.clone(),
            before: now,
            after,
            access: Access::Kept,
            own: saved.own,
        }))
    }

    /// Notes that the run's files are as they were before, but for these.
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

impl Undo {
    /// Does it.
    ///
    /// # Errors
    /// The file cannot be written or removed.
    pub fn make(&self) -> Result<()> {
        match self {
            Self::Back(change) | Self::Merge(change) => change.make(),
            Self::Remove(path) => {
                remove(path).with_context(|| format!("`{}` cannot be removed", path.display()))
            }
            Self::Edited(_) | Self::Needed(_) | Self::Nothing => Ok(()),
        }
    }
}

fn write(folder: &Path, manifest: &Manifest) -> Result<()> {
    let text = serde_json::to_string_pretty(manifest)?;
    replace(&folder.join(MANIFEST), text.as_bytes(), Access::Private)
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// A time as the name of a folder: in UTC, and in the order of time when sorted.
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
mod tests {
    use std::time::Duration;

    use super::*;

    fn change(file: PathBuf, before: Option<&str>, after: &str) -> Change {
        Change {
            file,
            syntax: Syntax::Json,
            before: before.map(str::to_owned),
            after: after.to_owned(),
            access: Access::Kept,
            own: false,
        }
    }

    #[test]
    fn times_are_names() {
        for (seconds, name) in [
            (0, "1970-01-01T00.00.00.000000Z"),
            (951_782_399, "2000-02-28T23.59.59.000000Z"),
            (951_782_400, "2000-02-29T00.00.00.000000Z"),
            (1_795_261_011, "2026-11-21T11.36.51.000000Z"),
            (4_107_542_399, "2100-02-28T23.59.59.000000Z"),
            (4_107_542_400, "2100-03-01T00.00.00.000000Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), name);
        }
    }

    #[test]
    fn what_was_changed_comes_back_unless_it_was_edited() {
        let home = tempfile::tempdir().unwrap();
        let backups = home.path().join("backups");
        assert!(last(&backups).unwrap().is_none());
        let (old, new) = (home.path().join("old.json"), home.path().join("new.json"));
        fs::write(&old, "old\r\n").unwrap();
        let changes = [
            change(old.clone(), Some("old\r\n"), "changed"),
            change(new.clone(), None, "made"),
        ];
        keep(&backups, "import", &changes.iter().collect::<Vec<_>>()).unwrap();
        for change in &changes {
            change.make().unwrap();
        }
        assert_eq!(fs::read_to_string(&new).unwrap(), "made");
        // Made again from what is not there any more: refused.
        assert!(changes[0].make().is_err());

        fs::write(&old, "edited").unwrap();
        let mut run = last(&backups).unwrap().unwrap();
        let undo = run.undo(false, &|_, _| None).unwrap();
        assert!(matches!(&undo[..], [Undo::Edited(file), Undo::Remove(_)] if *file == old));
        for undo in &undo {
            undo.make().unwrap();
        }
        run.undone(std::slice::from_ref(&old)).unwrap();
        assert!(!new.exists());
        assert_eq!(fs::read_to_string(&old).unwrap(), "edited");

        let mut run = last(&backups).unwrap().unwrap();
        for undo in run.undo(true, &|_, _| None).unwrap() {
            undo.make().unwrap();
        }
        run.undone(&[]).unwrap();
        assert_eq!(fs::read_to_string(&old).unwrap(), "old\r\n");
        assert!(last(&backups).unwrap().is_none());
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(32))]

        #[test]
        fn what_comes_back_is_the_same_to_the_byte(
            before in "(\u{feff})?[ -~ä\r\n\t]{0,40}",
            after in "[ -~\n]{0,20}",
        ) {
            let home = tempfile::tempdir().unwrap();
            let (backups, file) = (home.path().join("backups"), home.path().join("a.json"));
            fs::write(&file, &before).unwrap();
            let change = change(file.clone(), Some(&before), &after);
            keep(&backups, "install", &[&change]).unwrap();
            change.make().unwrap();
            for undo in last(&backups).unwrap().unwrap().undo(false, &|_, _| None).unwrap() {
                undo.make().unwrap();
            }
            proptest::prop_assert_eq!(fs::read_to_string(&file).unwrap(), before);
        }
    }

    #[cfg(unix)]
    #[test]
    fn backups_are_for_their_user_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let backups = home.path().join("backups");
        let change = change(home.path().join("a"), Some("secret"), "");
        let folder = keep(&backups, "import", &[&change]).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&backups), mode(&folder)), (0o700, 0o700));
        for entry in fs::read_dir(&folder).unwrap() {
            assert_eq!(mode(&entry.unwrap().path()), 0o600);
        }
    }
}
