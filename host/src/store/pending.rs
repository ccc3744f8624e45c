//! Items that wait for a user to see them.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use dormouse_catalog::Listing;
use dormouse_config::ChangePolicy;
use dormouse_text::visible::visible_line;
use serde_json::value::RawValue;

use super::frozen::{Novelty, Treatment};
use super::gated::Gated;

/// Items that wait for a user to see them.
#[derive(Debug, Clone, Default)]
pub struct Pending(pub(super) Vec<PendingItem>);

/// Item that waits for a user to see it.
#[derive(Debug, Clone)]
pub struct PendingItem {
    /// Its kind.
    pub kind: Gated,
    /// Its name.
    pub name: String,
    /// The MCP object as its user knows it; none where they have never seen it.
    pub was: Option<Box<RawValue>>,
    /// Whether they know something else under that name in another folder.
    pub known_elsewhere: bool,
    /// As it is now.
    pub is: Box<RawValue>,
    /// Since when it waits, in seconds since the Unix epoch, as far as that is known.
    pub since: Option<u64>,
    /// The kinds of clients that are offered it, where the one that the server was last connected
    /// for is offered something else.
    pub of_others: BTreeSet<String>,
    /// Whether `was` is what these were offered before, and is not beside it: whoever approves the
    /// one takes back that they have approved the other.
    pub replaces: bool,
}

impl PendingItem {
    /// Returns the texts that a model was told of it before, as its user knows it, and that it is
    /// told once they have approved it, each in one way of writing it. None of what nobody was
    /// told.
    #[must_use]
    pub fn told(&self) -> [Option<String>; 2] {
        let told = |object: &RawValue| self.kind.told(&self.name, object);
        [self.was.as_deref().and_then(told), told(&self.is)]
    }

    /// Returns its treatment by a policy.
    #[must_use]
    pub fn treatment(&self, changes: &ChangePolicy) -> Treatment {
        let novelty = match &self.was {
            Some(_) => Novelty::Changed,
            None if self.known_elsewhere => Novelty::NewHere,
            None => Novelty::New,
        };
        Treatment::of(changes, (self.kind, &self.name), novelty)
    }
}

/// The part of what waits that a user approves.
#[derive(Debug, Clone, Copy, Default)]
pub struct Selection<'a> {
    /// The component that stands before the upstream: only what [concerns](Pending::of_component)
    /// it. All, where there is none.
    pub component: Option<&'a Arc<Listing>>,
    /// The tools; all that waits, where none are named.
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
    /// All of it: tools first, each kind in the order in which it is listed.
    pub fn iter(&self) -> impl Iterator<Item = &PendingItem> {
        self.0.iter()
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The item of that kind and name.
    #[must_use]
    pub fn find(&self, kind: Gated, name: &str) -> Option<&PendingItem> {
        let mut items = self.iter();
        items.find(|item| item.kind == kind && item.name == name)
    }

    /// A part of it.
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

    /// Items that concern a component that stands before the upstream: the tools that it
    /// declares. All else that is shown of it is its own.
    #[must_use]
    pub fn of_component(&self, declared: &Listing) -> Self {
        let tools = declared.tools.iter();
        let names: BTreeSet<&str> = tools.map(|tool| tool.name.as_str()).collect();
        let is_declared =
            |item: &&PendingItem| item.kind == Gated::Tool && names.contains(item.name.as_str());
        Self(self.iter().filter(is_declared).cloned().collect())
    }

    /// The names of the tools that wait.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        let tools = self.iter().filter(|item| item.kind == Gated::Tool);
        tools.map(|item| item.name.as_str())
    }

    /// The hash of all that a user is shown of it, byte for byte: what they approve.
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
