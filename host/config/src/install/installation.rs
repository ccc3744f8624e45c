//! Plans of a client's file that gets one entry for all servers.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::bail;
use dormouse_files::replace::Access;
use dormouse_text::visible::visible_path;
use serde_json::Value as Json;

use super::each::without_each;
use super::plan::{ClientReach, NewEntry, is_name_taken, own_file, put};
use super::{FileChange, edit, entry, merged_entry, own_entry};
use crate::Client;
use crate::discovery::places::{self, ClientPlace};
use crate::discovery::{Surroundings, planned};

/// An installation that is planned, and not made yet.
#[derive(Debug)]
pub struct InstallPlan {
    /// The change of the client's file.
    pub change: FileChange,
    /// Entries of Dormouse's own that go from the file, as sentences.
    pub removed: Vec<String>,
    /// What of the client's present entry is lost, as a sentence.
    pub lost: Option<String>,
}

/// Plans the change of the file in which a user's servers of a client are, when Dormouse is added
/// to them. `options` are the arguments before `serve` of the entries that are its own.
/// `longest_call` is the longest time for a call of a server.
///
/// # Errors
/// The file cannot be read, or cannot be edited.
pub fn install(
    client: Client,
    around: &Surroundings,
    reach: &ClientReach,
    options: &[String],
    longest_call: Duration,
) -> anyhow::Result<InstallPlan> {
    let places = places::files(client, around);
    let Some(place) = own_file(&places.iter().collect::<Vec<_>>()) else {
        bail!("`{client}` has no file for a user's servers");
    };
    let mut change = FileChange::of_client(&place.file, place.shape.syntax)?;
    let entry = match reach {
        ClientReach::Program(program) => entry::of(client, program, None),
        ClientReach::Http { url, token } => {
            let Some(entry) = entry::over_http(client, url, token) else {
                bail!(
                    "`{client}` starts programs only, and knows no URLs\n\
                     hint: `dormouse install {client}` has it start a host of its own"
                );
            };
            // Whoever reads the token has all tools of its user.
            change.access = Access::Private;
            entry
        }
    };
    let entry = NewEntry {
        name: entry::NAME,
        entry,
        longest: longest_call,
        keeps_timeout: true,
        keeps_switches: false,
    };
    if is_name_taken(&mut change, place, &entry.entry, around)? {
        let why = own_entry::name_is_taken(&place.file);
        bail!("{why}\n{}", own_entry::RENAME);
    }
    let removed = without_each(&mut change, place, options, around)?;
    let old = present(&mut change, place)?;
    put(&mut change, place, client, &entry)?;
    let new = present(&mut change, place)?;
    let lost = old
        .zip(new)
        .and_then(|(old, new)| lost(&old, &new, place, options, around));
    let real = place.file.canonicalize();
    let real = real.unwrap_or_else(|_| place.file.clone());
    let texts = BTreeMap::from([(real, change.after.as_str())]);
    if let Some(why) = planned::obstacle(client, around, &texts, place, entry::NAME, false) {
        bail!("{why}\nhint: change that first, and try again");
    }
    Ok(InstallPlan {
        change,
        removed,
        lost,
    })
}

/// Returns the entry of Dormouse's for all servers that a file has.
fn present(change: &mut FileChange, place: &ClientPlace) -> anyhow::Result<Option<Json>> {
    let mut entry = None;
    change.edit(|text| {
        entry = edit::get(text, &place.shape, entry::NAME)?;
        Ok(text.to_owned())
    })?;
    Ok(entry)
}

/// Returns a sentence on what an `old` entry of Dormouse's has lost to the one that takes its place: how
/// its user has had it reached, and members that are of no use any more. None where it has lost nothing.
fn lost(
    old: &Json,
    new: &Json,
    place: &ClientPlace,
    options: &[String],
    around: &Surroundings,
) -> Option<String> {
    let is_written = own_entry::is_written(old, None, Some(options), around);
    let is_reached_anew = !is_written && !own_entry::is_reached_alike(old, new);
    let reach = is_reached_anew.then(|| "its other arguments or address".to_owned());
    let added = merged_entry::added(old).filter(|(key, _)| new.get(*key).is_none());
    let lost: Vec<_> = reach
        .into_iter()
        .chain(added.map(|(key, _)| format!("`{key}`")))
        .collect();
    (!lost.is_empty()).then(|| {
        format!(
            "the entry `{}` in {} loses {}\nhint: `dormouse import --undo` puts back what it was",
            entry::NAME,
            visible_path(&place.file),
            lost.join(", ")
        )
    })
}
