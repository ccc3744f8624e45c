//! Items that kinds of clients other than the one that is asked for now are offered.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_upstream::Offered;
use serde_json::value::RawValue;

use super::offered_to::OfferedTo;
use super::unseen::Clients;
use super::{Asker, Record, is_other_version};
use crate::store::item::Gated;

/// Most bytes of the items of one kind that are kept for clients which can be asked more, while a
/// client is not offered them.
const MAX_WITHHELD_BYTES: usize = 8 << 20;

impl Record {
    /// Adds the items of lists that were not told, and those that other kinds of clients were offered and
    /// may still have. Otherwise two clients with different capabilities would remove a tool for each
    /// other, and add it again, for ever.
    pub(super) fn complete(&mut self, offered: &mut Offered, clients: &str, asker: Asker) {
        match self.offered_to.last_mut() {
            Some(last) => last.complete_others(&self.offered),
            // An older Dormouse has kept it for all kinds together.
            None => self.offered_to.push(OfferedTo::new("", &self.offered)),
        }
        let mut wanted = OfferedTo::new(clients, offered);
        wanted.is_of_dormouse_alone = asker == Asker::Dormouse;
        for kind in Gated::ALL {
            if !kind.is_told_of(offered) {
                wanted.keep_names(kind, &self.offered_to);
                let recorded = kind.of(&self.offered).into_iter();
                kind.set(offered, recorded.map(|(_, object)| object).collect());
            }
        }
        let forgotten = wanted.replace_in(&mut self.offered_to, offered);
        self.keep_cautions_of_forgotten_kinds(forgotten);
        let is_most_able = offered.able.covers(&self.offered.able);
        for kind in Gated::ALL {
            if !kind.is_told_of(offered) {
                continue;
            }
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

    /// Keeps items that other kinds of clients are offered, and their user has approved, from
    /// counting as changes.
    pub(super) fn separate_clients(&mut self, offered: &mut Offered, now: &str) {
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
            if !kind.is_told_of(offered) {
                continue;
            }
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
}
