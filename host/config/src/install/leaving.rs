//! Servers that leave their clients' files, where Dormouse comes in place of them.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use dormouse_text::visible::visible_path;

use super::decision::ImportDecision;
use super::each::without_each;
use super::new_entry::{NewEntry, is_name_taken, is_own, own_file, put};
use super::plan::Program;
use super::{FileChange, edit, entry, own_entry};
use crate::Client;
use crate::discovery::places::{self, ClientPlace};
use crate::discovery::planned;
use crate::discovery::{Discovery, FoundServer, Surroundings};

/// The servers that leave their clients' files.
#[derive(Default)]
pub(super) struct Leaving {
    /// The changes, by the files behind all links.
    pub(super) changes: BTreeMap<PathBuf, FileChange>,
    /// Indexes of the servers, among those that were found, that are gone then.
    pub(super) gone: Vec<usize>,
    pub(super) left: Vec<String>,
    /// Entries of Dormouse's own that go, as sentences: one for all servers takes their place.
    pub(super) removed: Vec<String>,
    /// Servers that stay, by their indexes, and the reasons.
    pub(super) staying: BTreeMap<usize, String>,
    /// Longest time for a call of any server.
    pub(super) longest_call: Duration,
    /// The clients that servers leave, and the places that have Dormouse for it.
    pub(super) replaced: Vec<(Client, ClientPlace)>,
}

impl Leaving {
    /// Removes the servers that are taken over from a client's files, and puts Dormouse into the
    /// client's own file instead.
    pub(super) fn client(
        &mut self,
        client: Client,
        decisions: &[ImportDecision],
        discovery: &Discovery,
        around: &Surroundings,
        program: &Program,
    ) -> anyhow::Result<()> {
        let places = places::files(client, around);
        let taken = decisions.iter().flat_map(|decision| &decision.found);
        let mut leaving = Vec::new();
        for index in taken {
            let Some(found) = discovery.found.get(*index) else {
                continue;
            };
            if found.server.origin.client != Some(client) {
                continue;
            }
            let (name, file) = (&found.written_name, &found.server.origin.file);
            let shown = stays(found);
            if let Some(why) = self.staying.get(index) {
                self.left.push(format!("{shown}, because {why}"));
            } else if let Some(profile) = &found.server.origin.profile {
                // Dormouse goes into the file of the default profile alone.
                self.left.push(format!(
                    "{shown}, because the profile `{}` would be without it",
                    profile.escape_debug()
                ));
            } else if !(found.own.missing.is_empty() && found.own.unanswered.is_empty()) {
                // Without its client, it would not work any more.
                self.left.push(format!(
                    "{shown}, because something in it only {client} can fill in"
                ));
            } else if !self.has(&places, file, name)? {
                self.left.push(format!(
                    "{shown}, because it is written where {client} itself writes none\nhint: take it out by hand"
                ));
            } else {
                leaving.push((*index, found));
            }
        }
        let found: Vec<_> = leaving.iter().map(|(_, found)| *found).collect();
        let gone = self.with_shadowed(client, &places, &found, discovery)?;
        let unchanged = self.changes.clone();
        match self.replace(client, &places, &gone, around, program)? {
            Ok(replaced) => {
                let replaced = replaced.into_iter().map(|place| (client, place.clone()));
                self.replaced.extend(replaced);
                self.gone.extend(leaving.iter().map(|(index, _)| *index));
            }
            Err(why) => {
                self.changes = unchanged;
                let names = found.iter().map(|found| found.written_name.escape_debug());
                let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
                self.left.push(format!(
                    "{client} keeps its servers ({}), and gets no Dormouse: {why}",
                    names.join(", ")
                ));
            }
        }
        Ok(())
    }

    /// Puts Dormouse in place of the servers that leave. Returns the places that have it then, or
    /// the reason why the client would be left without any server.
    fn replace<'p>(
        &mut self,
        client: Client,
        places: &'p [ClientPlace],
        gone: &[(&ClientPlace, &str)],
        around: &Surroundings,
        program: &Program,
    ) -> anyhow::Result<Result<Vec<&'p ClientPlace>, String>> {
        // Dormouse first: a table in which nothing is left is not quite the same in
        // every language.
        let editions: BTreeSet<_> = gone.iter().map(|(place, _)| place.edition).collect();
        let mut replaced = Vec::new();
        for edition in editions {
            let places = places.iter().filter(|place| place.edition == edition);
            let places: Vec<_> = places.collect();
            let Some(place) = own_file(&places) else {
                return Ok(Err("it has no file for a user's servers".to_owned()));
            };
            let new = NewEntry {
                name: entry::NAME,
                entry: entry::of(client, program, None),
                longest: self.longest_call,
                keeps_timeout: false,
                keeps_switches: false,
            };
            for other in places.into_iter().filter(is_own) {
                if !gone.iter().any(|(place, _)| *place == other) && other != place {
                    continue;
                }
                let taken = is_name_taken(self.open(other)?, other, &new.entry, around)?;
                if taken {
                    let why = own_entry::name_is_taken(&other.file);
                    return Ok(Err(format!("{why}\n{}", own_entry::RENAME)));
                }
            }
            put(self.open(place)?, place, client, &new)?;
            replaced.push(place);
        }
        for (place, name) in gone {
            let change = self.open(place)?;
            change.edit(|text| edit::remove(text, &place.shape, name))?;
        }
        let texts = self.changes.iter();
        let texts = texts.map(|(file, change)| (file.clone(), change.after.as_str()));
        let texts = texts.collect();
        for place in &replaced {
            if let Some(why) = planned::obstacle(client, around, &texts, place, entry::NAME, true) {
                return Ok(Err(format!(
                    "{why}\nhint: change that first, and import again"
                )));
            }
        }
        for place in &replaced {
            let change = self.open(place)?;
            let removed = without_each(change, place, &program.options, around)?;
            self.removed.extend(removed);
        }
        Ok(Ok(replaced))
    }

    /// Checks that each client has Dormouse where servers leave it, once all that is planned is in
    /// the texts.
    pub(super) fn check(&self, around: &Surroundings, program: &Program) -> anyhow::Result<()> {
        for (client, place) in &self.replaced {
            let change = self.changes.get(&real(&place.file));
            let text = change.map(|change| change.after.as_str());
            let entry = edit::get(text.unwrap_or_default(), &place.shape, entry::NAME);
            let new = entry::of(*client, program, None);
            let is_there = entry.is_ok_and(|entry| {
                entry.is_some_and(|entry| {
                    own_entry::is_dormouse(&entry, around)
                        || own_entry::is_reached_alike(&entry, &new)
                })
            });
            if !is_there {
                bail!(
                    "{client} would be left without its servers and without Dormouse in {}, so \
                     nothing is changed\nhint: `dormouse import` takes them over and leaves that \
                     file as it is",
                    visible_path(&place.file)
                );
            }
        }
        Ok(())
    }

    /// Returns the places and names of the servers that leave a client's files: of those that are
    /// taken over, and of those of the same names that lost against them and would win without
    /// them. In another edition of the client none has lost: there it leaves only where it is the
    /// same.
    fn with_shadowed<'p>(
        &mut self,
        client: Client,
        places: &'p [ClientPlace],
        leaving: &[&'p FoundServer],
        discovery: &'p Discovery,
    ) -> anyhow::Result<Vec<(&'p ClientPlace, &'p str)>> {
        let edition = |file: &Path| {
            let place = places.iter().find(|place| place.file == file);
            place.and_then(|place| place.edition)
        };
        let mut gone = Vec::new();
        for place in places.iter().filter(is_own) {
            let here = discovery.found.iter().filter(|found| {
                let origin = &found.server.origin;
                origin.client == Some(client) && origin.file == place.file
            });
            for found in here {
                let name = found.written_name.as_str();
                let mut same_name = leaving.iter().filter(|other| other.written_name == name);
                let by = found.shadowed_by.as_ref();
                let other_edition = by.filter(|by| {
                    edition(&by.file).is_some_and(|edition| Some(edition) != place.edition)
                });
                let leaves = match other_edition {
                    None => same_name.next().is_some(),
                    Some(_) => {
                        same_name.any(|other| is_same(found, other))
                            && self.has(places, &place.file, name)?
                    }
                };
                if leaves {
                    gone.push((place, name));
                } else if let Some(by) = other_edition {
                    self.left.push(format!(
                        "{}, because another one of that name is in {}\n\
                         hint: give it another name, and import again",
                        stays(found),
                        visible_path(&by.file)
                    ));
                }
            }
        }
        Ok(gone)
    }

    /// Whether a file has a server where its client's servers are.
    fn has(&mut self, places: &[ClientPlace], file: &Path, name: &str) -> anyhow::Result<bool> {
        let mut places = places.iter();
        let place = places.find(|place| is_own(place) && place.file == file);
        let Some(place) = place else {
            return Ok(false);
        };
        let change = self.open(place)?;
        // Another client that reads the same file may be without it already.
        let before = change.before.as_deref().unwrap_or_default();
        change.read(|_| Ok(edit::get(before, &place.shape, name)?.is_some()))
    }

    /// Returns the change of a place's file: one for all places that are links to it.
    fn open(&mut self, place: &ClientPlace) -> anyhow::Result<&mut FileChange> {
        Ok(match self.changes.entry(real(&place.file)) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                entry.insert(FileChange::of_client(&place.file, place.shape.syntax)?)
            }
        })
    }
}

/// Returns the file behind all links.
fn real(file: &Path) -> PathBuf {
    file.canonicalize().unwrap_or_else(|_| file.to_owned())
}

/// Returns the beginning of a sentence on a server that is not taken out of its client's file.
fn stays(found: &FoundServer) -> String {
    let file = visible_path(&found.server.origin.file);
    format!("`{}` stays in {file}", found.written_name.escape_debug())
}

/// Whether two servers of one client are reached in the same way, and shown in the same way.
fn is_same(one: &FoundServer, other: &FoundServer) -> bool {
    let (own, others) = (&one.own, &other.own);
    own.launch == others.launch && own.asked == others.asked && one.rule() == other.rule()
}
