//! Offers that an upstream makes over single connections, beside what is recorded of it: other
//! connections, of this process or of another one, may have told something else since.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dormouse_upstream::Offered;
use serde_json::value::RawValue;

use super::KnownUpstream;
use super::caution::{ToolsByName, tools_by_name};
use super::offered_to::kind_of_clients;
use crate::store::item::{Gated, OfferedForms, caution_of, frozen_tool, most_cautious};

/// Offer of an upstream over one connection, as far as requests are judged by it.
#[derive(Debug, Clone)]
pub struct ConnectionOffer {
    /// Kind of clients that the connection was made for.
    clients: String,
    forms: OfferedForms,
    /// Tools, each with only the parts that decide its caution.
    cautions: ToolsByName,
}

impl ConnectionOffer {
    /// Returns the offer that was made over a connection last. Lists that were not told are those of the
    /// offer `before`.
    #[must_use]
    pub fn of(offered: &Offered, before: Option<&Self>) -> Self {
        let mut forms = OfferedForms::of(offered);
        if let Some(before) = before {
            forms.keep_untold(&before.forms);
        }
        let tools = tools_by_name(offered).into_iter();
        Self {
            clients: kind_of_clients(offered),
            forms,
            cautions: tools
                .map(|(name, tool)| (name, caution_of(&tool)))
                .collect(),
        }
    }

    /// Returns the length of what decides the caution of its tools, in bytes.
    #[must_use]
    pub fn caution_bytes(&self) -> usize {
        self.cautions.values().map(|tool| tool.get().len()).sum()
    }

    /// Keeps no more of what decides the caution of its tools than `room` bytes: their hints and whom they
    /// are for, or nothing.
    pub fn bound_cautions(&mut self, room: usize) {
        if self.caution_bytes() <= room {
            return;
        }
        for caution in self.cautions.values_mut() {
            if let Some(hints) = most_cautious([&**caution]) {
                *caution = hints;
            }
        }
        if self.caution_bytes() > room {
            self.cautions.clear();
        }
    }

    /// Checks whether another connection was offered the same.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.clients == other.clients && self.forms == other.forms
    }
}

impl KnownUpstream {
    /// Checks whether an item is recorded for the clients of a connection as it was offered over that,
    /// where it was.
    #[must_use]
    pub fn is_as_offered(&self, over: &ConnectionOffer, kind: Gated, name: &str) -> bool {
        let recorded = self.forms.get(&over.clients);
        over.forms.are_same(recorded, kind, name)
    }

    /// Returns the same knowledge with what open connections are offered besides: tools are as cautious
    /// as each connection needs them, and items that were known `before` and are gone keep their names,
    /// as long as one has them. None where that makes no difference.
    #[must_use]
    pub fn with_offers(
        &self,
        before: Option<&Self>,
        offers: &[Arc<ConnectionOffer>],
    ) -> Option<Self> {
        let mut known = self.clone();
        let is_kept = before.is_some_and(|before| known.keep(before, offers));
        let is_careful = known.be_careful(offers);
        (is_kept || is_careful).then_some(known)
    }

    /// Keeps the names of items that are gone and that a connection still has. Returns whether there are
    /// any.
    fn keep(&mut self, before: &Self, offers: &[Arc<ConnectionOffer>]) -> bool {
        let known: BTreeSet<(Gated, &str)> = self.names().collect();
        let is_kept = |kind, name: &str| {
            !known.contains(&(kind, name)) && offers.iter().any(|offer| offer.forms.has(kind, name))
        };
        let kept = before.kept.iter().map(|(kind, name)| (*kind, &**name));
        let kept = before.names().chain(kept);
        let kept = kept.filter(|(kind, name)| is_kept(*kind, name));
        self.kept = kept.map(|(kind, name)| (kind, name.to_owned())).collect();
        !self.kept.is_empty()
    }

    /// Returns the names of its tools and prompts that somebody may know; one may come more than once.
    fn names(&self) -> impl Iterator<Item = (Gated, &str)> {
        let tools = self.listing.tools.iter();
        let prompts = self.listing.prompts.iter();
        let pending = self.pending.iter().filter(|item| item.is_known());
        tools
            .map(|tool| (Gated::Tool, tool.name.as_str()))
            .chain(prompts.map(|prompt| (Gated::Prompt, prompt.key.as_str())))
            .chain(pending.map(|item| (item.kind, item.name.as_str())))
    }

    /// Makes its tools as cautious as they need to be over connections that were offered others than
    /// are recorded. Returns whether some have to be more cautious for that.
    fn be_careful(&mut self, offers: &[Arc<ConnectionOffer>]) -> bool {
        let mut others: BTreeMap<&str, Vec<&RawValue>> = BTreeMap::new();
        for offer in offers {
            let cautions = offer.cautions.iter();
            for (name, caution) in
                cautions.filter(|(name, _)| !self.is_as_offered(offer, Gated::Tool, name))
            {
                others.entry(name).or_default().push(caution);
            }
        }
        if others.is_empty() {
            return false;
        }
        let mut is_careful = false;
        let listing = Arc::make_mut(&mut self.listing);
        listing.tools.retain_mut(|tool| {
            let cautions = others.remove(tool.name.as_str()).unwrap_or_default();
            let careful = cautions
                .into_iter()
                .fold(tool.tool.clone(), |careful, other| {
                    frozen_tool(&careful, other)
                });
            let is_same = careful.get() == tool.tool.get();
            is_careful |= !is_same;
            // One that is too long for that is not shown.
            is_same || tool.replace(careful)
        });
        // Of the others nothing is approved.
        for item in self.pending.iter().filter(|item| item.kind == Gated::Tool) {
            if let Some(cautions) = others.remove(item.name.as_str()) {
                is_careful = true;
                let all = self.cautions.entry(item.name.clone()).or_default();
                all.extend(cautions.into_iter().map(ToOwned::to_owned));
            }
        }
        is_careful
    }
}
