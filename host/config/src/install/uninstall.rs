//! Contents of a client's files when Dormouse leaves them: what they were before it came,
//! with all that their user has written since.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::backup::{self, EarlierChange};
use super::plan::is_own;
use super::{Change, edit, entry};
use crate::Client;
use crate::discovery::Surroundings;
use crate::discovery::places::{self, Place};

/// Beginning of the command that takes Dormouse out of a client's file. What was changed before it
/// is over.
const COMMAND: &str = "dormouse uninstall";

/// An option of the command that takes servers out of a client's file.
const REPLACES: &str = "--replace";

/// Dormouse leaving a client's files, thought through and not done yet.
#[derive(Debug, Default)]
pub struct Uninstall {
    /// New contents of files.
    pub changes: Vec<Change>,
    /// Files that Dormouse has made, and nobody has written anything else into, with their texts.
    pub removed: Vec<(PathBuf, String)>,
    /// The names of servers that are put back in place of Dormouse.
    pub put_back: Vec<String>,
}

/// Thinks through how Dormouse leaves the files in which a user's servers of a client are.
/// `backups` is the folder with what they were.
///
/// # Errors
/// A file or a backup cannot be read, or a file cannot be edited.
pub fn uninstall(
    client: Client,
    around: &Surroundings,
    backups: &Path,
) -> anyhow::Result<Uninstall> {
    let mut all = Uninstall::default();
    let mut changes: BTreeMap<PathBuf, Change> = BTreeMap::new();
    for place in places::files(client, around).iter().filter(is_own) {
        let change = match changes.remove(&place.file) {
            Some(change) => change,
            None => Change::of_client(&place.file, place.shape.syntax)?,
        };
        if change.before.is_none() {
            continue;
        }
        let mut change = change;
        if names(&mut change, place)?
            .iter()
            .any(|name| name == entry::NAME)
        {
            let earlier = backup::changes_of(backups, &place.file)?;
            let is_older = |change: &EarlierChange| change.command.starts_with(COMMAND);
            let end = earlier.iter().position(is_older).unwrap_or(earlier.len());
            let earlier = earlier.get(..end).unwrap_or_default();
            if !leave(&mut change, place, earlier, &mut all.put_back)? {
                let text = change.before.unwrap_or_default();
                all.removed.push((place.file.clone(), text));
                continue;
            }
        }
        changes.insert(place.file.clone(), change);
    }
    all.changes = changes.into_values().filter(Change::is_any).collect();
    Ok(all)
}

/// A file of clients' without a change that Dormouse has made of it, with all that was written into
/// it since. None where no client has such a file, or it cannot be edited.
#[must_use]
pub fn without_earlier_change(
    earlier: &EarlierChange,
    file: &Path,
    around: &Surroundings,
) -> Option<Change> {
    let places = Client::all().flat_map(|client| places::files(client, around));
    let places: Vec<_> = places.filter(|place| place.file == file).collect();
    let mut change = Change::of_client(file, places.first()?.shape.syntax).ok()?;
    change.before.as_ref()?;
    let before = earlier.before.as_deref().unwrap_or_default();
    for place in places.iter().filter(is_own) {
        let earlier = std::slice::from_ref(earlier);
        leave(&mut change, place, earlier, &mut Vec::new()).ok()?;
        // It was there before, as it had been installed then.
        if let Some(entry) = edit::get(before, &place.shape, entry::NAME).ok().flatten() {
            let add = |text: &str| edit::add(text, &place.shape, entry::NAME, &entry);
            change.edit(add).ok()?;
        }
    }
    Some(change)
}

/// Takes Dormouse out of a file. `earlier` are the changes that were made of it, the last one
/// first. False where there was no such file, and nobody has changed it since.
fn leave(
    change: &mut Change,
    place: &Place,
    earlier: &[EarlierChange],
    put_back: &mut Vec<String>,
) -> anyhow::Result<bool> {
    let with_dormouse = names(change, place)?;
    // What nobody has edited since becomes what it was, to the byte.
    let mut earlier = earlier.iter().peekable();
    while let Some(made) = earlier.next_if(|made| made.has_made(&change.after)) {
        match &made.before {
            Some(before) => change.after.clone_from(before),
            None => return Ok(false),
        }
    }
    // Else servers come back one by one.
    for made in earlier.filter(|made| made.command.contains(REPLACES)) {
        let before = made.before.as_deref().unwrap_or_default();
        // A backup that can no longer be read as a list of servers has none to give back.
        let there = names(change, place)?;
        for name in edit::names(before, &place.shape).unwrap_or_default() {
            let entry = edit::get(before, &place.shape, &name).ok().flatten();
            if let Some(entry) = entry.filter(|_| name != entry::NAME && !there.contains(&name)) {
                change.edit(|text| edit::add(text, &place.shape, &name, &entry))?;
            }
        }
    }
    // It may have been there by its user's own hand before.
    change.edit(|text| edit::remove(text, &place.shape, entry::NAME))?;
    let now = names(change, place)?.into_iter();
    put_back.extend(now.filter(|name| !with_dormouse.contains(name)));
    Ok(true)
}

/// The names of the servers that are to be in a file.
fn names(change: &mut Change, place: &Place) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    change.edit(|text| {
        names = edit::names(text, &place.shape)?;
        Ok(text.to_owned())
    })?;
    Ok(names)
}
