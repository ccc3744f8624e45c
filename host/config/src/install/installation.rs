//! Plans of a client's file that gets one entry for all servers.

use std::time::Duration;

use anyhow::bail;
use dormouse_files::replace::Access;
use dormouse_text::visible::visible_path;
use serde_json::Value as Json;

use super::each::without_each;
use super::new_entry::{NewEntry, is_name_taken, obstacle, own_place, present, put};
use super::plan::ClientReach;
use super::{FileChange, entry, merged_entry, own_entry};
use crate::Client;
use crate::discovery::Surroundings;
use crate::discovery::places::ClientPlace;

/// An installation that is planned, and not made yet.
#[derive(Debug)]
pub struct InstallPlan {
    /// The change of the client's file.
    pub change: FileChange,
    /// Entries of Dormouse's own that go from the file, as sentences.
    pub removed: Vec<String>,
    /// Sentence on the parts of the client's present entry that are lost.
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
    let place = &own_place(client, around)?;
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
    if is_name_taken(&change, place, &entry.entry, around)? {
        let why = own_entry::name_is_taken(&place.file);
        bail!("{why}\n{}", own_entry::RENAME);
    }
    let removed = without_each(&mut change, place, options, around)?;
    let old = present(&change, place, entry.name)?;
    put(&mut change, place, client, &entry)?;
    let new = present(&change, place, entry.name)?;
    let lost = old
        .zip(new)
        .and_then(|(old, new)| lost(&old, &new, place, options, around));
    if let Some(why) = obstacle(client, around, &change, place, entry.name) {
        bail!("{why}\nhint: change that first, and try again");
    }
    Ok(InstallPlan {
        change,
        removed,
        lost,
    })
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
