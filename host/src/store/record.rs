//! Record of what is known of one upstream, and of what its user has seen of it.

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

/// The version of the record's form that this writes, and the newest that it reads. Up to
/// 1, only what changed of tools was kept from being shown.
const FORMAT: u32 = 2;

/// Most bytes of one kind of items that a client is not shown which are kept for one that can be
/// asked more.
const MAX_WITHHELD_BYTES: usize = 8 << 20;

/// Record of what an upstream has said that it offers, and of what its user knows of that.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    format: u32,
    /// Time at which it was asked, in seconds since the Unix epoch.
    pub(super) fetched: u64,
    /// Items that it offers.
    pub(super) offered: Offered,
    /// Items of these that its user has not seen as they are.
    #[serde(default)]
    pub(super) unseen: BTreeMap<Gated, Unseen>,
    /// In the form 1: the tools that have changed, as they were.
    #[serde(default, skip_serializing)]
    seen: BTreeMap<String, Box<RawValue>>,
    /// Tools that a client was not shown which can be asked less than the one that
    /// this is recorded from, and whether that one was shown them since.
    #[serde(default)]
    pub(super) withheld: BTreeMap<String, bool>,
    /// Items that each kind of clients was last offered: the last one is the last that it was asked
    /// for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) offered_to: Vec<OfferedTo>,
    /// The kind of clients that it was first asked for (see [`Clients`]).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    clients: String,
    /// Whether it says for each kind of clients what caution tools need; an older Dormouse has not
    /// kept that.
    #[serde(default)]
    has_cautions: bool,
    /// The folder that it is of, where what is known of the upstream in one folder is not what is
    /// known of it in another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) folder: Option<String>,
    /// Whether nothing was known before, so that what comes first is taken as it is.
    #[serde(skip)]
    first: bool,
}

/// Changes of what an upstream offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfferedChanges {
    /// Tools that it had not, by name.
    pub added: Vec<String>,
    /// Tools that it has no longer.
    pub gone: Vec<String>,
    /// Items that its user has not approved as they are: tools by their names, others with what
    /// they are.
    pub pending: Vec<String>,
    /// Items of `pending` of which the log has not told yet.
    pub untold: Vec<String>,
}

/// Client for which an upstream was asked what it offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// An agent, as the client that it is.
    Agent,
    /// Dormouse, to find out what there is: as a client that can be asked everything, which is no
    /// agent's.
    Dormouse,
}

/// Rules on what becomes of items that are new.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'a> {
    /// Policy of its user on changes.
    pub(super) changes: &'a ChangePolicy,
    /// Whether a component stands before it, and shows what that declares. What is new has
    /// been seen by nobody then either: another server may have the same upstream.
    pub(super) fronted: bool,
    /// Client for which it was asked.
    pub(super) asker: Asker,
}

impl Record {
    /// The record of an upstream that has not said anything yet. Its user may have
    /// seen its tools in a component.
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

    /// The record of an upstream that has one which cannot be read. Nothing that it says
    /// now has been seen, other than in a component.
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

    /// Takes note of what the upstream offers now. `known_elsewhere` has what is known of it where
    /// it was started before; only that is taken as it is, the first time.
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
        self.complete(&mut offered, (&clients, rules.asker));
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

    /// Forgets how tools were offered before to kinds of clients that are no agent's, where their
    /// user takes what is newer as it comes.
    fn forget_older_cautions_of_accepted(&mut self, rules: Rules<'_>, before: &Offered) {
        let before = tools_by_name(before);
        for (name, tool) in Gated::Tool.of(&self.offered) {
            let treatment = Treatment::of(rules.changes, (Gated::Tool, &name), Novelty::Changed);
            let before = before.get(&name);
            let is_same = before.is_some_and(|before| before.get() == tool.get());
            if treatment == Treatment::Current && !is_same {
                self.forget_older_cautions(&name);
            }
        }
    }

    /// Whether something is offered of which its user has seen nothing by this.
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

    /// Whether it says the same as another one, whenever that was.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        self.text_without_time() == other.text_without_time()
    }

    /// Whether it says the same as another one, for whomever they were asked.
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

    /// Adds what other kinds of clients were offered and may still have. Otherwise two clients that
    /// can be asked differently would take a tool from each other, and bring it back, for ever.
    fn complete(&mut self, offered: &mut Offered, (clients, asker): (&str, Asker)) {
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

    /// The same of one kind of things. Gives the names that the upstream has itself.
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

    /// Takes what is selected as it is now, and says what was not known like that.
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

    /// Has nothing that is gone be told of any more: its user was shown that it is.
    pub(super) fn take_note_of_gone(&mut self) {
        for unseen in self.unseen.values_mut() {
            unseen.gone.clear();
        }
    }

    /// Items that its user has approved and that have gone since, each with its kind.
    pub(super) fn gone(&self) -> Vec<(Gated, String)> {
        let all = self.unseen.iter();
        let all =
            all.flat_map(|(kind, unseen)| unseen.gone.iter().map(|name| (*kind, name.clone())));
        all.collect()
    }

    /// Has something no longer wait.
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

    /// Has what other kinds of clients are offered, and their user has approved, not be taken for
    /// a change.
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
                is_first.then(|| unseen.separated((kind, name), (current, object), clients))?
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

/// Whether two things that a server has said of itself (MCP `serverInfo`) name different versions
/// of it. It need not say the same in both eras.
pub(crate) fn is_other_version(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    match (one.get("version"), other.get("version")) {
        (Some(one), Some(other)) => one != other,
        _ => false,
    }
}

/// Returns what is known of a server's reactions to first requests, by the protocol version that it
/// spoke last: earlier Dormouses have kept nothing else of them.
fn reactions_of(protocol: &str) -> Reactions {
    let mut reactions = Reactions::default();
    match protocol {
        "" => {}
        MODERN => reactions.discover = Reaction::Answers,
        _ => reactions.initialize = Reaction::Answers,
    }
    reactions
}

/// Leaves out what two readers would not read the same way, because a member is in it
/// twice.
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

/// Error: an item is no longer what its user was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it has changed while you were reading, and nothing is allowed\nhint: look again")]
pub struct Changed;

/// Reason for which a record cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Damaged {
    /// It is none.
    #[error(transparent)]
    Unreadable(#[from] serde_json::Error),
    /// A later Dormouse knows what is in it.
    #[error("it was written by a newer Dormouse (format `{0}`)")]
    Newer(u32),
}

pub(super) fn seconds_now() -> u64 {
    SystemTime::UNIX_EPOCH
        .elapsed()
        .map_or(0, |since| since.as_secs())
}
