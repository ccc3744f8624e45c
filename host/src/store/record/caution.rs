//! Caution that callers of tools need, by the tools as each kind of clients was last offered them.
//!
//! All clients are shown one form of a tool, with the caution that every kind of clients needs
//! which is offered the tool. What a kind was offered counts until that kind is asked for again,
//! whatever others are offered meanwhile, and whatever is approved of these. There are two
//! exceptions, once its user has approved a newer form: a kind that has no agent, because Dormouse
//! alone has asked for it, and a server that is known to be another release since.

use std::collections::BTreeMap;

use dormouse_upstream::Offered;
use serde_json::value::RawValue;

use super::Record;
use super::offered_to::OfferedTo;
use crate::store::item::{Gated, caution_of, frozen_tool, has_same_caution, most_cautious};

/// Most memory for the tools as kinds of clients are offered them, in bytes. Beyond it, only their
/// hints are kept.
const MAX_CAUTION_BYTES: usize = 8 << 20;

/// Most tools of a kind of clients that are kept as they were offered to it before they were gone.
const MAX_GONE: usize = 1_000;

/// Tools by name, each as it is listed.
pub(super) type ToolsByName = BTreeMap<String, Box<RawValue>>;

impl Record {
    /// Notes what kinds of clients other than `clients` are offered, before the recorded tools are
    /// replaced. `own` are the tools that `clients` are offered.
    pub(super) fn keep_cautions(&mut self, clients: &str, own: &ToolsByName) {
        let recorded = tools_by_name(&self.offered);
        let is_kept = |name: &str, tool: &RawValue| {
            let now = own.get(name);
            now.is_some_and(|now| now.get() == tool.get())
        };
        let changing = recorded
            .iter()
            .filter(|(name, tool)| !is_kept(name, tool))
            .map(|(name, tool)| (name, caution_of(tool)));
        let changing: Vec<_> = changing.collect();
        // Of all that an older Dormouse has asked for, nothing is known of any one kind.
        let others = self.offered_to.iter_mut();
        for other in others.filter(|of| of.clients != clients && !of.clients.is_empty()) {
            for (name, caution) in &changing {
                if other.has_tool(name) && !other.cautions.contains_key(*name) {
                    other.cautions.insert((*name).clone(), caution.clone());
                }
            }
        }
    }

    /// Notes the tools that the kind of clients asked for last is offered, and forgets, for all
    /// kinds, tools that need the same caution as the recorded ones.
    pub(super) fn settle_cautions(&mut self, own: &ToolsByName) {
        let recorded = tools_by_name(&self.offered);
        if let Some(last) = self.offered_to.last_mut() {
            for (name, tool) in own {
                let is_recorded = recorded
                    .get(name)
                    .is_some_and(|one| one.get() == tool.get());
                if !is_recorded {
                    last.cautions.insert(name.clone(), caution_of(tool));
                }
            }
        }
        let mut bytes = 0;
        for of in &mut self.offered_to {
            let mut cautions = std::mem::take(&mut of.cautions);
            let mut gone = 0;
            cautions.retain(|name, caution| {
                let is_offered = of.has_tool(name);
                if !is_offered {
                    gone += 1;
                }
                let is_recorded = recorded
                    .get(name)
                    .is_some_and(|tool| has_same_caution(caution, tool));
                let needs_none = is_offered && is_recorded;
                let is_kept = !needs_none && gone <= MAX_GONE;
                bytes += if is_kept { caution.get().len() } else { 0 };
                if bytes > MAX_CAUTION_BYTES
                    && let Some(hints) = most_cautious([&**caution])
                {
                    *caution = hints;
                }
                is_kept
            });
            of.cautions = cautions;
        }
    }

    /// Keeps the caution of the kinds of clients that are no longer kept one by one.
    pub(super) fn keep_cautions_of_forgotten_kinds(&mut self, kinds: Vec<OfferedTo>) {
        let recorded = tools_by_name(&self.offered);
        let unseen = self.unseen.entry(Gated::Tool).or_default();
        let hints = &mut unseen.forgotten_hints;
        for kind in kinds.into_iter().filter(|kind| !kind.clients.is_empty()) {
            let same = recorded
                .iter()
                .filter(|(name, _)| kind.has_tool(name) && !kind.cautions.contains_key(*name))
                .map(|(name, tool)| (name.clone(), caution_of(tool)));
            let all: ToolsByName = same.chain(kind.cautions.clone()).collect();
            for (name, caution) in all {
                let all = match hints.get(&name) {
                    Some(before) => frozen_tool(before, &caution),
                    None => caution,
                };
                hints.insert(name, all);
            }
        }
    }

    /// Forgets how a tool was offered to kinds of clients, where its user has approved a newer form
    /// and no agent has the older one: kinds that Dormouse alone has asked for, and kinds of an
    /// older release of the server.
    pub(super) fn forget_older_cautions(&mut self, name: &str) {
        let unseen = self.unseen.get(&Gated::Tool);
        // Those are offered what is recorded, and so what is approved.
        let is_newer = |of: &OfferedTo| of.has_tool(name) && !of.cautions.contains_key(name);
        let Some(newest) = self.offered_to.iter().rposition(is_newer) else {
            return;
        };
        let waits = unseen.and_then(|unseen| unseen.waits_for_others.get(name));
        for of in self.offered_to.iter_mut().take(newest) {
            // What waits is not replaced: nobody has seen it.
            let waits = waits.is_some_and(|waits| waits.contains_key(&of.clients));
            if !waits && (of.is_of_dormouse_alone || of.is_of_older_release) {
                of.cautions.remove(name);
            }
        }
    }

    /// Takes over the offers to kinds of clients from a record of an older Dormouse.
    pub(super) fn take_over_cautions(&mut self) {
        let Some(unseen) = self.unseen.get_mut(&Gated::Tool) else {
            return;
        };
        // What waits was offered last.
        for (name, clients, tool) in [&unseen.for_others, &unseen.waits_for_others]
            .into_iter()
            .flatten()
            .flat_map(|(name, others)| others.iter().map(move |(kind, tool)| (name, kind, tool)))
        {
            let mut kinds = self.offered_to.iter_mut();
            match kinds.find(|of| of.clients == *clients && of.has_tool(name)) {
                Some(of) => {
                    of.cautions.insert(name.clone(), caution_of(tool));
                }
                None => {
                    let hints = unseen.forgotten_hints.get(name).cloned();
                    let hints = match hints {
                        Some(before) => frozen_tool(&before, tool),
                        None => caution_of(tool),
                    };
                    unseen.forgotten_hints.insert(name.clone(), hints);
                }
            }
        }
    }

    /// Returns the forms of a tool as kinds of clients are offered it, each with only the parts
    /// that decide its caution.
    pub(in super::super) fn cautions<'r>(
        &'r self,
        name: &'r str,
    ) -> impl Iterator<Item = &'r RawValue> {
        let of_kinds = self.offered_to.iter();
        let of_kinds = of_kinds.filter_map(move |of| of.cautions.get(name));
        let unseen = self.unseen.get(&Gated::Tool);
        let forgotten = unseen.and_then(|unseen| unseen.forgotten_hints.get(name));
        of_kinds.chain(forgotten).map(AsRef::as_ref)
    }
}

/// Returns the tools that an upstream offers: of several with one name, the first.
pub(super) fn tools_by_name(offered: &Offered) -> ToolsByName {
    let mut tools = ToolsByName::new();
    for (name, tool) in Gated::Tool.of(offered) {
        tools.entry(name).or_insert(tool);
    }
    tools
}
