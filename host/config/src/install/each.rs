//! Plans of a client's file in which each server has an entry of its own.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::bail;
use dormouse_text::visible::visible_path;

use super::plan::{NewEntry, Program, own_file, put};
use super::{FileChange, edit, entry, own_entry};
use crate::Client;
use crate::discovery::places;
use crate::discovery::{Surroundings, planned};

/// Change of a client's file after which each server has an entry of its own, planned and not made
/// yet.
#[derive(Debug)]
pub struct EachInstall {
    /// The change.
    pub change: FileChange,
    /// Names of the servers that have an entry by then.
    pub entries: Vec<String>,
    /// Servers that have none, as sentences.
    pub left_out: Vec<String>,
}

/// Plans the change of the file in which a user's servers of a client are, when each of these servers
/// gets an entry there. One entry for all of them, and those of servers that are not among them, go.
/// `longest_call` is the longest time for a call of a server.
///
/// # Errors
/// The file cannot be read, or cannot be edited.
pub fn install_each(
    client: Client,
    around: &Surroundings,
    program: &Program,
    servers: &[String],
    longest_call: Duration,
) -> anyhow::Result<EachInstall> {
    let places = places::files(client, around);
    let Some(place) = own_file(&places.iter().collect::<Vec<_>>()) else {
        bail!("`{client}` has no file for a user's servers");
    };
    let mut change = FileChange::of_client(&place.file, place.shape.syntax)?;
    let (mut entries, mut left_out) = (Vec::new(), Vec::new());
    let shown = visible_path(&place.file);
    let mut known = None;
    change.edit(|text| {
        known = edit::get(text, &place.shape, entry::NAME)?;
        let own = own_entry::each_names(text, &place.shape, around)?;
        let gone = own.iter().filter(|name| !servers.contains(name));
        let mut text = text.to_owned();
        for name in gone {
            text = edit::remove(&text, &place.shape, name)?;
        }
        Ok(text)
    })?;
    if known.is_some_and(|entry| own_entry::is_dormouse(&entry, around)) {
        change.edit(|text| edit::remove(text, &place.shape, entry::NAME))?;
    }
    for name in servers {
        if let Some(why) = entry::why_no_name(client, name) {
            left_out.push(format!(
                "`{name}` has no entry of its own in {shown}: {why}\nhint: give it another name in \
                 dormouse.toml, and try again"
            ));
            continue;
        }
        let mut is_taken = false;
        change.edit(|text| {
            let old = edit::get(text, &place.shape, name)?;
            is_taken = old.is_some_and(|old| !own_entry::is_of_server(&old, name, around));
            Ok(text.to_owned())
        })?;
        if is_taken {
            left_out.push(format!(
                "`{name}` has no entry of its own: a server of that name is in {shown} already, and \
                 stays as it is\nhint: `dormouse import {client} --replace` takes that over, or give \
                 it another name there; then try again"
            ));
            continue;
        }
        let before = change.after.clone();
        let entry = NewEntry {
            name,
            entry: entry::of(client, program, Some(name)),
            longest: longest_call,
            keeps_timeout: true,
        };
        put(&mut change, place, client, &entry)?;
        let real = place.file.canonicalize();
        let real = real.unwrap_or_else(|_| place.file.clone());
        let texts = BTreeMap::from([(real, change.after.as_str())]);
        match planned::obstacle(client, around, &texts, place, name, false) {
            None => entries.push(name.clone()),
            Some(why) => {
                change.after = before;
                left_out.push(format!(
                    "`{name}` has no entry of its own: {why}\nhint: change that first, and try again"
                ));
            }
        }
    }
    Ok(EachInstall {
        change,
        entries,
        left_out,
    })
}

/// Removes the entries of single servers from a text: one for all of them takes their place.
pub(super) fn without_each(
    text: &str,
    place: &places::ClientPlace,
    around: &Surroundings,
) -> Result<String, edit::Uneditable> {
    let mut text = text.to_owned();
    for name in own_entry::each_names(&text, &place.shape, around)? {
        text = edit::remove(&text, &place.shape, &name)?;
    }
    Ok(text)
}
