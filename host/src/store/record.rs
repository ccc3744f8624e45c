//! Record of one upstream's offers, and of what its user has seen of these.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use dormouse_catalog::Listing;
use dormouse_config::ChangePolicy;
use dormouse_upstream::{MODERN, Offered, Reaction, Reactions};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::by_folder::KnownElsewhere;
use super::canonical::canonical;
use super::caution::tools_by_name;
use super::frozen::{Novelty, Treatment};
use super::gated::Gated;
use super::offered_to::{OfferedTo, kind_of_clients};
use super::pending::{Pending, PendingItem, Selection};
use super::unseen::{Change, Clients, Unseen};

/// Version of the record's format that is written, and the newest that is read. Up to 1, only
/// changes of tools were kept from being shown.
const FORMAT: u32 = 2;

/// Most bytes of the items of one kind that are kept for clients which can be asked more, while a
/// client is not offered them.
const MAX_WITHHELD_BYTES: usize = 8 << 20;

/// Record of an upstream's offers, and of what its user knows of these.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    format: u32,
    /// Time at which the offers were read, in seconds since the Unix epoch.
    pub(super) fetched: u64,
    /// Items that it offers.
    pub(super) offered: Offered,
    /// Items of these that its user has not seen as they are.
    #[serde(default)]
    pub(super) unseen: BTreeMap<Gated, Unseen>,
    /// In version 1: the tools that have changed, as they were.
    #[serde(default, skip_serializing)]
    seen: BTreeMap<String, Box<RawValue>>,
    /// Tools that were not offered to a client which can be asked less than the one of this record,
    /// and whether that one was offered them since.
    #[serde(default)]
    pub(super) withheld: BTreeMap<String, bool>,
    /// Items that each kind of clients was last offered; the last entry is the kind that was asked
    /// for last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) offered_to: Vec<OfferedTo>,
    /// Kind of clients that the upstream was first asked for (see [`Clients`]).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    clients: String,
    /// Whether the caution of tools is kept for each kind of clients; older versions have not kept
    /// that.
    #[serde(default)]
    has_cautions: bool,
    /// Folder of the record, where the upstream is known in one folder by something else than in
    /// another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) folder: Option<String>,
    /// Whether the upstream is new, so that its first offers are taken as they are.
    #[serde(skip)]
    first: bool,
}

/// Changes of an upstream's offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfferedChanges {
    /// New tools, by name.
    pub added: Vec<String>,
    /// Tools that are gone, by name.
    pub gone: Vec<String>,
    /// Items that its user has not approved as they are: tools by their names, others with their
    /// kind.
    pub pending: Vec<String>,
    /// Items of `pending` that were not logged yet.
    pub untold: Vec<String>,
}

/// Client for which an upstream was asked for its offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// An agent, with its client's capabilities.
    Agent,
    /// Dormouse itself, as a client that can be asked everything, which need not be any agent's.
    Dormouse,
}

/// Rules on the treatment of new items.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'a> {
    /// Its user's policy on changes.
    pub(super) changes: &'a ChangePolicy,
    /// Whether a component is in front of it, and shows its own declaration. New items were not
    /// seen by anyone then: another server may have the same upstream.
    pub(super) fronted: bool,
    /// Client for which it was asked.
    pub(super) asker: Asker,
}

impl Record {
    /// Makes the record of an upstream that was never asked. Its user may have seen its tools in a
    /// component.
    pub(super) fn of_seen(seen: Option<&Arc<Listing>>) -> Self {
        let tools = seen.iter().flat_map(|listing| &listing.tools);
        Self {
            format: FORMAT,
            fetched: seconds_now(),
            offered: Offered {
                tools: tools.map(|tool| tool.tool.clone()).collect(),
                ..Offered::default()
            },
            unseen: BTreeMap::new(),
            seen: BTreeMap::new(),
            withheld: BTreeMap::new(),
            offered_to: Vec::new(),
            clients: String::new(),
            has_cautions: true,
            folder: None,
            first: seen.is_none(),
        }
    }

    /// Makes the record of an upstream whose record cannot be read. None of its offers count as
    /// seen, except those in a component.
    pub(super) fn after_damage(seen: Option<&Arc<Listing>>) -> Self {
        Self {
            first: false,
            ..Self::of_seen(seen)
        }
    }

    pub(super) fn parse(text: &str) -> Result<Self, Damaged> {
        #[derive(Deserialize)]
        struct Envelope {
            format: u32,
        }
        let Envelope { format } = serde_json::from_str(text)?;
        if format > FORMAT {
            return Err(Damaged::Newer(format));
        }
        let mut record: Self = serde_json::from_str(text)?;
        record.offered.bound_self_description();
        if record.offered.reactions.is_unknown() {
            record.offered.reactions = reactions_of(&record.offered.protocol);
        }
        if format < FORMAT {
            // What that Dormouse had recorded, it has shown. All of it is what the user
            // knows, but for the tools that it kept back.
            let changed = std::mem::take(&mut record.seen);
            let tools = record.unseen.entry(Gated::Tool).or_default();
            tools.changed = changed;
            drop_ambiguous(&mut record.offered);
            record.format = FORMAT;
        }
        if !std::mem::replace(&mut record.has_cautions, true) {
            record.take_over_cautions();
        }
        Ok(record)
    }

    /// Records the upstream's current offers. `known_elsewhere` has what the user knows from other
    /// places where it was started; at first only that is taken as it is.
    pub(super) fn update(
        &mut self,
        mut offered: Offered,
        rules: Rules<'_>,
        known_elsewhere: Option<&KnownElsewhere>,
    ) -> OfferedChanges {
        drop_ambiguous(&mut offered);
        let clients = kind_of_clients(&offered);
        // Another version of a server may have learnt something.
        if !is_other_version(&offered.server_info, &self.offered.server_info) {
            offered.reactions = offered.reactions.or(self.offered.reactions);
        }
        let own = tools_by_name(&offered);
        self.keep_cautions(&clients, &own);
        self.complete(&mut offered, &clients, rules.asker);
        self.separate_clients(&mut offered, &clients);
        let first = std::mem::take(&mut self.first);
        let before = std::mem::replace(&mut self.offered, offered);
        self.fetched = seconds_now();
        let mut news = OfferedChanges::default();
        for kind in Gated::ALL {
            let change = Change {
                kind,
                before: kind.of(&before),
                now: kind.of(&self.offered),
                first,
                first_clients: &self.clients,
                known_elsewhere,
                rules,
            };
            self.unseen
                .entry(kind)
                .or_default()
                .update(change, &mut news);
        }
        self.settle_cautions(&own);
        self.forget_older_cautions_of_accepted(rules, &before);
        news
    }

    /// Forgets the older forms of tools for kinds of clients without agents, where their user
    /// accepts newer ones as they come.
    fn forget_older_cautions_of_accepted(&mut self, rules: Rules<'_>, before: &Offered) {
        let before = tools_by_name(before);
        for (name, tool) in Gated::Tool.of(&self.offered) {
            let treatment = Treatment::of(rules.changes, Gated::Tool, &name, Novelty::Changed);
            let before = before.get(&name);
            let is_same = before.is_some_and(|before| before.get() == tool.get());
            if treatment == Treatment::Current && !is_same {
                self.forget_older_cautions(&name);
            }
        }
    }

    /// Checks whether an item is offered that its user has not seen by this record.
    pub(super) fn has_unknown(&self, offered: &Offered) -> bool {
        Gated::ALL.into_iter().any(|kind| {
            let unseen = self.unseen.get(&kind);
            let mut seen: BTreeSet<String> = kind
                .of(&self.offered)
                .into_iter()
                .map(|(name, _)| name)
                .collect();
            if let Some(unseen) = unseen {
                seen.retain(|name| !unseen.added.contains(name));
                seen.extend(unseen.changed.keys().cloned());
            }
            let mut now = kind.of(offered).into_iter();
            now.any(|(name, _)| !seen.contains(&name))
        })
    }

    /// Checks whether another record is the same, apart from its time.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        self.text_without_time() == other.text_without_time()
    }

    /// Checks whether another record is the same, apart from the kinds of clients that were asked
    /// for.
    pub(super) fn tells_the_same(&self, other: &Self) -> bool {
        let told = |record: &Self| {
            let record = Self {
                offered_to: Vec::new(),
                ..record.clone()
            };
            record.text_without_time()
        };
        told(self) == told(other)
    }

    fn text_without_time(&self) -> Option<String> {
        let record = Self {
            fetched: 0,
            folder: None,
            ..self.clone()
        };
        serde_json::to_string(&record).ok()
    }

    /// Adds the items that other kinds of clients were offered and may still have. Otherwise two
    /// clients with different capabilities would remove a tool for each other, and add it again,
    /// for ever.
    fn complete(&mut self, offered: &mut Offered, clients: &str, asker: Asker) {
        match self.offered_to.last_mut() {
            Some(last) => last.complete_others(&self.offered),
            // An older Dormouse has kept it for all kinds together.
            None => self.offered_to.push(OfferedTo::new("", &self.offered)),
        }
        let mut wanted = OfferedTo::new(clients, offered);
        wanted.is_of_dormouse_alone = asker == Asker::Dormouse;
        let forgotten = wanted.replace_in(&mut self.offered_to, &offered.withdrawn);
        self.keep_cautions_of_forgotten_kinds(forgotten);
        let is_most_able = offered.able.covers(&self.offered.able);
        for kind in Gated::ALL {
            let now = self.complete_kind(kind, offered, is_most_able);
            if kind != Gated::Tool {
                continue;
            }
            let kept: BTreeSet<String> = kind.of(offered).into_iter().map(|(key, _)| key).collect();
            self.withheld.retain(|name, _| kept.contains(name));
            if is_most_able {
                let sure = self.withheld.iter_mut();
                let sure = sure.filter(|(name, _)| now.contains(*name));
                sure.for_each(|(_, sure)| *sure = true);
            }
        }
        if !is_most_able {
            offered.able = self.offered.able.clone();
        }
    }

    /// Does the same as [`complete`](Self::complete) for one kind of items. Returns the names that
    /// the upstream has itself.
    fn complete_kind(
        &mut self,
        kind: Gated,
        offered: &mut Offered,
        is_most_able: bool,
    ) -> BTreeSet<String> {
        let listed = kind.of(offered);
        let now: BTreeSet<String> = listed.iter().map(|(name, _)| name.clone()).collect();
        let anywhere = OfferedTo::anywhere(&self.offered_to, kind);
        if is_most_able && anywhere.is_subset(&now) {
            return now;
        }
        let mut new: BTreeMap<&str, &RawValue> = BTreeMap::new();
        new.extend(listed.iter().map(|(name, object)| (&**name, &**object)));
        let mut objects = Vec::new();
        let mut withheld_bytes = 0;
        // In the order that is known, so that no list changes for nothing.
        for (name, object) in kind.of(&self.offered) {
            if let Some(object) = new.remove(&*name) {
                objects.push(object.to_owned());
            } else if anywhere.contains(&name) {
                withheld_bytes += object.get().len();
                // It could offer other ones to each client that comes.
                if withheld_bytes <= MAX_WITHHELD_BYTES {
                    objects.push(object);
                    if kind == Gated::Tool {
                        self.withheld.entry(name).or_default();
                    }
                }
            }
        }
        let added = listed.iter().filter(|(name, _)| new.contains_key(&**name));
        objects.extend(added.map(|(_, object)| object.clone()));
        kind.set(offered, objects);
        now
    }

    /// Approves the selected items as they are now, and returns those that were not known like
    /// that.
    ///
    /// # Errors
    /// It is no longer what its user was shown, whose [digest](Pending::digest) that is.
    pub(super) fn approve(
        &mut self,
        shown: &str,
        selection: Selection<'_>,
    ) -> Result<Pending, Changed> {
        let pending = self.pending().selected(selection);
        if pending.digest() != shown {
            return Err(Changed);
        }
        for item in pending.iter() {
            self.accept(item);
        }
        if selection.tools.is_none() {
            self.take_note_of_gone();
        }
        // Of one tool, more than one text may have waited.
        let current = pending.iter().filter(|item| item.of_others.is_empty());
        for item in current.filter(|item| item.kind == Gated::Tool) {
            self.forget_older_cautions(&item.name);
        }
        Ok(pending)
    }

    /// Forgets which items are gone, because its user was shown that.
    pub(super) fn take_note_of_gone(&mut self) {
        for unseen in self.unseen.values_mut() {
            unseen.gone.clear();
        }
    }

    /// Returns the items that its user has approved and that have gone since, each with its kind.
    pub(super) fn gone(&self) -> Vec<(Gated, String)> {
        let all = self.unseen.iter();
        let all =
            all.flat_map(|(kind, unseen)| unseen.gone.iter().map(|name| (*kind, name.clone())));
        all.collect()
    }

    /// Removes an item from those that are pending.
    pub(super) fn accept(&mut self, item: &PendingItem) {
        let Some(unseen) = self.unseen.get_mut(&item.kind) else {
            return;
        };
        for clients in &item.of_others {
            if let Some(waits) = unseen.waits_for_others.get_mut(&item.name)
                && let Some(object) = waits.remove(clients)
            {
                let others = unseen.for_others.entry(item.name.clone()).or_default();
                others.insert(clients.clone(), object);
            }
        }
        if item.of_others.is_empty() {
            unseen.changed.remove(&item.name);
            unseen.added.remove(&item.name);
            unseen.since.remove(&item.name);
            unseen.told.remove(&item.name);
            unseen.known_elsewhere.remove(&item.name);
            unseen.forget_replaced(&item.name, &self.clients);
            if item.kind == Gated::Tool {
                self.forget_older_cautions(&item.name);
            }
        }
    }

    /// Keeps items that other kinds of clients are offered, and their user has approved, from
    /// counting as changes.
    fn separate_clients(&mut self, offered: &mut Offered, now: &str) {
        // An older Dormouse has not kept whom it has asked for.
        if self.clients.is_empty() {
            self.clients = now.to_owned();
        }
        let clients = Clients {
            now,
            first: &self.clients,
            is_other_release: is_other_version(&offered.server_info, &self.offered.server_info),
        };
        for kind in Gated::ALL {
            let known: BTreeMap<String, Box<RawValue>> =
                kind.of(&self.offered).into_iter().collect();
            let unseen = self.unseen.entry(kind).or_default();
            let mut taken = BTreeSet::new();
            kind.replace(offered, |name, object| {
                let current = known.get(name)?;
                let is_first = taken.insert(name.to_owned());
                is_first.then(|| unseen.separated(kind, name, current, object, clients))?
            });
            unseen.bound_others(&known);
        }
    }

    /// Returns the items that its user has not seen as they are.
    #[must_use]
    pub fn pending(&self) -> Pending {
        let mut pending = Vec::new();
        for (kind, unseen) in &self.unseen {
            if unseen.changed.is_empty()
                && unseen.added.is_empty()
                && unseen.waits_for_others.is_empty()
            {
                continue;
            }
            for (name, is) in kind.of(&self.offered) {
                let changed = unseen.changed.get(&name).map(AsRef::as_ref);
                let is_new = unseen.added.contains(&name);
                let waits = unseen.waits_for_others.get(&name);
                if changed.is_none() && !is_new && waits.is_none() {
                    continue;
                }
                let since = unseen.since.get(&name).copied();
                // What nobody is shown, nobody knows: it is not what anything is compared with.
                let is_told = |object: &&RawValue| kind.told(&name, object).is_some();
                let was = changed.filter(is_told).map(ToOwned::to_owned);
                let known = changed.or_else(|| (!is_new).then_some(&*is));
                let known = known.filter(is_told);
                // One that was offered something else before has that replaced.
                let approved = unseen.for_others.get(&name);
                let of_kind = |clients: &str| {
                    let approved = approved.and_then(|approved| approved.get(clients));
                    approved.map(AsRef::as_ref).filter(is_told)
                };
                let mut others: BTreeMap<(&str, Option<&str>), BTreeSet<String>> = BTreeMap::new();
                for (clients, object) in waits.into_iter().flatten() {
                    let was = of_kind(clients).map(RawValue::get);
                    let all = others.entry((object.get(), was)).or_default();
                    all.insert(clients.clone());
                }
                let text = |text: &str| RawValue::from_string(text.to_owned()).ok();
                let others = others.into_iter().filter_map(|((object, was), of_others)| {
                    let replaces = was.is_some();
                    let was = was.and_then(text).or_else(|| known.map(ToOwned::to_owned));
                    Some((was, text(object)?, of_others, replaces))
                });
                // What cannot be shown nobody could judge. It waits until it can.
                let waits = changed.is_some() || is_new;
                let is_known_elsewhere =
                    unseen.known_elsewhere.contains(&name) || changed.is_some() && was.is_none();
                let own = waits.then(|| (was.clone(), is.clone(), BTreeSet::new(), true));
                for (was, is, of_others, replaces) in own.into_iter().chain(others) {
                    if kind.told(&name, &is).is_some() {
                        pending.push(PendingItem {
                            kind: *kind,
                            since,
                            name: name.clone(),
                            was,
                            known_elsewhere: is_known_elsewhere,
                            is,
                            of_others,
                            replaces,
                        });
                    }
                }
            }
        }
        Pending(pending)
    }
}

/// Checks whether two descriptions of a server (MCP `serverInfo`) have different versions. The
/// description need not be the same in both eras.
pub(crate) fn is_other_version(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    match (one.get("version"), other.get("version")) {
        (Some(one), Some(other)) => one != other,
        _ => false,
    }
}

/// Returns a server's known reactions to first requests, by the protocol version that it used last:
/// records of earlier versions have nothing else on them.
fn reactions_of(protocol: &str) -> Reactions {
    let mut reactions = Reactions::default();
    match protocol {
        "" => {}
        MODERN => reactions.discover = Reaction::Answers,
        _ => reactions.initialize = Reaction::Answers,
    }
    reactions
}

/// Removes objects that two readers could read differently, because they have a member twice.
fn drop_ambiguous(offered: &mut Offered) {
    let lists = [
        &mut offered.tools,
        &mut offered.prompts,
        &mut offered.resources,
        &mut offered.templates,
    ];
    for list in lists {
        list.retain(|object| canonical(object.get()).is_some());
    }
}

/// Error of an item that is no longer what its user was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it has changed while you were reading, and nothing is allowed\nhint: look again")]
pub struct Changed;

/// Reason for which a record cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Damaged {
    /// The file is no valid record.
    #[error(transparent)]
    Unreadable(#[from] serde_json::Error),
    /// Others can have written the file.
    #[error("others can have written it")]
    NotKept,
    /// The file is from a later version of Dormouse.
    #[error("it was written by a newer Dormouse (format `{0}`)")]
    Newer(u32),
}

pub(super) fn seconds_now() -> u64 {
    SystemTime::UNIX_EPOCH
        .elapsed()
        .map_or(0, |since| since.as_secs())
}
