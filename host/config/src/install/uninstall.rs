//! Contents of a client's files when Dormouse leaves them: what they were before it came,
//! with all that their user has written since.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::backup::{self, EarlierChange, MergedChange};
use super::new_entry::is_own;
use super::{FileChange, edit, entry, merged_entry, own_entry};
use crate::Client;
use crate::discovery::Surroundings;
use crate::discovery::places::{self, ClientPlace};

/// Beginning of the command that takes Dormouse out of a client's file. Changes before it count no
/// more.
const COMMAND: &str = "dormouse uninstall";

/// An option of the command that takes servers out of a client's file.
const REPLACES: &str = "--replace";

/// Removal of Dormouse from a client's files, planned and not done yet.
#[derive(Debug, Default)]
pub struct UninstallPlan {
    /// New contents of files.
    pub changes: Vec<FileChange>,
    /// Files that Dormouse has made, and nobody has written anything else into, with their texts.
    pub removed: Vec<(PathBuf, String)>,
    /// The names of servers that are put back in place of Dormouse.
    pub put_back: Vec<String>,
}

/// Plans the removal of Dormouse from the files in which a user's servers of a client are.
/// `backups` is the folder with what they were.
///
/// # Errors
/// A file or a backup cannot be read, or a file cannot be edited.
pub fn uninstall(
    client: Client,
    around: &Surroundings,
    backups: &Path,
) -> anyhow::Result<UninstallPlan> {
    let mut all = UninstallPlan::default();
    let mut servers = Returning::default();
    let places = places::files(client, around);
    let places: Vec<_> = places.iter().filter(is_own).collect();
    let mut changes: BTreeMap<PathBuf, FileChange> = BTreeMap::new();
    for place in &places {
        if !changes.contains_key(&place.file) {
            let change = FileChange::of_client(&place.file, place.shape.syntax)?;
            changes.insert(place.file.clone(), change);
        }
    }
    changes.retain(|_, change| change.before.is_some());
    // The editions of the client that load Dormouse, from whichever of their files.
    let mut editions = BTreeSet::new();
    for place in &places {
        if let Some(change) = changes.get(&place.file)
            && loads_dormouse(change, place, &earlier_of(backups, place)?, around)?
        {
            editions.insert(place.edition);
        }
    }
    for place in places
        .iter()
        .filter(|place| editions.contains(&place.edition))
    {
        let Some(change) = changes.get_mut(&place.file) else {
            continue;
        };
        let earlier = earlier_of(backups, place)?;
        let had_dormouse = loads_dormouse(change, place, &earlier, around)?;
        let stays = leave(change, place, &earlier, None, around, &mut servers)?;
        if had_dormouse && !stays {
            let text = changes.remove(&place.file).and_then(|change| change.before);
            all.removed
                .push((place.file.clone(), text.unwrap_or_default()));
        }
    }
    all.put_back = servers.put_back;
    all.changes = changes.into_values().filter(FileChange::is_any).collect();
    Ok(all)
}

/// Returns the change that undoes an earlier change of Dormouse's in a file of clients', and keeps
/// all that was written into it since. None where no client has such a file, or it cannot be
/// edited.
#[must_use]
pub fn without_earlier_change(
    earlier: &EarlierChange,
    file: &Path,
    around: &Surroundings,
) -> Option<MergedChange> {
    let places = Client::all().flat_map(|client| places::files(client, around));
    let places: Vec<_> = places.filter(|place| place.file == file).collect();
    let mut change = FileChange::of_client(file, places.first()?.shape.syntax).ok()?;
    change.before.as_ref()?;
    let before = earlier.before.as_deref().unwrap_or_default();
    let mut servers = Returning::default();
    for place in places.iter().filter(is_own) {
        let earlier = std::slice::from_ref(earlier);
        leave(
            &mut change,
            place,
            earlier,
            Some(before),
            around,
            &mut servers,
        )
        .ok()?;
        // It was there before, as it had been installed then.
        let mut own = own_entry::each_entries(before, &place.shape, None, around).ok()?;
        let whole = edit::get(before, &place.shape, entry::NAME).ok()?;
        own.extend(whole.map(|entry| (entry::NAME.to_owned(), entry)));
        for (name, entry) in own {
            match edit::get(&change.after, &place.shape, &name).ok()? {
                None => {
                    let add = |text: &str| edit::add(text, &place.shape, &name, &entry);
                    change.edit(add).ok()?;
                }
                Some(other) if other != entry && !own_entry::is_reached_alike(&other, &entry) => {
                    servers.kept_out.push(name);
                }
                Some(_) => {}
            }
        }
    }
    servers.kept_out.sort_unstable();
    servers.kept_out.dedup();
    Some(MergedChange {
        change,
        kept_out: servers.kept_out,
    })
}

/// The servers that come back into a file, by name.
#[derive(Default)]
struct Returning {
    /// Servers that are put back.
    put_back: Vec<String>,
    /// Servers that are not, because another one has their name now.
    kept_out: Vec<String>,
}

/// Returns the changes of a place's file since Dormouse was last taken out of it, the last one first.
fn earlier_of(backups: &Path, place: &ClientPlace) -> anyhow::Result<Vec<EarlierChange>> {
    let mut earlier = backup::changes_of(backups, &place.file)?;
    let is_older = |change: &EarlierChange| change.command.starts_with(COMMAND);
    let end = earlier.iter().position(is_older).unwrap_or(earlier.len());
    earlier.truncate(end);
    Ok(earlier)
}

/// Removes Dormouse from a file. `earlier` are the changes that were made of it, the last one
/// first. `undone` is the text before, where one of them is undone: then what has been written since
/// into an entry of Dormouse's stays, and the entry with it. Returns false where there was no such
/// file, and nobody has changed it since.
fn leave(
    change: &mut FileChange,
    place: &ClientPlace,
    earlier: &[EarlierChange],
    undone: Option<&str>,
    around: &Surroundings,
    servers: &mut Returning,
) -> anyhow::Result<bool> {
    let with_dormouse = names(change, place)?;
    let had_dormouse = has_dormouse(&change.after, place, earlier, around);
    // What nobody has edited since becomes what it was, to the byte.
    let mut older = earlier.iter().peekable();
    let mut is_restored = false;
    while let Some(made) = older.next_if(|made| made.has_made(&change.after)) {
        match &made.before {
            Some(before) => change.after.clone_from(before),
            None => return Ok(false),
        }
        is_restored = true;
    }
    let older: Vec<_> = older.collect();
    // It may have been there by its user's own hand before. A server that only has its name stays.
    let goes = match is_restored {
        true => has_dormouse(&change.after, place, &[], around),
        false => had_dormouse,
    };
    let own = change.read(|text| {
        let mut own = own_entry::each_entries(text, &place.shape, None, around)?;
        if goes && let Some(whole) = edit::get(text, &place.shape, entry::NAME)? {
            own.push((entry::NAME.to_owned(), whole));
        }
        Ok(own)
    })?;
    for (name, entry) in own {
        let before = undone.map(|before| edit::get(before, &place.shape, &name).ok().flatten());
        match before {
            Some(before) if is_added_to(before.as_ref(), &entry) => {
                let is_same = |before| own_entry::is_reached_alike(&before, &entry);
                if !before.is_some_and(is_same) {
                    servers.kept_out.push(name);
                }
            }
            _ => change.edit(|text| edit::remove(text, &place.shape, &name))?,
        }
    }
    // Else servers come back one by one.
    for made in older {
        let before = made.before.as_deref().unwrap_or_default();
        let has_replaced = made.command.contains(REPLACES);
        // A backup that can no longer be read as a list of servers has none to give back.
        for (name, entry) in edit::entries(before, &place.shape).unwrap_or_default() {
            // Older versions have put Dormouse over servers that have its name.
            let is_back = match name == entry::NAME {
                true => goes && !has_dormouse(before, place, &[], around),
                false => has_replaced,
            };
            if !is_back || own_entry::is_written(&entry, Some(&name), None, around) {
                continue;
            }
            match edit::get(&change.after, &place.shape, &name).ok().flatten() {
                None => change.edit(|text| edit::add(text, &place.shape, &name, &entry))?,
                Some(other) if other != entry => servers.kept_out.push(name),
                Some(_) => {}
            }
        }
    }
    let now = names(change, place)?.into_iter();
    let put_back = now.filter(|name| !with_dormouse.contains(name));
    servers.put_back.extend(put_back);
    Ok(true)
}

/// Whether an entry of Dormouse's has members of its user's that it did not have before.
fn is_added_to(before: Option<&Json>, entry: &Json) -> bool {
    merged_entry::added(entry)
        .any(|(key, value)| before.and_then(|before| before.get(key)) != Some(value))
}

/// Whether Dormouse is among the servers in a text: a server that only has its name is another one.
/// `earlier` are the changes that were made of the file.
fn has_dormouse(
    text: &str,
    place: &ClientPlace,
    earlier: &[EarlierChange],
    around: &Surroundings,
) -> bool {
    let entry = edit::get(text, &place.shape, entry::NAME).ok().flatten();
    let is_made = earlier.first().is_some_and(|made| made.has_made(text));
    entry.is_some_and(|entry| {
        is_made
            || own_entry::is_dormouse(&entry, around)
            || !earlier.is_empty() && own_entry::may_be_host(&entry)
    })
}

/// Whether a file has Dormouse among its servers, for all of them or for single ones.
fn loads_dormouse(
    change: &FileChange,
    place: &ClientPlace,
    earlier: &[EarlierChange],
    around: &Surroundings,
) -> anyhow::Result<bool> {
    let is_named = names(change, place)?.iter().any(|name| name == entry::NAME);
    let each = change.read(|text| own_entry::each_entries(text, &place.shape, None, around))?;
    Ok(!each.is_empty() || is_named && has_dormouse(&change.after, place, earlier, around))
}

/// Returns the names of the servers that are to be in a file.
fn names(change: &FileChange, place: &ClientPlace) -> anyhow::Result<Vec<String>> {
    let entries = change.read(|text| edit::entries(text, &place.shape))?;
    Ok(entries.into_iter().map(|(name, _)| name).collect())
}
