//! Approval of an upstream's offers: what its user has approved, and what waits for that.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use super::Record;
use crate::store::item::{Gated, Pending, PendingItem, Selection, frozen_tool};

impl Record {
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
                let is_told = |object: &&RawValue| kind.is_told(&name, object);
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
                let maybe_known = is_known_elsewhere || unseen.maybe_known.contains(&name);
                let own = waits.then(|| (was.clone(), is.clone(), BTreeSet::new(), true));
                for (was, is, of_others, replaces) in own.into_iter().chain(others) {
                    if kind.is_told(&name, &is) {
                        pending.push(PendingItem {
                            kind: *kind,
                            since,
                            name: name.clone(),
                            was,
                            declared: None,
                            known_elsewhere: is_known_elsewhere,
                            maybe_known,
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

    /// Approves the selected items as they are now, and returns those that were not known like
    /// that.
    ///
    /// # Errors
    /// It is no longer what its user was shown, whose [digest](Pending::digest) that is.
    pub(in super::super) fn approve(
        &mut self,
        shown: &str,
        selection: Selection<'_>,
    ) -> Result<Pending, ItemChanged> {
        let pending = self.pending().selected(selection);
        if pending.digest() != shown {
            return Err(ItemChanged);
        }
        for item in pending.iter() {
            self.accept(item);
        }
        if selection.tools.is_none() {
            self.take_note_of_gone();
        }
        let is_all = selection.tools.is_none() && selection.component.is_none();
        if is_all && !pending.is_empty() {
            self.count_later_as_new();
        }
        // Of one tool, more than one text may have waited.
        let current = pending.iter().filter(|item| item.of_others.is_empty());
        for item in current.filter(|item| item.kind == Gated::Tool) {
            self.forget_older_cautions(&item.name);
        }
        Ok(pending)
    }

    /// Removes an item from those that are pending.
    pub(in super::super) fn accept(&mut self, item: &PendingItem) {
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
            unseen.maybe_known.remove(&item.name);
            unseen.declared_otherwise.remove(&item.name);
            unseen.forget_replaced(&item.name, &self.clients);
            if item.kind == Gated::Tool {
                self.forget_older_cautions(&item.name);
            }
        }
    }

    /// Forgets which items are gone, because its user was shown that.
    pub(in super::super) fn take_note_of_gone(&mut self) {
        for unseen in self.unseen.values_mut() {
            unseen.gone.clear();
        }
    }

    /// Counts what comes after damage from now on as new, because its user has decided on all that there is.
    fn count_later_as_new(&mut self) {
        for unseen in self.unseen.values_mut() {
            unseen.is_after_damage = false;
        }
    }

    /// Returns the items that its user has approved and that have gone since, each with its kind.
    pub(super) fn gone(&self) -> Vec<(Gated, String)> {
        let all = self.unseen.iter();
        let all =
            all.flat_map(|(kind, unseen)| unseen.gone.iter().map(|name| (*kind, name.clone())));
        all.collect()
    }

    /// Checks whether its user has approved something of that kind and name, as it is or as it was.
    pub(super) fn is_approved(&self, kind: Gated, name: &str) -> bool {
        let unseen = self.unseen.get(&kind);
        unseen.is_none_or(|unseen| !unseen.added.contains(name))
    }

    /// Returns an object of the upstream, as its user has approved it; none where they have not.
    pub(super) fn approved(
        &self,
        kind: Gated,
        name: &str,
        current: &RawValue,
    ) -> Option<Box<RawValue>> {
        let Some(unseen) = self.unseen.get(&kind) else {
            return Some(current.to_owned());
        };
        let (approved, now) = match unseen.changed.get(name) {
            Some(approved) => (&**approved, Some(current)),
            None if unseen.added.contains(name) => return None,
            None => (current, None),
        };
        // All are shown one tool, which has to be as careful as each of them needs it.
        let others = now.into_iter().chain(self.cautions(name));
        let others = others.filter(|_| kind == Gated::Tool);
        let careful = others.fold(approved.to_owned(), |careful, other| {
            frozen_tool(&careful, other)
        });
        // What cannot be shown does not become what can be by what it loses.
        let is_kept = careful.get() == approved.get() || !kind.is_told(name, approved);
        Some(if is_kept {
            approved.to_owned()
        } else {
            careful
        })
    }

    /// Returns the items that its user has approved, as they have approved them, even if they are
    /// no longer offered.
    pub(super) fn approved_by_name(&self) -> BTreeMap<(Gated, String), Box<RawValue>> {
        let all = Gated::ALL.into_iter().flat_map(|kind| {
            let unseen = self.unseen.get(&kind);
            let is_new = move |name: &str| unseen.is_some_and(|unseen| unseen.added.contains(name));
            let offered = kind.of(&self.offered).into_iter();
            let offered = offered.filter(move |(name, _)| !is_new(name));
            // Later ones take the place of those before.
            let changed = unseen.into_iter().flat_map(|unseen| unseen.changed.clone());
            // What cannot be shown, nobody has approved.
            let approved = offered.chain(changed);
            let approved = approved.filter(move |(name, object)| kind.is_told(name, object));
            approved.map(move |(name, object)| ((kind, name), object))
        });
        all.collect()
    }

    /// Removes pending items that another record has approved as they are.
    pub(in super::super) fn settle(&mut self, anywhere: &Self) {
        let pending = self.pending();
        if pending.is_empty() {
            return;
        }
        let approved = anywhere.approved_by_name();
        for item in pending.iter() {
            let known = approved.get(&(item.kind, item.name.clone()));
            if known.is_some_and(|known| item.kind.same(&item.name, known, &item.is)) {
                self.accept(item);
            }
        }
    }
}

/// Error of an item that is no longer what its user was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it has changed while you were reading, and nothing is allowed\nhint: look again")]
pub struct ItemChanged;
