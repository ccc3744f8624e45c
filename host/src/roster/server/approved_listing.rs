//! Listing of a bridged server as its user has approved it, with the items that are withheld.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use dormouse_catalog::{ListedTool, Listing};
use dormouse_config::ChangePolicy;

use crate::store::{Gated, KnownUpstream, Pending, PendingItem, Treatment, frozen_tool};

/// Listing of a bridged server, divided by one decision.
#[derive(Debug)]
pub(super) struct ApprovedListing {
    /// Items that are shown, each as its user has approved it.
    pub(super) shown: Arc<Listing>,
    /// Items that are not shown, because they are not what its user has approved.
    pub(super) withheld: Vec<WithheldItem>,
}

/// Item of a server that is not shown, because it is not what its user has approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct WithheldItem {
    pub(super) kind: Gated,
    /// Its own name.
    pub(in super::super) name: String,
    /// Whether something was seen under its name before, or may have been: by its user, here or
    /// elsewhere, or by whoever was shown what the component in front of its upstream declares.
    pub(in super::super) is_known: bool,
}

impl From<Arc<Listing>> for ApprovedListing {
    /// Makes the listing of a server of which nothing is withheld.
    fn from(shown: Arc<Listing>) -> Self {
        Self {
            shown,
            withheld: Vec::new(),
        }
    }
}

impl ApprovedListing {
    /// Returns an upstream's listing as its user has approved it, without the items that have
    /// changed since and that the policy withholds, or that only some connections still have.
    pub(super) fn of_upstream(known: &KnownUpstream, changes: &ChangePolicy) -> Self {
        let mut withheld = withheld(&known.pending, changes);
        let kept = known.kept.iter().map(|(kind, name)| WithheldItem {
            kind: *kind,
            name: name.clone(),
            is_known: true,
        });
        withheld.extend(kept);
        if withheld.is_empty() {
            return Self::from(Arc::clone(&known.listing));
        }
        let names = names(&withheld);
        let is_shown = |kind, name: &str| !names.contains(&(kind, name));
        let mut shown = Listing::clone(&known.listing);
        shown.tools.retain(|tool| is_shown(Gated::Tool, &tool.name));
        shown
            .prompts
            .retain(|prompt| is_shown(Gated::Prompt, &prompt.key));
        shown
            .templates
            .retain(|template| is_shown(Gated::Template, &template.key));
        let shown = Arc::new(shown);
        Self { shown, withheld }
    }

    /// Returns the listing that a component in front of an upstream declares, with tools as cautious
    /// as those of its upstream, and without the items that the policy withholds. `pending` has the
    /// items that [concern](Pending::of_component) the component.
    pub(super) fn of_component(
        declared: &Arc<Listing>,
        changes: &ChangePolicy,
        known: &KnownUpstream,
        pending: &Pending,
    ) -> Self {
        let outdated: HashMap<&str, &ListedTool> = outdated(declared, known).collect();
        if pending.is_empty() && outdated.is_empty() && known.cautions.is_empty() {
            return Self::from(Arc::clone(declared));
        }
        let mut waiting: HashMap<&str, Vec<&PendingItem>> = HashMap::new();
        for item in pending.iter().filter(|item| item.kind == Gated::Tool) {
            waiting.entry(&item.name).or_default().push(item);
        }
        let mut withheld = withheld(pending, changes);
        let names = names(&withheld);
        let is_shown = |kind, name: &str| !names.contains(&(kind, name));
        let has_hints_of_now = |tool: &mut ListedTool| {
            if let Some(approved) = outdated.get(tool.name.as_str())
                && !tool.replace(frozen_tool(&tool.tool, &approved.tool))
            {
                return false;
            }
            let items = waiting.get(tool.name.as_str());
            // A function of the component's own is what the component declares of it.
            let items = items.into_iter().flatten().filter(|_| !tool.is_typed());
            let cautions = known.cautions.get(&tool.name).into_iter().flatten();
            let cautions = cautions.filter(|_| !tool.is_typed()).map(AsRef::as_ref);
            let now: Vec<_> = items.map(|item| &*item.is).chain(cautions).collect();
            now.into_iter()
                .all(|now| tool.replace(frozen_tool(&tool.tool, now)))
        };
        let mut shown = Listing::clone(declared);
        let mut too_long = Vec::new();
        shown.tools.retain_mut(|tool| {
            if !is_shown(Gated::Tool, &tool.name) {
                return false;
            }
            // One that is too long for the hints of what its upstream is now is not shown.
            let is_shown = has_hints_of_now(tool);
            if !is_shown {
                too_long.push(WithheldItem {
                    kind: Gated::Tool,
                    name: tool.name.clone(),
                    is_known: true,
                });
            }
            is_shown
        });
        shown
            .prompts
            .retain(|prompt| prompt.is_typed() || is_shown(Gated::Prompt, &prompt.key));
        shown
            .templates
            .retain(|template| template.is_typed() || is_shown(Gated::Template, &template.key));
        withheld.extend(too_long);
        let shown = Arc::new(shown);
        Self { shown, withheld }
    }
}

/// Returns the pending items that the policy withholds, each once: an item may wait in several forms.
fn withheld(pending: &Pending, changes: &ChangePolicy) -> Vec<WithheldItem> {
    let mut withheld: BTreeMap<(Gated, &str), bool> = BTreeMap::new();
    let items = pending.iter();
    for item in items.filter(|item| item.treatment(changes) == Treatment::Withheld) {
        let is_known = withheld.entry((item.kind, &item.name)).or_default();
        *is_known |= item.is_known();
    }
    let withheld = withheld.into_iter();
    let withheld = withheld.map(|((kind, name), is_known)| WithheldItem {
        kind,
        name: name.to_owned(),
        is_known,
    });
    withheld.collect()
}

fn names(items: &[WithheldItem]) -> HashSet<(Gated, &str)> {
    let names = items.iter().map(|item| (item.kind, item.name.as_str()));
    names.collect()
}

/// Returns the tools that a plugin in front of an upstream declares in another form than their user
/// has approved: each as approved, by its name. Functions of the plugin's own are left out, because
/// the plugin alone defines them.
pub(super) fn outdated<'k>(
    declared: &Listing,
    known: &'k KnownUpstream,
) -> impl Iterator<Item = (&'k str, &'k ListedTool)> {
    let tools = declared.tools.iter().filter(|tool| !tool.is_typed());
    let declared: HashMap<&str, &ListedTool> =
        tools.map(|tool| (tool.name.as_str(), tool)).collect();
    let approved = known.listing.tools.iter().filter(move |approved| {
        let declared = declared.get(approved.name.as_str());
        declared.is_some_and(|tool| !Gated::Tool.same(&approved.name, &tool.tool, &approved.tool))
    });
    approved.map(|tool| (tool.name.as_str(), tool))
}
