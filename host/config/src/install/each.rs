//! Plans of a client's file in which each server has an entry of its own.

use std::path::Path;
use std::time::Duration;

use dormouse_text::visible::visible_path;
use serde_json::Value as Json;

use super::new_entry::{NewEntry, obstacle, own_place, present, put};
use super::plan::Program;
use super::start_args::CONFIG;
use super::{FileChange, edit, entry, merged_entry, own_entry};
use crate::discovery::Surroundings;
use crate::discovery::places::ClientPlace;
use crate::{Client, file};

/// Servers that are to have entries of their own.
#[derive(Debug, Clone, Default)]
pub struct EachServers {
    /// The servers' names.
    pub names: Vec<String>,
    /// Whether there may be others: something that servers are written in is not read.
    pub may_lack_some: bool,
}

/// Change of a client's file after which each server has an entry of its own, planned and not made
/// yet.
#[derive(Debug)]
pub struct EachInstall {
    /// The change.
    pub change: FileChange,
    /// Names of the servers that are loaded by their entries then.
    pub entries: Vec<String>,
    /// Entries of Dormouse's own that go from the file, as sentences.
    pub removed: Vec<String>,
    /// Servers that have no entry, and entries that stay as they are, as sentences.
    pub left_out: Vec<String>,
}

/// Plans the change of the file in which a user's servers of a client are, when each of these servers
/// gets an entry there. What Dormouse itself has written for the same configuration goes: one entry for
/// all of them, and those of servers that are not among them, unless these are not all that there are.
/// `longest_call` is the longest time for a call of a server.
///
/// # Errors
/// The file cannot be read, or cannot be edited.
pub fn install_each(
    client: Client,
    around: &Surroundings,
    program: &Program,
    servers: &EachServers,
    longest_call: Duration,
) -> anyhow::Result<EachInstall> {
    let place = &own_place(client, around)?;
    let mut each = EachInstall {
        change: FileChange::of_client(&place.file, place.shape.syntax)?,
        entries: Vec::new(),
        removed: Vec::new(),
        left_out: Vec::new(),
    };
    each.remove_others(client, place, around, program, servers)?;
    for name in &servers.names {
        each.put(client, place, around, program, name, longest_call)?;
    }
    Ok(each)
}

/// Returns the servers that a client loads by entries of their own which Dormouse has written for that
/// configuration. None of a file that cannot be read: whoever looks for servers there says so.
#[must_use]
pub fn installed_each(client: Client, around: &Surroundings, config: &Path) -> Vec<String> {
    let Ok(place) = own_place(client, around) else {
        return Vec::new();
    };
    let Ok(Some(text)) = file::read(&place.file) else {
        return Vec::new();
    };
    let named = config
        .to_str()
        .map(|config| [CONFIG, config].map(str::to_owned).to_vec());
    let options = named.into_iter().chain([Vec::new()]);
    let entries = options.flat_map(|options| {
        let entries = own_entry::each_entries(&text, &place.shape, Some(&options), around);
        entries.unwrap_or_default()
    });
    entries.map(|(name, _)| name).collect()
}

impl EachInstall {
    /// Removes the entries that Dormouse has written for all servers, and for others than these.
    fn remove_others(
        &mut self,
        client: Client,
        place: &ClientPlace,
        around: &Surroundings,
        program: &Program,
        servers: &EachServers,
    ) -> anyhow::Result<()> {
        let options = Some(program.options.as_slice());
        let change = &self.change;
        let mut gone =
            change.read(|text| own_entry::each_entries(text, &place.shape, options, around))?;
        let whole = present(change, place, entry::NAME)?;
        gone.retain(|(name, _)| !servers.names.contains(name));
        let shown = visible_path(&place.file);
        if let Some(whole) = whole {
            if own_entry::is_written(&whole, None, options, around) {
                gone.push((entry::NAME.to_owned(), whole));
            } else if own_entry::is_dormouse(&whole, around) {
                self.left_out.push(format!(
                    "the entry `{}` in {shown} stays, because `dormouse install` has not written it \
                     with these arguments: what it serves is there twice\nhint: `dormouse uninstall \
                     {client}` takes it out; then try again",
                    entry::NAME
                ));
            }
        }
        if servers.may_lack_some && !gone.is_empty() {
            let names: Vec<_> = gone.iter().map(|(name, _)| format!("`{name}`")).collect();
            self.left_out.push(format!(
                "{} in {shown} would go, and stays: not all that your servers are written in is \
                 read\nhint: mend what cannot be read, leave the folder of the project that has what \
                 is left out, and try again",
                names.join(", ")
            ));
            return Ok(());
        }
        for (name, entry) in gone {
            self.change
                .edit(|text| edit::remove(text, &place.shape, &name))?;
            self.removed.push(told_gone(&name, &entry, place));
        }
        Ok(())
    }

    /// Puts the entry of one server into the file, where no other has its name.
    fn put(
        &mut self,
        client: Client,
        place: &ClientPlace,
        around: &Surroundings,
        program: &Program,
        name: &str,
        longest_call: Duration,
    ) -> anyhow::Result<()> {
        let shown = visible_path(&place.file);
        if let Some(why) = entry::why_no_name(client, name) {
            self.left_out.push(format!(
                "`{name}` has no entry of its own in {shown}: {why}\nhint: give it another name in \
                 dormouse.toml, and try again"
            ));
            return Ok(());
        }
        let options = Some(program.options.as_slice());
        let other = present(&self.change, place, name)?
            .filter(|old| !own_entry::is_written(old, Some(name), options, around));
        if let Some(other) = other {
            let hint = match own_entry::is_dormouse(&other, around) {
                true => "give it another name there, or take it out; then try again".to_owned(),
                false => format!(
                    "`dormouse import {client} --replace` takes that over, or give it another name \
                     there; then try again"
                ),
            };
            self.left_out.push(format!(
                "`{name}` has no entry of its own: a server of that name is in {shown} already, and \
                 stays as it is\nhint: {hint}"
            ));
            return Ok(());
        }
        let before = self.change.after.clone();
        let new = NewEntry {
            name,
            entry: entry::of(client, program, Some(name)),
            longest: longest_call,
            keeps_timeout: true,
            keeps_switches: true,
        };
        put(&mut self.change, place, client, &new)?;
        if present(&self.change, place, name)?.is_some_and(|entry| merged_entry::is_off(&entry)) {
            self.left_out.push(format!(
                "the entry `{name}` in {shown} is switched off there, and stays switched off"
            ));
            return Ok(());
        }
        match obstacle(client, around, &self.change, place, name) {
            None => self.entries.push(name.to_owned()),
            Some(why) => {
                self.change.after = before;
                self.left_out.push(format!(
                    "`{name}` has no entry of its own: {why}\nhint: change that first, and try again"
                ));
            }
        }
        Ok(())
    }
}

/// Removes the entries of single servers that Dormouse has written with these options: one for all of
/// them takes their place. Returns them as sentences.
pub(super) fn without_each(
    change: &mut FileChange,
    place: &ClientPlace,
    options: &[String],
    around: &Surroundings,
) -> anyhow::Result<Vec<String>> {
    let mut removed = Vec::new();
    change.edit(|text| {
        let mut text = text.to_owned();
        for (name, entry) in own_entry::each_entries(&text, &place.shape, Some(options), around)? {
            text = edit::remove(&text, &place.shape, &name)?;
            removed.push(told_gone(&name, &entry, place));
        }
        Ok(text)
    })?;
    Ok(removed)
}

/// Returns a sentence on an entry that goes, with the members that its user has added to it.
fn told_gone(name: &str, entry: &Json, place: &ClientPlace) -> String {
    let added: Vec<_> = merged_entry::added(entry)
        .map(|(key, _)| format!("`{key}`"))
        .collect();
    let with = match added.is_empty() {
        true => String::new(),
        false => format!(", with its {}", added.join(", ")),
    };
    let shown = visible_path(&place.file);
    format!("the entry `{name}` of Dormouse's goes from {shown}{with}")
}
