//! New entries of Dormouse's in clients' files: where they belong, what is there, and putting them in.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::bail;
use serde_json::Value as Json;

use super::{FileChange, edit, entry, merged_entry, own_entry};
use crate::discovery::places::{self, ClientPlace};
use crate::discovery::{Surroundings, planned};
use crate::{Client, Scope};

/// Dormouse's entry as it is to be in a client's file.
pub(super) struct NewEntry<'n> {
    /// Name of the entry.
    pub(super) name: &'n str,
    pub(super) entry: Json,
    /// Longest time for a call.
    pub(super) longest: Duration,
    /// Whether a shorter time that the entry has already stays.
    pub(super) keeps_timeout: bool,
    /// Whether what switches the entry off stays.
    pub(super) keeps_switches: bool,
}

/// Returns the entry of that name that a file has after a change.
pub(super) fn present(
    change: &FileChange,
    place: &ClientPlace,
    name: &str,
) -> anyhow::Result<Option<Json>> {
    change.read(|text| edit::get(text, &place.shape, name))
}

/// Whether a file has a server of Dormouse's name that is another one. `new` is the entry that is
/// to come into the file.
pub(super) fn is_name_taken(
    change: &FileChange,
    place: &ClientPlace,
    new: &Json,
    around: &Surroundings,
) -> anyhow::Result<bool> {
    let old = present(change, place, entry::NAME)?;
    Ok(old.is_some_and(|old| {
        !own_entry::is_dormouse(&old, around) && !own_entry::is_reached_alike(&old, new)
    }))
}

/// Returns the reason for which a client would not load an entry of a file after a change.
pub(super) fn obstacle(
    client: Client,
    around: &Surroundings,
    change: &FileChange,
    place: &ClientPlace,
    name: &str,
) -> Option<String> {
    let real = place.file.canonicalize();
    let real = real.unwrap_or_else(|_| place.file.clone());
    let texts = BTreeMap::from([(real, change.after.as_str())]);
    planned::obstacle(client, around, &texts, place, name, false)
}

/// Puts an entry of Dormouse's into a client's file, where no other server has its name.
pub(super) fn put(
    change: &mut FileChange,
    place: &ClientPlace,
    client: Client,
    new: &NewEntry<'_>,
) -> anyhow::Result<()> {
    change.edit(|text| {
        let mut text = text.to_owned();
        if text.trim().is_empty() {
            text.push_str(entry::preamble(client));
        }
        let old = edit::get(&text, &place.shape, new.name)?;
        let mut entry = new.entry.clone();
        let kept = new.keeps_timeout;
        entry::wait(client, &mut entry, old.as_ref(), new.longest, kept);
        let entry = merged_entry::over(old.as_ref(), entry, new.keeps_switches);
        edit::add(&text, &place.shape, new.name, &entry)
    })
}

/// Whether a place is for all that a user does with a client.
pub(super) fn is_own(place: &&ClientPlace) -> bool {
    place.scope == Scope::User && place.profile.is_none()
}

/// Returns the place of the file into which a user's own server of a client belongs.
///
/// # Errors
/// The client has none.
pub(super) fn own_place(client: Client, around: &Surroundings) -> anyhow::Result<ClientPlace> {
    let places = places::files(client, around);
    match own_file(&places.iter().collect::<Vec<_>>()) {
        Some(place) => Ok(place.clone()),
        None => bail!("`{client}` has no file for a user's servers"),
    }
}

/// Returns the file into which a user's own server belongs: the one that the client itself writes,
/// or another spelling of it that is there.
pub(super) fn own_file<'p>(places: &[&'p ClientPlace]) -> Option<&'p ClientPlace> {
    let user = || places.iter().copied().rev().filter(is_own);
    let plain = |place: &&ClientPlace| place.file.extension().is_none_or(|end| end != "jsonc");
    let usual = user().find(plain).or_else(|| user().next())?;
    let folder = usual.file.parent()?;
    let mut there = user().filter(|place| place.file.exists());
    let beside = there
        .clone()
        .find(|place| place.file.parent() == Some(folder));
    match beside {
        Some(place) => Some(place),
        // Of two editions of a program, only one may be in use.
        None if !folder.exists() => Some(there.next().unwrap_or(usual)),
        None => Some(usual),
    }
}
