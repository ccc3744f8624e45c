//! Items of a server: which are shown, wait for approval, are gone or are left out.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use dormouse_catalog::{ListedTool, Listing};
use dormouse_text::visible::visible_line;
use serde_json::value::RawValue;

use super::Server;
use super::approved_listing::{self, WithheldItem};
use crate::roster::names;
use crate::roster::uris::{has_page, is_page};
use crate::store::{Gated, Pending, PendingItem, Selection, Treatment, takes_other_arguments};

/// Returns the hash of forms of an item, as texts, in their order; none where there are none.
pub(in super::super) fn hash_of_forms<'f>(
    forms: impl Iterator<Item = &'f str>,
) -> Option<blake3::Hash> {
    let mut forms = forms.peekable();
    forms.peek()?;
    let mut hasher = blake3::Hasher::new();
    for form in forms {
        hasher.update(&(form.len() as u64).to_le_bytes());
        hasher.update(form.as_bytes());
    }
    Some(hasher.finalize())
}

impl Server {
    /// Returns the instructions of its upstream for a model, as far as its user has seen them and
    /// they are to be shown. None of them are shown if a component is in front of the upstream.
    #[must_use]
    pub fn instructions(&self) -> Option<&str> {
        self.listed()?;
        let known = self.known().filter(|_| self.config.component().is_none())?;
        let waiting = known.pending.find(Gated::Instructions, "");
        if waiting.is_some_and(|item| self.treatment(item) == Treatment::Withheld) {
            return None;
        }
        let instructions = known.instructions.as_deref()?;
        (!instructions.trim().is_empty()).then_some(instructions)
    }

    /// Returns the pending items, of those that concern its shown ones.
    #[must_use]
    pub fn pending(&self) -> &Pending {
        match (&self.known, self.config.component()) {
            (Some(known), None) => &known.pending,
            _ => &self.pending_of_component,
        }
    }

    /// Returns the items that its user has approved and that it no longer offers, each with its
    /// kind, without tools that are not to be shown. None of a component, which declares its own.
    pub fn gone(&self) -> impl Iterator<Item = (Gated, &str)> {
        let known = self.known.as_ref();
        let known = known.filter(|_| self.config.enabled && self.config.component().is_none());
        let gone = known.into_iter().flat_map(|known| &known.gone);
        let filter = self.config.bridge().map(|bridge| bridge.filter.of_tools());
        gone.map(|(kind, name)| (*kind, name.as_str()))
            .filter(move |(kind, name)| {
                let filter = filter.as_ref().filter(|_| *kind == Gated::Tool);
                filter.is_none_or(|filter| filter.shows(name))
            })
    }

    /// Returns the tools that its upstream has and its user has approved, or that the component in
    /// front of it declares, and that a filter leaves out.
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        let known = self.known.as_ref().map(|known| &known.listing);
        let listing = match self.config.component() {
            None => known,
            Some(_) => self.declared(),
        };
        let listing = listing.filter(|_| self.config.enabled);
        let tools = listing.into_iter().flat_map(|listing| &listing.tools);
        let filter = self.config.bridge().map(|bridge| bridge.filter.of_tools());
        tools.map(|tool| tool.name.as_str()).filter(move |tool| {
            let filter = filter.as_ref();
            filter.is_some_and(|filter| !filter.shows(tool))
        })
    }

    /// Returns a sentence on why a tool that a filter leaves out is not there, without the server's
    /// name.
    #[must_use]
    pub fn why_left_out(&self, tool: &str) -> String {
        let bridge = self.config.bridge();
        let rules = bridge.into_iter().flat_map(|bridge| bridge.rules.iter());
        let hides = rules.filter(|(_, rule)| !rule.filter.shows(tool));
        let clients: Vec<_> = hides.map(|(client, _)| format!("`{client}`")).collect();
        let place = match (self.config.origin.client, clients.is_empty()) {
            (Some(_), false) => format!("the files of {}, or in dormouse.toml", clients.join(", ")),
            (Some(client), true) => format!("the files of `{client}`, or in dormouse.toml"),
            (None, _) => "dormouse.toml".to_owned(),
        };
        format!("has `{tool}`, but a list of tools leaves it out: one in {place}")
    }

    /// Returns the part of its upstream's offers that its user can approve.
    pub(in super::super) fn selection(&self) -> Selection<'_> {
        Selection {
            component: self.declared(),
            tools: None,
        }
    }

    /// Returns the declarations of the component in front of its upstream, shown or not; none where
    /// there is no component.
    pub(in super::super) fn declared(&self) -> Option<&Arc<Listing>> {
        let has_component = self.config.component().is_some();
        self.declared.as_ref().filter(|_| has_component)
    }

    /// Returns the treatment of a pending item.
    pub(in super::super) fn treatment(&self, item: &PendingItem) -> Treatment {
        let bridge = self.config.bridge();
        bridge.map_or(Treatment::Withheld, |bridge| {
            item.treatment(&bridge.changes)
        })
    }

    /// Returns the tools that their user has approved as they are now, and of which the component
    /// in front of its upstream declares an older form: by name, each as it is approved.
    fn outdated(&self) -> HashMap<&str, &ListedTool> {
        let known = self.declared().zip(self.known.as_deref());
        let outdated = known.into_iter();
        let outdated =
            outdated.flat_map(|(declared, known)| approved_listing::outdated(declared, known));
        let mut outdated: HashMap<&str, &ListedTool> = outdated.collect();
        for item in self.waiting_tools() {
            outdated.remove(item.name.as_str());
        }
        outdated
    }

    /// Returns the text for its user on the component in front of its upstream, where that declares
    /// older forms of tools than they have approved.
    #[must_use]
    pub fn outdated_component(&self) -> Option<String> {
        let outdated = self.outdated();
        let mut names: Vec<&str> = outdated.into_keys().collect();
        names.sort_unstable();
        let count = names.len();
        let first = visible_line(names.first()?);
        let tools = match count - 1 {
            0 => format!("tool `{first}`"),
            more => format!("tool `{first}` and {more} more"),
        };
        let name = &self.config.name;
        Some(format!(
            "the component of server `{name}` is out of date: it declares {tools} as it was before \
             you approved what it is now, and agents are shown what it declares\n\
             hint: whoever has made the component has to make it anew, as `dormouse adapt` does"
        ))
    }

    /// Checks whether the component in front of its upstream declares other arguments of a tool
    /// than its user has approved.
    pub(in super::super) fn declares_other_arguments(&self, tool: &str) -> bool {
        let declared = self.declared().map(|declared| declared.tools.iter());
        let declared = declared.and_then(|mut tools| tools.find(|known| known.name == tool));
        let outdated = self.outdated();
        declared
            .zip(outdated.get(tool))
            .is_some_and(|(was, is)| takes_other_arguments(&was.tool, &is.tool))
    }

    /// Checks whether a tool of it is shown as its user has approved it, and takes other arguments
    /// by now.
    pub(in super::super) fn takes_other_arguments(&self, tool: &str) -> bool {
        let waiting = self.pending().find(Gated::Tool, tool);
        waiting.is_some_and(|item| {
            let was = item.before();
            self.treatment(item) == Treatment::Frozen
                && was.is_some_and(|was| takes_other_arguments(was, &item.is))
        })
    }

    /// Returns all known listings of it, shown or not; an item may be in several.
    fn listings(&self) -> impl Iterator<Item = &Arc<Listing>> {
        let of_upstream = self.known.as_ref().map(|known| &known.listing);
        self.listing.iter().chain(&self.declared).chain(of_upstream)
    }

    /// Returns the declaration of a tool that a component in front of its upstream calls there: as the
    /// component hands it on, or else as its user has approved it. A function of the component's own says
    /// nothing of what the upstream does.
    pub(in super::super) fn upstream_tool(&self, tool: &str) -> Option<&ListedTool> {
        let handed_on = self.declared_tool(tool);
        handed_on
            .filter(|declared| !declared.is_typed())
            .or_else(|| {
                let mut approved = self.known.as_ref()?.listing.tools.iter();
                approved.find(|approved| approved.name == tool)
            })
    }

    /// Returns the forms in which its upstream offers a tool that nobody has approved, whether its component
    /// declares it or not: to whichever clients.
    pub(in super::super) fn unapproved_forms<'s>(
        &'s self,
        tool: &'s str,
    ) -> impl Iterator<Item = &'s RawValue> {
        let known = self.known.as_deref().into_iter();
        known.flat_map(move |known| {
            let items = known.pending.iter();
            let items = items.filter(move |item| {
                item.kind == Gated::Tool && item.name == tool && item.was.is_none()
            });
            let cautions = known.cautions.get(tool).into_iter().flatten();
            items
                .map(|item| &*item.is)
                .chain(cautions.map(AsRef::as_ref))
        })
    }

    /// Whether a tool is a function of its component's own.
    pub(in super::super) fn is_typed_tool(&self, tool: &str) -> bool {
        let mut declared = self.declared().into_iter().flat_map(|all| &all.tools);
        declared.any(|declared| declared.name == tool && declared.is_typed())
    }

    /// Returns the hash of what its upstream says of a tool now, approved or not, in all forms that any
    /// clients are offered.
    pub(in super::super) fn offered_tool(&self, tool: &str) -> Option<blake3::Hash> {
        let known = self.known.as_ref()?;
        let waiting = known.pending.iter();
        let waiting: Vec<_> = waiting
            .filter(|item| item.kind == Gated::Tool && item.name == tool)
            .collect();
        let mut forms: BTreeSet<&str> = waiting.iter().map(|item| item.is.get()).collect();
        // What does not wait is as it is listed.
        if waiting.iter().all(|item| !item.of_others.is_empty()) {
            let listed = known.listing.tools.iter();
            let listed = listed.filter(|listed| listed.name == tool);
            forms.extend(listed.map(|listed| listed.tool.get()));
        }
        hash_of_forms(forms.into_iter())
    }

    /// Returns its pending tools.
    fn waiting_tools(&self) -> impl Iterator<Item = &PendingItem> {
        let pending = self.pending().iter();
        pending.filter(|item| item.kind == Gated::Tool)
    }

    /// Returns its tools that are not shown because its user has not approved them as they are.
    pub fn hidden(&self) -> impl Iterator<Item = &str> {
        let declared: Option<HashSet<&str>> = self.declared().map(|declared| {
            let tools = declared.tools.iter();
            tools.map(|tool| tool.name.as_str()).collect()
        });
        let waiting = self.waiting_tools();
        let withheld = waiting.filter(|item| self.treatment(item) == Treatment::Withheld);
        let withheld = withheld.map(|item| item.name.as_str()).filter(move |name| {
            let declared = declared.as_ref();
            declared.is_none_or(|declared| declared.contains(name))
        });
        let filter = self.config.bridge().map(|bridge| bridge.filter.of_tools());
        withheld.filter(move |name| filter.as_ref().is_none_or(|filter| filter.shows(name)))
    }

    /// Returns its items of a kind that are withheld until its user has approved them: all that would
    /// be in its listing otherwise.
    pub(in super::super) fn withheld(&self, kind: Gated) -> impl Iterator<Item = &WithheldItem> {
        self.withheld.iter().filter(move |item| item.kind == kind)
    }

    /// Returns the known names of its tools, shown or not; a name may come more than once.
    pub(in super::super) fn known_tools(&self) -> impl Iterator<Item = &str> {
        let tools = self.listings().flat_map(|listing| &listing.tools);
        let waiting = self.waiting_tools().map(|item| item.name.as_str());
        let withheld = self.withheld(Gated::Tool).map(|item| item.name.as_str());
        tools
            .map(|tool| tool.name.as_str())
            .chain(waiting)
            .chain(withheld)
    }

    /// Returns the known names of its prompts, shown or not; a name may come more than once.
    pub(in super::super) fn known_prompts(&self) -> impl Iterator<Item = &str> {
        let prompts = self.listings().flat_map(|listing| &listing.prompts);
        let waiting = self.pending().iter();
        let waiting = waiting.filter(|item| item.kind == Gated::Prompt);
        let waiting = waiting.map(|item| item.name.as_str());
        prompts.map(|prompt| prompt.key.as_str()).chain(waiting)
    }

    /// Checks whether it is known to have a tool of that name of its own, shown or not.
    #[must_use]
    pub fn has_tool(&self, name: &str) -> bool {
        self.known_tools().any(|tool| tool == name)
    }

    /// Checks whether it is known to have a tool that agents see under that name when it is shown.
    #[must_use]
    pub fn has_tool_shown_as(&self, name: &str) -> bool {
        let prefix = self.config.prefix.as_deref();
        let mut known = self.known_tools();
        known.any(|tool| names::shown(&self.config.name, prefix, tool) == name)
    }

    /// Checks whether it is known to have pages that clients show for tools, shown or not.
    #[must_use]
    pub fn has_pages(&self) -> bool {
        let is_with_pages = |listing: &Arc<Listing>| {
            let mut listed = listing.resources.iter().chain(&listing.templates);
            let mut tools = listing.tools.iter();
            listed.any(|one| is_page(&one.key)) || tools.any(|tool| has_page(tool.tool.get()))
        };
        self.listings().any(is_with_pages)
            || self.waiting_tools().any(|item| has_page(item.is.get()))
    }

    /// Checks whether its upstream declares resources, listed or not.
    pub(in super::super) fn has_resources(&self) -> bool {
        let says = match self.config.component() {
            None => self.known.as_ref().is_some_and(|known| known.resources),
            // It may not pass on what it does not declare.
            Some(_) => false,
        };
        let listed =
            |listing: &Listing| !listing.resources.is_empty() || !listing.templates.is_empty();
        says || self.listing.as_deref().is_some_and(listed)
    }
}
