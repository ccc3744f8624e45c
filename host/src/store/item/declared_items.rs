//! Items that a component in front of an upstream declares.

use std::collections::BTreeMap;

use dormouse_catalog::Listing;
use serde_json::value::RawValue;

use super::gated::Gated;

/// Items that a component in front of an upstream declares and shows, by their names. Prompts and
/// templates that functions of its own answer are not the upstream's.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct DeclaredItems(BTreeMap<Gated, BTreeMap<String, Box<RawValue>>>);

impl DeclaredItems {
    /// Collects the items of a component's listing.
    pub(in super::super) fn of(listing: &Listing) -> Self {
        let tools = listing.tools.iter();
        let tools = tools.map(|tool| (Gated::Tool, &tool.name, &tool.tool));
        let prompts = listing.prompts.iter().map(|item| (Gated::Prompt, item));
        let templates = listing.templates.iter().map(|item| (Gated::Template, item));
        let items = prompts.chain(templates);
        let forwarded = items.filter(|(_, item)| !item.is_typed());
        let forwarded = forwarded.map(|(kind, item)| (kind, &item.key, &item.object));
        let mut all: BTreeMap<Gated, BTreeMap<String, Box<RawValue>>> = BTreeMap::new();
        for (kind, name, object) in tools.chain(forwarded) {
            let of_kind = all.entry(kind).or_default();
            of_kind
                .entry(name.clone())
                .or_insert_with(|| object.clone());
        }
        Self(all)
    }

    /// Returns the item of that kind and name.
    pub(in super::super) fn find(&self, kind: Gated, name: &str) -> Option<&RawValue> {
        self.0.get(&kind)?.get(name).map(|object| &**object)
    }
}
