//! Items that wait for a user's approval.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use dormouse_catalog::Listing;
use dormouse_config::ChangePolicy;
use dormouse_text::visible::visible_line;
use serde_json::value::RawValue;

use super::declared_items::DeclaredItems;
use super::gated::Gated;
use super::treatment::{Novelty, Treatment};

/// Items that wait for a user's approval.
#[derive(Debug, Clone, Default)]
pub struct Pending(pub(in super::super) Vec<PendingItem>);

/// Item that waits for a user's approval.
#[derive(Debug, Clone)]
pub struct PendingItem {
    /// Its kind.
    pub kind: Gated,
    /// Its name.
    pub name: String,
    /// MCP object as its user knows it; none where they have never seen it.
    pub was: Option<Box<RawValue>>,
    /// MCP object as the component in front of the upstream declares it; none where there is none, or
    /// its user knows the item. Nobody has approved that of the upstream, so it is no part of what is
    /// compared with.
    pub declared: Option<Box<RawValue>>,
    /// Whether they know something else under that name in another folder.
    pub known_elsewhere: bool,
    /// Whether they may know that name at all, be it for the same in another folder.
    pub maybe_known: bool,
    /// MCP object as it is now.
    pub is: Box<RawValue>,
    /// Time since which it waits, in seconds since the Unix epoch, as far as that is known.
    pub since: Option<u64>,
    /// Kinds of clients that are offered it, where the kind that the server was last connected for
    /// is offered something else.
    pub of_others: BTreeSet<String>,
    /// Whether `was` is what these kinds of clients were offered before, rather than something that
    /// other kinds are offered: approving `is` takes back the approval of `was`.
    pub replaces: bool,
}

impl PendingItem {
    /// Returns the texts that a model was told of it before, as its user knows it, and that it will
    /// be told once they have approved it, both in canonical form. None for an object that cannot
    /// be shown.
    #[must_use]
    pub fn told(&self) -> [Option<String>; 2] {
        let told = |object: &RawValue| self.kind.told(&self.name, object);
        [self.was.as_deref().and_then(told), told(&self.is)]
    }

    /// Returns the MCP object that is shown as long as it waits, where the policy says so.
    #[must_use]
    pub fn before(&self) -> Option<&RawValue> {
        self.was.as_deref().or(self.declared.as_deref())
    }

    /// Checks whether something was seen under its name before, by whomever and wherever, or may have
    /// been: agents may know it by that name.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.before().is_some() || self.known_elsewhere || self.maybe_known
    }

    /// Returns its treatment by a policy.
    #[must_use]
    pub fn treatment(&self, changes: &ChangePolicy) -> Treatment {
        let novelty = match self.before() {
            Some(_) => Novelty::Changed,
            None if self.known_elsewhere => Novelty::NewHere,
            None => Novelty::New,
        };
        Treatment::of(changes, self.kind, &self.name, novelty)
    }
}

/// Part of the pending items that a user approves.
#[derive(Debug, Clone, Copy, Default)]
pub struct Selection<'a> {
    /// Component in front of the upstream, to which the part is limited (see
    /// [`Pending::of_component`]); all items, where there is none.
    pub component: Option<&'a Arc<Listing>>,
    /// Tools by name; all items, where none are given.
    pub tools: Option<&'a BTreeSet<String>>,
}

impl fmt::Display for PendingItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Gated::Instructions => f.write_str("its instructions"),
            kind => write!(f, "{kind} `{}`", visible_line(&self.name)),
        }
    }
}

impl Pending {
    /// Returns all items: tools first, each kind in the order in which it is listed.
    pub fn iter(&self) -> impl Iterator<Item = &PendingItem> {
        self.0.iter()
    }

    /// Returns the number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Checks whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the item of that kind and name.
    #[must_use]
    pub fn find(&self, kind: Gated, name: &str) -> Option<&PendingItem> {
        let mut items = self.iter();
        items.find(|item| item.kind == kind && item.name == name)
    }

    /// Returns a part of the items.
    #[must_use]
    pub fn selected(&self, selection: Selection<'_>) -> Self {
        let Self(items) = match selection.component {
            Some(component) => self.of_component(component),
            None => self.clone(),
        };
        let is_selected = |item: &PendingItem| {
            let names = selection.tools;
            names.is_none_or(|names| item.kind == Gated::Tool && names.contains(&item.name))
        };
        Self(items.into_iter().filter(is_selected).collect())
    }

    /// Returns the items that concern a component in front of the upstream: those that it declares, and
    /// declares otherwise where their user has approved nothing of that name. Everything else that is
    /// shown of it is its own.
    #[must_use]
    pub fn of_component(&self, declared: &Listing) -> Self {
        let declared = DeclaredItems::of(declared);
        let of_component = |item: &PendingItem| {
            let known = declared.find(item.kind, &item.name)?;
            let mut item = item.clone();
            if item.was.is_none() && item.kind.is_told(&item.name, known) {
                if item.kind.same(&item.name, known, &item.is) {
                    return None;
                }
                item.declared = Some(known.to_owned());
            }
            Some(item)
        };
        Self(self.iter().filter_map(of_component).collect())
    }

    /// Returns the names of the tools among the items.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        let tools = self.iter().filter(|item| item.kind == Gated::Tool);
        tools.map(|item| item.name.as_str())
    }

    /// Returns the hash of everything that a user is shown of the items, byte for byte, and which
    /// they approve.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |part: &str| {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        };
        for item in self.iter() {
            add(&item.kind.to_string());
            add(&item.name);
            // No object is an empty text.
            add(item.was.as_deref().map_or("", RawValue::get));
            add(item.is.get());
        }
        hasher.finalize().to_hex().to_string()
    }
}
