//! What files are to become: of an import, and of an installation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use dormouse_files::replace::Access;
use dormouse_launch::Secret;
use serde_json::Value as Json;

use super::decision::{Action, Decision, decide};
use super::questions::take_out_shared;
use super::{Change, edit, entry, server};
use crate::discovery::places::{self, Place, Syntax};
use crate::discovery::{Discovery, Found, Surroundings};
use crate::edit::{Change as ServerChange, with_servers};
use crate::{Client, Config, Scope, file};

/// How a client is to start Dormouse.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program: a path, or a name that `PATH` leads to.
    pub command: String,
    /// Its arguments before `serve`.
    pub options: Vec<String>,
    /// The names of variables of the environment that it needs.
    pub variables: Vec<String>,
}

/// How a client is to reach Dormouse.
#[derive(Debug, Clone)]
pub enum Reach {
    /// It starts a host of its own.
    Program(Program),
    /// It shares a host that runs already (`dormouse serve --http`).
    Http {
        /// The host's URL.
        url: String,
        /// What the client shows to be let in.
        token: Secret,
    },
}

/// An import that has been thought through, and not done yet.
#[derive(Debug)]
pub struct Import {
    /// What becomes of each server.
    pub decisions: Vec<Decision>,
    /// What the files become; Dormouse's own is the first.
    pub changes: Vec<Change>,
    /// What stays in a client's file although it was wanted, as sentences.
    pub left: Vec<String>,
}

/// What is wanted of an import.
#[derive(Debug, Clone, Copy)]
pub struct ImportRequest<'a> {
    /// The clients whose servers are taken over.
    pub clients: &'a [Client],
    /// With what the servers are replaced in their clients' files, if they are.
    pub replace: Option<&'a Program>,
    /// Whether a server of a name that is taken replaces the one that has it.
    pub force: bool,
    /// How long the longest call of a server that is not taken over may take.
    pub longest_call: Duration,
}

/// Thinks an import through. `config` is what the `file` of the configuration says.
///
/// # Errors
/// A file cannot be read, or cannot be edited.
pub fn import(
    discovery: &Discovery,
    around: &Surroundings,
    (config, file): (&Config, &Path),
    wanted: ImportRequest<'_>,
) -> anyhow::Result<Import> {
    let mut decisions = decide(&discovery.found, wanted.clients, config, wanted.force);
    let shared = take_out_shared(&mut decisions, &discovery.found, config);
    let taken = decisions.iter().flat_map(|decision| &decision.found);
    let taken = taken.filter_map(|index| discovery.found.get(*index));
    let timeouts = taken.map(|found| found.server.limits.timeout);
    let mut leaving = Leaving {
        longest_call: timeouts.fold(wanted.longest_call, Duration::max),
        ..Leaving::default()
    };
    if let Some(program) = wanted.replace {
        for client in wanted.clients {
            leaving.client(*client, &decisions, discovery, around, program)?;
        }
    }
    // Taking over what a policy denies would be a way around it.
    let denied = discovery.found.iter().filter_map(|found| {
        let (origin, why) = (&found.server.origin, found.server.denied.as_ref()?);
        let wanted = origin
            .client
            .is_some_and(|client| wanted.clients.contains(&client));
        (wanted && origin.scope == Scope::User).then(|| {
            let name = found.written_name.escape_debug();
            format!("`{name}` of {origin} is not taken over: a policy denies it: {why}")
        })
    });
    leaving.left.extend(denied);
    leaving.left.extend(shared);
    let own = own(&decisions, &discovery.found, (config, file), &leaving)?;
    let mut changes = vec![own];
    changes.extend(leaving.changes.into_values());
    changes.retain(Change::is_any);
    Ok(Import {
        decisions,
        changes,
        left: leaving.left,
    })
}

/// What Dormouse's own configuration becomes.
fn own(
    decisions: &[Decision],
    found: &[Found],
    (config, path): (&Config, &Path),
    leaving: &Leaving,
) -> anyhow::Result<Change> {
    let before = file::read(path)?;
    let mut access = Access::Kept;
    let mut changes = Vec::new();
    for decision in decisions {
        let all = decision.found.iter();
        let mut from: Vec<Client> = all
            .clone()
            .filter(|index| !leaving.gone.contains(index))
            .filter_map(|index| found.get(*index)?.server.origin.client)
            .collect();
        let first = all.clone().find_map(|index| found.get(*index));
        from.sort_unstable();
        from.dedup();
        let change = match (decision.action, first) {
            (Action::Add | Action::Replace, Some(first)) => {
                // Values are copied as they are, and any of them may be a secret.
                access = Access::Private;
                let usual = first.server.limits.timeout;
                let taken = server::Taken {
                    said: decision.said(found),
                    call_timeout: decision.call_timeout(found).unwrap_or(usual),
                };
                let table = server::table(&decision.name, first, &from, &taken);
                ServerChange::Table(Box::new(table))
            }
            _ => {
                let known = config.servers.get(&decision.name);
                if let Some(known) = known {
                    let rules = decision.more_rules(found, known);
                    if !rules.is_empty() {
                        changes.push((decision.name.clone(), ServerChange::Rules(rules)));
                    }
                }
                let known = known
                    .map(|server| server.from.as_slice())
                    .unwrap_or_default();
                let gone: Vec<_> = all
                    .filter(|index| leaving.gone.contains(index))
                    .filter_map(|index| found.get(*index)?.server.origin.client)
                    .collect();
                for client in known.iter().filter(|client| !gone.contains(client)) {
                    if !from.contains(client) {
                        from.push(*client);
                    }
                }
                from.sort_unstable();
                if from == known {
                    continue;
                }
                ServerChange::From(from)
            }
        };
        changes.push((decision.name.clone(), change));
    }
    let text = before.as_deref().unwrap_or_default();
    let after = match changes.is_empty() {
        true => text.to_owned(),
        false => with_servers(path, text, changes)?,
    };
    Ok(Change {
        file: path.to_owned(),
        syntax: Syntax::Toml,
        before,
        after,
        access,
        own: true,
    })
}

/// The servers that leave their clients' files.
#[derive(Default)]
struct Leaving {
    changes: BTreeMap<PathBuf, Change>,
    /// Which of those that were found are gone then.
    gone: Vec<usize>,
    left: Vec<String>,
    /// How long the longest call of any server may take.
    longest_call: Duration,
}

impl Leaving {
    /// Takes the servers that are taken over out of a client's files, and puts
    /// Dormouse into its own one instead.
    fn client(
        &mut self,
        client: Client,
        decisions: &[Decision],
        discovery: &Discovery,
        around: &Surroundings,
        program: &Program,
    ) -> anyhow::Result<()> {
        let places = places::files(client, around);
        let taken = decisions.iter().flat_map(|decision| &decision.found);
        let mut names = Vec::new();
        for index in taken {
            let Some(found) = discovery.found.get(*index) else {
                continue;
            };
            if found.server.origin.client != Some(client) {
                continue;
            }
            let (name, file) = (&found.written_name, &found.server.origin.file);
            let shown = format!("`{}` stays in {}", name.escape_debug(), file.display());
            if let Some(profile) = &found.server.origin.profile {
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
                names.push(name.as_str());
                self.gone.push(*index);
            }
        }
        if names.is_empty() {
            return Ok(());
        }
        let target = own_file(&places);
        // Dormouse first: a table in which nothing is left is not quite the same in
        // every language.
        if let Some(place) = target {
            let longest = self.longest_call;
            let change = self.open(place)?;
            let entry = NewEntry {
                entry: entry::of(client, program),
                longest,
                keeps_timeout: false,
            };
            put(change, place, client, &entry)?;
        }
        for place in places.iter().filter(is_own) {
            // One of that name that lost against this one would win without it.
            let here = discovery.found.iter().filter(|found| {
                let origin = &found.server.origin;
                origin.client == Some(client) && origin.file == place.file
            });
            for found in here.filter(|found| names.contains(&found.written_name.as_str())) {
                let name = &found.written_name;
                let change = self.open(place)?;
                change.edit(|text| edit::remove(text, &place.shape, name))?;
            }
        }
        Ok(())
    }

    /// Whether a server is where a client's servers are in a file.
    fn has(&mut self, places: &[Place], file: &Path, name: &str) -> anyhow::Result<bool> {
        let mut places = places.iter();
        let place = places.find(|place| is_own(place) && place.file == file);
        let Some(place) = place else {
            return Ok(false);
        };
        let mut found = false;
        self.open(place)?.edit(|text| {
            found = edit::get(text, &place.shape, name)?.is_some();
            Ok(text.to_owned())
        })?;
        Ok(found)
    }

    fn open(&mut self, place: &Place) -> anyhow::Result<&mut Change> {
        Ok(match self.changes.entry(place.file.clone()) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(Change::of_client(&place.file, place.shape.syntax)?)
            }
        })
    }
}

/// What the file becomes in which a user's servers of a client are, when Dormouse is
/// added to them. `longest_call` is how long the longest call of a server may take.
///
/// # Errors
/// The file cannot be read, or cannot be edited.
pub fn install(
    client: Client,
    around: &Surroundings,
    reach: &Reach,
    longest_call: Duration,
) -> anyhow::Result<Change> {
    let places = places::files(client, around);
    let Some(place) = own_file(&places) else {
        bail!("`{client}` has no file for a user's servers");
    };
    let mut change = Change::of_client(&place.file, place.shape.syntax)?;
    let entry = match reach {
        Reach::Program(program) => entry::of(client, program),
        Reach::Http { url, token } => {
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
        entry,
        longest: longest_call,
        keeps_timeout: true,
    };
    put(&mut change, place, client, &entry)?;
    Ok(change)
}

/// Dormouse's entry as it is to be in a client's file.
struct NewEntry {
    entry: Json,
    /// How long the longest call may take.
    longest: Duration,
    /// Whether a shorter time stays that the entry has already.
    keeps_timeout: bool,
}

/// Puts Dormouse's entry into a client's file.
fn put(change: &mut Change, place: &Place, client: Client, new: &NewEntry) -> anyhow::Result<()> {
    change.edit(|text| {
        let mut text = text.to_owned();
        if text.trim().is_empty() {
            text.push_str(entry::preamble(client));
        }
        let old = edit::get(&text, &place.shape, entry::NAME)?;
        let mut entry = new.entry.clone();
        let kept = new.keeps_timeout;
        entry::wait(client, &mut entry, old.as_ref(), new.longest, kept);
        let entry = entry::over(old.as_ref(), entry);
        edit::add(&text, &place.shape, entry::NAME, &entry)
    })
}

/// Whether a place is for all that a user does with a client.
pub(super) fn is_own(place: &&Place) -> bool {
    place.scope == Scope::User && place.profile.is_none()
}

/// The file into which a user's own server belongs: the one that the client itself
/// writes, or another spelling of it that is there.
fn own_file(places: &[Place]) -> Option<&Place> {
    let user = || places.iter().rev().filter(is_own);
    let plain = |place: &&Place| place.file.extension().is_none_or(|end| end != "jsonc");
    let usual = user().find(plain)?;
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
