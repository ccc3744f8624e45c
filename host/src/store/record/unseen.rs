//! Items of one kind that a user has not seen as they are, for each kind of clients.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::known_elsewhere::KnownElsewhere;
use super::{OfferedChanges, Rules, seconds_now};
use crate::store::item::{Gated, Novelty, ToldForm, Treatment};

/// Most memory for the remembered items of one kind that are gone, in bytes.
const MAX_GONE_BYTES: usize = 8 << 20;

/// Most remembered items of one kind that are gone.
const MAX_GONE: usize = 10_000;

/// Most kinds of clients whose offers under one name are kept.
const MAX_OTHERS: usize = 16;

/// Most memory for the offers of one kind of items to other kinds of clients, in bytes.
const MAX_OTHERS_BYTES: usize = 8 << 20;

/// Items of one kind that a user has not seen as they are.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Unseen {
    /// Items that have changed since the user last saw them, as they were then. Items that are gone
    /// are included, so that they cannot come back as something else unseen.
    #[serde(default)]
    pub(super) changed: BTreeMap<String, Box<RawValue>>,
    /// Items that they have never seen.
    #[serde(default)]
    pub(super) added: BTreeSet<String>,
    /// Items of `changed` that have gone since their user last approved something, or was shown
    /// that they have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) gone: BTreeSet<String>,
    /// Whether so many have gone that some are forgotten: what is new may be a change of one of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) has_forgotten: bool,
    /// Whether all are forgotten, until their user has approved all that waits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_after_damage: bool,
    /// Items of these whose names the user may know for something else.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) known_elsewhere: BTreeSet<String>,
    /// Items of these whose names the user may know, be it for the same.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) maybe_known: BTreeSet<String>,
    /// Items of `added` that a component in front of the upstream has declared otherwise: they count as
    /// changed, whoever asks.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) declared_otherwise: BTreeSet<String>,
    /// Times since which the offered ones wait, in seconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) since: BTreeMap<String, u64>,
    /// Items that were logged: one that changes at every start is logged once.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) told: BTreeSet<String>,
    /// Kind of clients that was last offered the recorded object under a name, where that is
    /// another than the record's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) origin: BTreeMap<String, String>,
    /// Objects that are offered to other kinds of clients under these names and that the user has
    /// approved, by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) for_others: BTreeMap<String, BTreeMap<String, Box<RawValue>>>,
    /// Objects that are offered to other kinds of clients under these names and that the user has
    /// not approved, by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) waits_for_others: BTreeMap<String, BTreeMap<String, Box<RawValue>>>,
    /// Caution that tools need as they were offered to kinds of clients which are no longer kept
    /// one by one (see [`caution`](super::caution)).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) forgotten_hints: BTreeMap<String, Box<RawValue>>,
}

/// Kinds of clients that an upstream may make different offers to, because of their capabilities or
/// their revision of MCP. A difference between the offers to two kinds is not a change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clients<'a> {
    /// Kind that is asked for now.
    pub(super) now: &'a str,
    /// Kind that was first asked for.
    pub(super) first: &'a str,
    /// Whether the upstream names another version of itself than the recorded one: then a
    /// difference is a change for all kinds.
    pub(super) is_other_release: bool,
}

/// Change of an upstream's offers of one kind.
pub(super) struct OffersChange<'r> {
    pub(super) kind: Gated,
    pub(super) before: Vec<(String, Box<RawValue>)>,
    pub(super) now: Vec<(String, Box<RawValue>)>,
    pub(super) first: bool,
    /// Kind of clients that was first asked for.
    pub(super) first_clients: &'r str,
    /// Record of the upstream in other folders.
    pub(super) known_elsewhere: Option<&'r KnownElsewhere>,
    pub(super) rules: Rules<'r>,
}

impl Unseen {
    /// Makes those of an upstream of which nobody knows any more what its user has seen.
    pub(super) fn forgotten() -> Self {
        Self {
            is_after_damage: true,
            ..Self::default()
        }
    }

    pub(super) fn update(&mut self, change: OffersChange<'_>, news: &mut OfferedChanges) {
        let OffersChange {
            kind,
            first,
            first_clients,
            known_elsewhere,
            rules,
            ..
        } = change;
        let mut seen = std::mem::take(&mut self.changed);
        let unseen = std::mem::take(&mut self.added);
        let mut before = BTreeSet::new();
        // What could not be shown, nobody has seen.
        let shown = change.before.into_iter();
        for (name, object) in shown.filter(|(name, object)| kind.is_told(name, object)) {
            before.insert(name.clone());
            if !unseen.contains(&name) {
                seen.entry(name).or_insert(object);
            }
        }
        let mut gone = before.clone();
        let mut now = BTreeSet::new();
        for (name, object) in change.now {
            gone.remove(&name);
            now.insert(name.clone());
            let is_shown = kind.is_told(&name, &object);
            // A component's author says that, and nobody has approved it of the upstream: it is compared
            // with, and not kept.
            let declared = rules
                .declared
                .and_then(|declared| declared.find(kind, &name));
            let declared = declared.filter(|object| kind.is_told(&name, object));
            let as_declared = declared.map(|declared| kind.same(&name, declared, &object));
            let is_listed = before.contains(&name) || declared.is_some();
            if kind == Gated::Tool && is_shown && !is_listed {
                news.added.push(name.clone());
            }
            let is_unknown = !seen.contains_key(&name);
            // Another form than is declared is a change to who is shown what is declared.
            let is_otherwise =
                as_declared == Some(false) || self.declared_otherwise.contains(&name);
            let is_new = is_unknown && !is_otherwise;
            let elsewhere = known_elsewhere.filter(|known| known.may_know(kind, &name));
            // What is forgotten may have been something else here than it is elsewhere.
            let has_forgotten = self.has_forgotten || self.is_after_damage;
            let is_known_elsewhere = has_forgotten
                || match elsewhere {
                    Some(known) => !known.has(kind, &name, &object),
                    None => self.known_elsewhere.contains(&name),
                };
            let novelty = match (is_new, is_known_elsewhere) {
                (false, _) => Novelty::Changed,
                (true, true) => Novelty::NewHere,
                (true, false) => Novelty::New,
            };
            let treatment = Treatment::of(rules.changes, kind, &name, novelty);
            let is_seen = match seen.get(&name) {
                _ if treatment == Treatment::Current => true,
                Some(known) => kind.same(&name, known, &object),
                None => {
                    let is_taken = rules.declared.is_none() || as_declared == Some(true);
                    let is_known = |known: &KnownElsewhere| known.has(kind, &name, &object);
                    first && known_elsewhere.map_or(is_taken, is_known)
                }
            };
            if is_seen {
                // Nobody has to remember what is in the list.
                seen.remove(&name);
                self.known_elsewhere.remove(&name);
                self.maybe_known.remove(&name);
                self.declared_otherwise.remove(&name);
                self.forget_replaced(&name, first_clients);
                self.accept_others(kind, &name, rules);
                if !self.waits_for_others.contains_key(&name) {
                    self.since.remove(&name);
                }
                continue;
            }
            self.since.entry(name.clone()).or_insert_with(seconds_now);
            // What a component does not declare nobody is shown, and so nobody is told of it.
            if is_shown && !(rules.declared.is_some() && is_new) {
                let called = match kind {
                    Gated::Tool => name.clone(),
                    Gated::Instructions => kind.to_string(),
                    kind => format!("{kind} {name}"),
                };
                if self.told.insert(name.clone()) {
                    news.untold.push(called.clone());
                }
                news.pending.push(called);
            }
            if is_known_elsewhere || elsewhere.is_some() {
                self.maybe_known.insert(name.clone());
            }
            // Of one that cannot be shown nobody need hear: it counts as new once it can.
            if novelty == Novelty::NewHere {
                self.known_elsewhere.insert(name.clone());
            }
            if is_unknown && is_otherwise {
                self.declared_otherwise.insert(name.clone());
            }
            if is_shown && is_unknown {
                self.added.insert(name);
            }
        }
        // Of a component, what it declares is what there is; and what has never been approved, or is
        // taken as it comes, nobody misses.
        let is_missed = |name: &&String| {
            let treatment = Treatment::of(rules.changes, kind, name, Novelty::Changed);
            rules.declared.is_none() && !unseen.contains(*name) && treatment != Treatment::Current
        };
        let missed = gone.iter().filter(is_missed).cloned();
        self.gone.extend(missed);
        self.gone.retain(|name| !now.contains(name));
        if kind == Gated::Tool {
            news.gone = gone.into_iter().collect();
        }
        self.since.retain(|name, _| now.contains(name));
        self.known_elsewhere.retain(|name| now.contains(name));
        self.maybe_known.retain(|name| now.contains(name));
        self.declared_otherwise.retain(|name| now.contains(name));
        self.told.retain(|name| now.contains(name));
        // Whoever takes something as it comes need not be reminded of what it was.
        seen.retain(|name, _| {
            Treatment::of(rules.changes, kind, name, Novelty::Changed) != Treatment::Current
        });
        self.changed = seen;
        self.forget(&now);
    }

    /// Accepts the offers to other kinds of clients under a name, where the policy accepts all such
    /// offers: the acceptance of one kind's offer says nothing about the pending ones of other
    /// kinds.
    fn accept_others(&mut self, kind: Gated, name: &str, rules: Rules<'_>) {
        let mut all = [Novelty::Changed, Novelty::NewHere, Novelty::New].into_iter();
        let is_taken = all
            .all(|novelty| Treatment::of(rules.changes, kind, name, novelty) == Treatment::Current);
        if is_taken && let Some(waits) = self.waits_for_others.remove(name) {
            let others = self.for_others.entry(name.to_owned()).or_default();
            others.extend(waits);
        }
    }

    /// Forgets the approved object of the kind of clients that is offered the recorded one, once
    /// that is approved: it was replaced. `first_clients` is the kind that was first asked for.
    pub(super) fn forget_replaced(&mut self, name: &str, first_clients: &str) {
        let origin = self.origin.get(name);
        let origin = origin.map_or(first_clients, String::as_str);
        if let Some(others) = self.for_others.get_mut(name) {
            others.remove(origin);
        }
    }

    /// Keeps the recorded object of a name pending, for the kind of clients that is offered it,
    /// when another object is recorded.
    fn wait_for_others(&mut self, name: &str, current: &RawValue, clients: Clients<'_>) {
        let now = clients.now.to_owned();
        let origin = self.origin.insert(name.to_owned(), now);
        let origin = origin.unwrap_or_else(|| clients.first.to_owned());
        let waits = self.changed.contains_key(name) || self.added.contains(name);
        if waits && origin != clients.now {
            let others = self.waits_for_others.entry(name.to_owned()).or_default();
            others.insert(origin, current.to_owned());
        }
    }

    /// Counts the offer to a kind of clients as seen, where it was approved for that kind.
    fn take_own_again(&mut self, kind: Gated, name: &str, object: &RawValue, clients: Clients<'_>) {
        let others = self.for_others.get(name);
        if let Some(own) = others.and_then(|others| others.get(clients.now))
            && kind.same(name, own, object)
        {
            self.added.remove(name);
            self.changed.insert(name.to_owned(), object.to_owned());
        }
    }

    /// Returns the object to record in place of one that clients of some kind are offered; none
    /// where that is recorded itself. `current` is the recorded object of that name.
    pub(super) fn separated(
        &mut self,
        kind: Gated,
        name: &str,
        current: &RawValue,
        object: &RawValue,
        clients: Clients<'_>,
    ) -> Option<Box<RawValue>> {
        let is_same = |other: &RawValue| kind.same(name, other, object);
        // What they were offered before, they are offered no longer.
        if let Some(waits) = self.waits_for_others.get_mut(name) {
            waits.remove(clients.now);
        }
        if self.added.contains(name) {
            if !is_same(current) {
                self.wait_for_others(name, current, clients);
                self.take_own_again(kind, name, object, clients);
            }
            return None;
        }
        if is_same(current) {
            if let Some(others) = self.for_others.get_mut(name) {
                others.remove(clients.now);
            }
            // Servers write the same in another order in each era: agents read it as before.
            let form = |object| ToldForm::of(kind, name, object);
            let is_rewritten = current.get() != object.get() && form(current) == form(object);
            return is_rewritten.then(|| current.to_owned());
        }
        let approved = self.changed.get(name).map_or(current, |known| known);
        let approved = approved.to_owned();
        if !kind.is_told(name, &approved) {
            // What could not be shown, nobody has approved, but what these clients were offered
            // before it.
            self.wait_for_others(name, current, clients);
            self.take_own_again(kind, name, object, clients);
            return None;
        }
        let origin = self.origin.get(name);
        let origin = origin.map_or(clients.first, String::as_str).to_owned();
        if clients.is_other_release {
            self.wait_for_others(name, current, clients);
        }
        let is_origin = origin == clients.now || clients.is_other_release;
        if is_same(&approved) {
            // What waits is what other clients are offered, and goes on waiting.
            return (!is_origin).then(|| current.to_owned());
        }
        let others = self.for_others.entry(name.to_owned()).or_default();
        // A kind that was offered something under this name has that alone approved; what is
        // approved of others is for one that was not.
        let is_approved = match others.get(clients.now) {
            Some(own) => is_same(own),
            None => origin != clients.now && others.values().any(|other| is_same(other)),
        };
        match (is_approved, is_origin) {
            (true, true) => {
                self.changed.insert(name.to_owned(), object.to_owned());
                None
            }
            (true, false) => {
                others.insert(clients.now.to_owned(), object.to_owned());
                Some(current.to_owned())
            }
            (false, true) => None,
            (false, false) => {
                others.insert(origin, approved);
                self.wait_for_others(name, current, clients);
                None
            }
        }
    }

    /// Forgets offers to other kinds of clients that are gone or beyond the limits: they become
    /// pending again.
    pub(super) fn bound_others(&mut self, known: &BTreeMap<String, Box<RawValue>>) {
        self.origin.retain(|name, _| known.contains_key(name));
        self.forgotten_hints
            .retain(|name, _| known.contains_key(name));
        for all in [&mut self.for_others, &mut self.waits_for_others] {
            let mut bytes = 0;
            all.retain(|name, others| {
                let objects = others.values().map(|object| object.get().len());
                bytes += objects.sum::<usize>() + name.len();
                let is_bounded = others.len() <= MAX_OTHERS && bytes <= MAX_OTHERS_BYTES;
                let is_there = !others.is_empty() && known.contains_key(name);
                is_there && is_bounded
            });
        }
    }

    /// Forgets items that are gone, beyond the limits: an upstream could offer something else each
    /// time. If they come back, they count as possibly known.
    fn forget(&mut self, now: &BTreeSet<String>) {
        let (mut bytes, mut count, mut has_forgotten) = (0, 0, false);
        self.changed.retain(|name, object| {
            if now.contains(name) {
                return true;
            }
            bytes += name.len() + object.get().len();
            count += 1;
            let is_kept = bytes <= MAX_GONE_BYTES && count <= MAX_GONE;
            has_forgotten |= !is_kept;
            is_kept
        });
        self.gone.retain(|name| self.changed.contains_key(name));
        self.has_forgotten |= has_forgotten;
    }
}
