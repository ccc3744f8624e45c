//! What is known of one upstream, and what its user has seen of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use dormouse_catalog::{Listing, Odd, Provenance, What, shown};
use dormouse_jsonrpc::{MessageLimits, Object, member};
use dormouse_wit::{Declaration, DeclaredItem, DeclaredTool};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::canonical::canonical;
use super::frozen::{Treatment, frozen_tool};
use crate::config::ChangePolicy;
use crate::upstream::{Able, MODERN, Offered, Reaction, Reactions};
use crate::visible::visible_line;

/// The version of the record's form that this writes, and the newest that it reads. Up to
/// 1, only what changed of tools was kept from being shown.
const FORMAT: u32 = 2;

/// How much is remembered of what of one kind is gone, in bytes.
const MAX_GONE_BYTES: usize = 8 << 20;

/// How many things of one kind that are gone are remembered.
const MAX_GONE: usize = 10_000;

/// How much of the tools that a client is not shown is kept for one that can be asked more,
/// in bytes.
const MAX_WITHHELD_BYTES: usize = 8 << 20;

/// Most kinds of clients of which it is kept what they are offered under one name.
const MAX_OTHERS: usize = 16;

/// How much is kept of what other kinds of clients are offered, of one kind of things, in bytes.
const MAX_OTHERS_BYTES: usize = 8 << 20;

/// What an upstream has said that it offers, and what of that its user knows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    format: u32,
    /// When it was asked, in seconds since the Unix epoch.
    fetched: u64,
    /// What it offers.
    pub(super) offered: Offered,
    /// What of that its user has not seen as it is.
    #[serde(default)]
    pub(super) unseen: BTreeMap<Gated, Unseen>,
    /// In the form 1: the tools that have changed, as they were.
    #[serde(default, skip_serializing)]
    seen: BTreeMap<String, Box<RawValue>>,
    /// Tools that a client was not shown which can be asked less than the one that
    /// this is recorded from, and whether that one was shown them since.
    #[serde(default)]
    withheld: BTreeMap<String, bool>,
    /// The tools that each kind of clients was last offered: the last one is the last that it was
    /// asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) offered_to: Vec<OfferedTo>,
    /// The kind of clients that it was first asked for (see [`Clients`]).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    clients: String,
    /// The folder that it is of, where what is known of the upstream in one folder is not what is
    /// known of it in another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) folder: Option<String>,
    /// Whether nothing was known before, so that what comes first is taken as it is.
    #[serde(skip)]
    first: bool,
}

/// What an upstream says of itself to a model, and a model is told only as the user knows
/// it. What is in a resource is data, and passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gated {
    /// MCP `Tool`.
    Tool,
    /// MCP `Prompt`.
    Prompt,
    /// MCP `ResourceTemplate`.
    Template,
    /// MCP `instructions`: a text, of no name.
    Instructions,
}

impl Gated {
    pub(super) const ALL: [Self; 4] =
        [Self::Tool, Self::Prompt, Self::Template, Self::Instructions];

    /// An object as a model is told it, in canonical form; none where nobody is shown it.
    pub(super) fn told(self, name: &str, object: &RawValue) -> Option<String> {
        let what = match self {
            Self::Tool => What::Tool,
            Self::Prompt => What::Prompt,
            Self::Template => What::Template,
            Self::Instructions => return canonical(object.get()),
        };
        canonical(shown(what, name, object)?.get())
    }

    /// Whether two objects tell a model the same. What MCP has no room for is not shown:
    /// it may come and go, or be mended in another way by another Dormouse.
    pub(super) fn same(self, name: &str, one: &RawValue, other: &RawValue) -> bool {
        if one.get() == other.get() {
            return true;
        }
        let (Some(one), Some(other)) = (self.told(name, one), self.told(name, other)) else {
            return false;
        };
        let in_newest_era =
            |one: &str, other: &str| match (in_newest_era(one), in_newest_era(other)) {
                // As texts: numbers of values have fewer digits than those that models are told.
                (Some(one), Some(other)) => one == other,
                _ => false,
            };
        one == other || self == Self::Tool && in_newest_era(&one, &other)
    }

    /// The objects of this kind that an upstream offers, and the member that they are called by;
    /// none of instructions, which are a text.
    fn list(self, offered: &Offered) -> Option<(&[Box<RawValue>], &'static str)> {
        Some(match self {
            Self::Tool => (&offered.tools, "name"),
            Self::Prompt => (&offered.prompts, "name"),
            Self::Template => (&offered.templates, "uriTemplate"),
            Self::Instructions => return None,
        })
    }

    /// The same, to be changed.
    fn list_mut(self, offered: &mut Offered) -> Option<(&mut Vec<Box<RawValue>>, &'static str)> {
        Some(match self {
            Self::Tool => (&mut offered.tools, "name"),
            Self::Prompt => (&mut offered.prompts, "name"),
            Self::Template => (&mut offered.templates, "uriTemplate"),
            Self::Instructions => return None,
        })
    }

    /// Those that an upstream offers, by name: of several with one name, the first.
    pub(super) fn of(self, offered: &Offered) -> Vec<(String, Box<RawValue>)> {
        let Some((objects, member)) = self.list(offered) else {
            let text = offered.instructions.as_ref();
            let text = text.and_then(|text| to_raw_value(text).ok());
            return text.into_iter().map(|text| (String::new(), text)).collect();
        };
        keyed(objects, member)
            .map(|(name, object)| (name, object.to_owned()))
            .collect()
    }

    /// Puts other objects in place of those that an upstream offers, where there is another one
    /// for the name and the object.
    pub(super) fn replace(
        self,
        offered: &mut Offered,
        mut other: impl FnMut(&str, &RawValue) -> Option<Box<RawValue>>,
    ) {
        let Some((objects, member)) = self.list_mut(offered) else {
            for (name, text) in self.of(offered) {
                if let Some(text) = other(&name, &text) {
                    self.add(offered, text);
                }
            }
            return;
        };
        for object in objects {
            let name = key(object, member);
            if let Some(other) = name.and_then(|name| other(&name, object)) {
                *object = other;
            }
        }
    }

    /// Adds an object to those that an upstream offers.
    pub(super) fn add(self, offered: &mut Offered, object: Box<RawValue>) {
        match self.list_mut(offered) {
            Some((objects, _)) => objects.push(object),
            None => {
                let text = serde_json::from_str(object.get()).ok();
                offered.instructions = text.or(offered.instructions.take());
            }
        }
    }
}

impl fmt::Display for Gated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Template => "resource template",
            Self::Instructions => "instructions",
        })
    }
}

/// What of one kind a user has not seen as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Unseen {
    /// What is no longer what it was when the user last saw it, as it was then. One that
    /// is gone is in here too: it cannot come back as something else unseen.
    #[serde(default)]
    pub(super) changed: BTreeMap<String, Box<RawValue>>,
    /// What they have never seen.
    #[serde(default)]
    pub(super) added: BTreeSet<String>,
    /// When each of those that are there began to wait, in seconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    since: BTreeMap<String, u64>,
    /// Those of which the log has told: what changes at every start is told once.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    told: BTreeSet<String>,
    /// The kind of clients that something was last offered to as it is recorded, where that is
    /// another than the record's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    origin: BTreeMap<String, String>,
    /// What their user has approved of what other kinds of clients are offered under these names,
    /// by that kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    for_others: BTreeMap<String, BTreeMap<String, Box<RawValue>>>,
    /// What other kinds of clients are offered under these names and their user has not approved,
    /// by that kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) waits_for_others: BTreeMap<String, BTreeMap<String, Box<RawValue>>>,
}

/// The kinds of clients that an upstream may offer different things to, because of what they can
/// be asked or of the era of MCP that they are of. What one kind is offered is no change of what
/// another one is offered.
#[derive(Debug, Clone, Copy)]
struct Clients<'a> {
    /// Those that are asked for now.
    now: &'a str,
    /// Those that the record was first asked for.
    first: &'a str,
    /// Whether the upstream says that it is another version than the one that is recorded: then
    /// what differs is a change for all.
    is_other_release: bool,
}

/// The tools that clients of one kind were last offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OfferedTo {
    /// The kind (see [`Clients`]); empty for all that an older Dormouse has asked for.
    clients: String,
    /// What they can be asked.
    able: Able,
    /// The tools by name.
    tools: BTreeSet<String>,
}

impl OfferedTo {
    /// Puts it in place of what these clients were offered before. Gives all that is offered to
    /// any kind. What these clients had, and have no longer, nobody has: it has gone, but for
    /// those that are asked later and are offered it again. So has what is not offered to those
    /// who can be asked all that others can.
    fn replace_in(self, all: &mut Vec<Self>, withdrawn: &[String]) -> BTreeSet<String> {
        let before = all.iter().position(|of| of.clients == self.clients);
        let before = before.map(|index| all.remove(index));
        let before = before.iter().flat_map(|before| &before.tools);
        let gone = before.filter(|name| !self.tools.contains(*name));
        let gone: BTreeSet<&String> = gone.chain(withdrawn).collect();
        for other in &mut *all {
            let is_covered = self.is_of_era_of(other) && self.able.covers(&other.able);
            other
                .tools
                .retain(|name| !gone.contains(name) && (!is_covered || self.tools.contains(name)));
        }
        all.push(self);
        let too_many = all.len().saturating_sub(MAX_OTHERS);
        all.drain(..too_many);
        all.iter().flat_map(|of| &of.tools).cloned().collect()
    }

    fn is_of_era_of(&self, other: &Self) -> bool {
        let era = |of: &Self| of.clients.split(' ').next().map(str::to_owned);
        other.clients.is_empty() || era(self) == era(other)
    }
}

/// What is known of an upstream, ready to be shown.
#[derive(Debug)]
pub struct Known {
    /// When it was asked, in seconds since the Unix epoch.
    pub fetched: u64,
    /// The protocol version that it spoke then.
    pub protocol: String,
    /// What it has done with the first requests of MCP's eras.
    pub reactions: Reactions,
    /// MCP `serverInfo`.
    pub server_info: Map<String, Value>,
    /// What it wants a model to know of it, as its user has approved it.
    pub instructions: Option<String>,
    /// What it offers of that which its user has approved, as they have approved it.
    pub listing: Arc<Listing>,
    /// What its user has not approved as it is.
    pub pending: Pending,
    /// Whether it says that it has resources, listed or not.
    pub resources: bool,
    /// The tools that a client was not shown which can be asked less than the one that
    /// this is from: they may be gone, or only there for clients that can be asked more.
    pub doubtful: BTreeSet<String>,
}

/// What waits for a user to see it.
#[derive(Debug, Clone, Default)]
pub struct Pending(Vec<PendingItem>);

/// One of those.
#[derive(Debug, Clone)]
pub struct PendingItem {
    /// What it is.
    pub kind: Gated,
    /// Its name.
    pub name: String,
    /// The MCP object as its user knows it; none where they have never seen it.
    pub was: Option<Box<RawValue>>,
    /// As it is now.
    pub is: Box<RawValue>,
    /// Since when it waits, in seconds since the Unix epoch, as far as that is known.
    pub since: Option<u64>,
    /// The kinds of clients that are offered it, where the one that the server was last connected
    /// for is offered something else.
    pub of_others: BTreeSet<String>,
}

impl PendingItem {
    /// What a policy has become of it.
    #[must_use]
    pub fn treatment(&self, changes: &ChangePolicy) -> Treatment {
        Treatment::of(changes, (self.kind, &self.name), self.was.is_none())
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

    /// How much there is.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What waits of that kind and name.
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

    /// What of it concerns a component that stands before the upstream: the tools that it
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

/// What is new about what an upstream offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct News {
    /// Tools that it had not, by name.
    pub added: Vec<String>,
    /// Tools that it has no longer.
    pub gone: Vec<String>,
    /// What its user has not approved as it is: tools by their names, else with what they are.
    pub pending: Vec<String>,
    /// Those of it of which the log has not told yet.
    pub untold: Vec<String>,
}

/// What becomes of what is new.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'a> {
    /// What its user wants to happen.
    pub(super) changes: &'a ChangePolicy,
    /// Whether a component stands before it, and shows what that declares. What is new has
    /// been seen by nobody then either: another server may have the same upstream.
    pub(super) fronted: bool,
}

impl Record {
    /// The record of an upstream that has not said anything yet. Its user may have
    /// seen its tools in a component.
    pub(super) fn of_seen(seen: Option<&Arc<Listing>>) -> Self {
        let tools = seen.iter().flat_map(|listing| &listing.tools);
        Self {
            format: FORMAT,
            fetched: seconds_now(),
            offered: Offered {
                tools: tools.map(|tool| tool.tool.clone()).collect(),
                ..Offered::default()
            },
            unseen: BTreeMap::new(),
            seen: BTreeMap::new(),
            withheld: BTreeMap::new(),
            offered_to: Vec::new(),
            clients: String::new(),
            folder: None,
            first: seen.is_none(),
        }
    }

    /// The record of an upstream that has one which cannot be read. Nothing that it says
    /// now has been seen, other than in a component.
    pub(super) fn after_damage(seen: Option<&Arc<Listing>>) -> Self {
        Self {
            first: false,
            ..Self::of_seen(seen)
        }
    }

    pub(super) fn parse(text: &str) -> Result<Self, Damaged> {
        #[derive(Deserialize)]
        struct Envelope {
            format: u32,
        }
        let Envelope { format } = serde_json::from_str(text)?;
        if format > FORMAT {
            return Err(Damaged::Newer(format));
        }
        let mut record: Self = serde_json::from_str(text)?;
        record.offered.bound_self_description();
        if record.offered.reactions.is_unknown() {
            record.offered.reactions = reactions_of(&record.offered.protocol);
        }
        if format < FORMAT {
            // What that Dormouse had recorded, it has shown. All of it is what the user
            // knows, but for the tools that it kept back.
            let changed = std::mem::take(&mut record.seen);
            let tools = record.unseen.entry(Gated::Tool).or_default();
            tools.changed = changed;
            drop_ambiguous(&mut record.offered);
            record.format = FORMAT;
        }
        Ok(record)
    }

    /// Takes note of what the upstream offers now.
    pub(super) fn update(&mut self, mut offered: Offered, rules: Rules<'_>) -> News {
        drop_ambiguous(&mut offered);
        let clients = kind_of_clients(&offered);
        // Another version of a server may have learnt something.
        if !is_other_version(&offered.server_info, &self.offered.server_info) {
            offered.reactions = offered.reactions.or(self.offered.reactions);
        }
        self.complete(&mut offered, &clients);
        self.separate_clients(&mut offered, &clients);
        let first = std::mem::take(&mut self.first);
        let before = std::mem::replace(&mut self.offered, offered);
        self.fetched = seconds_now();
        let mut news = News::default();
        for kind in Gated::ALL {
            let change = Change {
                kind,
                before: kind.of(&before),
                now: kind.of(&self.offered),
                first,
                rules,
            };
            self.unseen
                .entry(kind)
                .or_default()
                .update(change, &mut news);
        }
        news
    }

    /// Whether it says the same as another one, whenever that was.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        self.text_without_time() == other.text_without_time()
    }

    /// Whether it says the same as another one, for whomever they were asked.
    pub(super) fn tells_the_same(&self, other: &Self) -> bool {
        let told = |record: &Self| {
            let record = Self {
                offered_to: Vec::new(),
                ..record.clone()
            };
            record.text_without_time()
        };
        told(self) == told(other)
    }

    fn text_without_time(&self) -> Option<String> {
        let record = Self {
            fetched: 0,
            folder: None,
            ..self.clone()
        };
        serde_json::to_string(&record).ok()
    }

    /// Adds the tools that other kinds of clients were offered and may still have. Otherwise two
    /// clients that can be asked differently would take a tool from each other, and bring it back,
    /// for ever.
    fn complete(&mut self, offered: &mut Offered, clients: &str) {
        let names = |tools: &[Box<RawValue>]| -> BTreeSet<String> {
            keyed(tools, "name").map(|(name, _)| name).collect()
        };
        let now = names(&offered.tools);
        if self.offered_to.is_empty() {
            // An older Dormouse has kept it for all kinds together.
            self.offered_to.push(OfferedTo {
                clients: String::new(),
                able: self.offered.able.clone(),
                tools: names(&self.offered.tools),
            });
        }
        let wanted = OfferedTo {
            clients: clients.to_owned(),
            able: offered.able.clone(),
            tools: now.clone(),
        };
        let offered_anywhere = wanted.replace_in(&mut self.offered_to, &offered.withdrawn);
        let is_most_able = offered.able.covers(&self.offered.able);
        let mut new: BTreeMap<String, Box<RawValue>> = keyed(&offered.tools, "name")
            .map(|(name, tool)| (name, tool.to_owned()))
            .collect();
        let mut tools = Vec::new();
        let mut withheld_bytes = 0;
        let is_complete = is_most_able && offered_anywhere.is_subset(&now);
        // In the order that is known, so that no list changes for nothing.
        let known = keyed(&self.offered.tools, "name").filter(|_| !is_complete);
        for (name, tool) in known {
            if let Some(tool) = new.remove(&name) {
                tools.push(tool);
            } else if offered_anywhere.contains(&name) {
                withheld_bytes += tool.get().len();
                // It could offer other ones to each client that comes.
                if withheld_bytes <= MAX_WITHHELD_BYTES {
                    tools.push(tool.to_owned());
                    self.withheld.entry(name).or_default();
                }
            }
        }
        if !is_complete {
            let added = keyed(&offered.tools, "name").filter(|(name, _)| new.contains_key(name));
            tools.extend(added.map(|(_, tool)| tool.to_owned()));
            offered.tools = tools;
        }
        let kept = names(&offered.tools);
        self.withheld.retain(|name, _| kept.contains(name));
        match is_most_able {
            true => {
                let sure = self.withheld.iter_mut();
                let sure = sure.filter(|(name, _)| now.contains(*name));
                sure.for_each(|(_, sure)| *sure = true);
            }
            false => offered.able = self.offered.able.clone(),
        }
    }

    /// Takes what is selected as it is now, and says what was not known like that.
    ///
    /// # Errors
    /// It is no longer what its user was shown, whose [digest](Pending::digest) that is.
    pub(super) fn approve(
        &mut self,
        shown: &str,
        selection: Selection<'_>,
    ) -> Result<Pending, Changed> {
        let pending = self.pending().selected(selection);
        if pending.digest() != shown {
            return Err(Changed);
        }
        for item in pending.iter() {
            self.accept(item);
        }
        Ok(pending)
    }

    /// Has something no longer wait.
    pub(super) fn accept(&mut self, item: &PendingItem) {
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
        }
    }

    /// Has what other kinds of clients are offered, and their user has approved, not be taken for
    /// a change.
    fn separate_clients(&mut self, offered: &mut Offered, now: &str) {
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
            let known: BTreeMap<String, Box<RawValue>> =
                kind.of(&self.offered).into_iter().collect();
            let unseen = self.unseen.entry(kind).or_default();
            let mut taken = BTreeSet::new();
            kind.replace(offered, |name, object| {
                let current = known.get(name)?;
                let is_first = taken.insert(name.to_owned());
                is_first.then(|| unseen.separated((kind, name), (current, object), clients))?
            });
            unseen.bound_others(&known);
        }
    }

    /// What its user has not seen as it is.
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
                let was = unseen.changed.get(&name).cloned();
                let is_new = unseen.added.contains(&name);
                let since = unseen.since.get(&name).copied();
                let waits = unseen.waits_for_others.get(&name);
                let mut others: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
                for (clients, object) in waits.into_iter().flatten() {
                    let all = others.entry(object.get()).or_default();
                    all.insert(clients.clone());
                }
                let others = others.into_iter().filter_map(|(object, of_others)| {
                    let object = RawValue::from_string(object.to_owned()).ok()?;
                    let known = was.as_deref().unwrap_or(&is);
                    let was = (!is_new).then(|| known.to_owned());
                    Some((was, object, of_others))
                });
                // What cannot be shown nobody could judge. It waits until it can.
                let waits = was.is_some() || is_new;
                let own = waits.then(|| (was.clone(), is.clone(), BTreeSet::new()));
                for (was, is, of_others) in own.into_iter().chain(others) {
                    if kind.told(&name, &is).is_some() {
                        pending.push(PendingItem {
                            kind: *kind,
                            since,
                            name: name.clone(),
                            was,
                            is,
                            of_others,
                        });
                    }
                }
            }
        }
        Pending(pending)
    }

    /// Whether its user has approved something of that kind and name, as it is or as it was.
    fn is_approved(&self, kind: Gated, name: &str) -> bool {
        let unseen = self.unseen.get(&kind);
        unseen.is_none_or(|unseen| !unseen.added.contains(name))
    }

    /// An object that the upstream has, as its user has approved it; none where they have not.
    fn approved(&self, kind: Gated, name: &str, current: &RawValue) -> Option<Box<RawValue>> {
        let Some(unseen) = self.unseen.get(&kind) else {
            return Some(current.to_owned());
        };
        let approved = match unseen.changed.get(name) {
            Some(approved) if kind == Gated::Tool => frozen_tool(approved, current),
            Some(approved) => approved.clone(),
            None if unseen.added.contains(name) => return None,
            None => current.to_owned(),
        };
        // All are shown one tool, which has to be as careful as each of them needs it.
        let others = [&unseen.for_others, &unseen.waits_for_others];
        let others = others.into_iter().filter(|_| kind == Gated::Tool);
        let others = others.filter_map(|others| others.get(name));
        let others = others.flat_map(BTreeMap::values);
        Some(others.fold(approved, |approved, other| frozen_tool(&approved, other)))
    }

    /// What it offers of that which its user has approved, as they have approved it.
    #[must_use]
    pub fn declaration(&self) -> Declaration {
        let can = |name: &str| self.offered.capabilities.get(name);
        let subscribe = can("resources").and_then(|resources| resources.get("subscribe"));
        let items = |objects: &[Box<RawValue>], member: &str, kind: Option<Gated>, subscribe| {
            keyed(objects, member)
                .filter_map(|(key, object)| {
                    let object = match kind {
                        Some(kind) => self.approved(kind, &key, object)?,
                        None => object.to_owned(),
                    };
                    Some(DeclaredItem {
                        key,
                        object,
                        function: None,
                        subscribe,
                    })
                })
                .collect()
        };
        let info = |member: &str| {
            let value = self.offered.server_info.get(member)?.as_str()?;
            Some(value.to_owned())
        };
        Declaration {
            name: info("name"),
            version: info("version"),
            title: info("title"),
            description: info("description"),
            tools: self
                .tools()
                .filter_map(|(name, tool)| {
                    Some(DeclaredTool {
                        tool: self.approved(Gated::Tool, &name, tool)?,
                        name,
                        function: None,
                    })
                })
                .collect(),
            prompts: items(&self.offered.prompts, "name", Some(Gated::Prompt), false),
            resources: items(
                &self.offered.resources,
                "uri",
                None,
                subscribe == Some(&Value::Bool(true)),
            ),
            templates: items(
                &self.offered.templates,
                "uriTemplate",
                Some(Gated::Template),
                false,
            ),
            completion: can("completions").is_some(),
            ..Declaration::default()
        }
    }

    pub(super) fn into_known(self) -> serde_json::Result<Known> {
        let mut listing = Listing::new(self.declaration(), Provenance::Section)?;
        listing.odd.extend(self.repeated());
        let instructions = Gated::Instructions.of(&self.offered).into_iter().next();
        let instructions = instructions
            .and_then(|(name, text)| self.approved(Gated::Instructions, &name, &text))
            .and_then(|text| serde_json::from_str(text.get()).ok());
        let doubtful = self.withheld.clone().into_iter().filter(|(_, sure)| !sure);
        Ok(Known {
            fetched: self.fetched,
            protocol: self.offered.protocol.clone(),
            reactions: self.offered.reactions,
            pending: self.pending(),
            resources: self.offered.capabilities.contains_key("resources"),
            listing: Arc::new(listing),
            doubtful: doubtful.map(|(name, _)| name).collect(),
            server_info: self.offered.server_info,
            instructions,
        })
    }

    /// What is left out because there is one of the same name before it: once for each name that a
    /// user has approved.
    fn repeated(&self) -> Vec<Odd> {
        let offered = &self.offered;
        let lists = [
            (What::Tool, Some(Gated::Tool), &offered.tools, "name"),
            (What::Prompt, Some(Gated::Prompt), &offered.prompts, "name"),
            (What::Resource, None, &offered.resources, "uri"),
            (
                What::Template,
                Some(Gated::Template),
                &offered.templates,
                "uriTemplate",
            ),
        ];
        let mut odd = Vec::new();
        for (what, kind, objects, member) in lists {
            let mut times: BTreeMap<String, usize> = BTreeMap::new();
            for object in objects {
                if let Some(key) = key(object, member) {
                    *times.entry(key).or_default() += 1;
                }
            }
            let repeated = times.into_iter().filter(|(name, times)| {
                *times > 1 && kind.is_none_or(|kind| self.is_approved(kind, name))
            });
            odd.extend(repeated.map(|(name, times)| Odd {
                what,
                why: format!("it is listed {times} times, and the first one is shown"),
                name,
                shown: false,
            }));
        }
        odd
    }

    /// Its tools by name: of several with one name, the first.
    fn tools(&self) -> impl Iterator<Item = (String, &RawValue)> {
        keyed(&self.offered.tools, "name")
    }
}

/// Objects by the member that they are called by; those without it are left out, as
/// is the second of one name, because nobody could ask for it.
fn keyed<'a>(
    objects: &'a [Box<RawValue>],
    member: &str,
) -> impl Iterator<Item = (String, &'a RawValue)> {
    let mut taken = BTreeSet::new();
    objects.iter().filter_map(move |object| {
        let key = key(object, member)?;
        taken.insert(key.clone()).then_some((key, &**object))
    })
}

/// The member that an object is called by.
fn key(object: &RawValue, member: &str) -> Option<String> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(object.get()).ok()?;
    serde_json::from_str(members.get(member)?.get()).ok()
}

/// How one kind of what an upstream offers has changed.
struct Change<'r> {
    kind: Gated,
    before: Vec<(String, Box<RawValue>)>,
    now: Vec<(String, Box<RawValue>)>,
    first: bool,
    rules: Rules<'r>,
}

impl Unseen {
    fn update(&mut self, change: Change<'_>, news: &mut News) {
        let Change {
            kind, first, rules, ..
        } = change;
        let mut seen = std::mem::take(&mut self.changed);
        let unseen = std::mem::take(&mut self.added);
        let mut before = BTreeSet::new();
        // What could not be shown, nobody has seen.
        let shown = change.before.into_iter();
        for (name, object) in shown.filter(|(name, object)| kind.told(name, object).is_some()) {
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
            let is_shown = kind.told(&name, &object).is_some();
            if kind == Gated::Tool && is_shown && !before.contains(&name) {
                news.added.push(name.clone());
            }
            let is_new = !seen.contains_key(&name);
            let treatment = Treatment::of(rules.changes, (kind, &name), is_new);
            let is_seen = match seen.get(&name) {
                _ if treatment == Treatment::Current => true,
                Some(known) => kind.same(&name, known, &object),
                None => first,
            };
            if is_seen {
                // Nobody has to remember what is in the list.
                seen.remove(&name);
                self.accept_others(&name, treatment);
                if !self.waits_for_others.contains_key(&name) {
                    self.since.remove(&name);
                }
                continue;
            }
            self.since.entry(name.clone()).or_insert_with(seconds_now);
            // What a component does not declare nobody is shown, and so nobody is told of it.
            if is_shown && !(rules.fronted && is_new) {
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
            // Of one that cannot be shown nobody need hear: it counts as new once it can.
            if is_shown && is_new {
                self.added.insert(name);
            }
        }
        if kind == Gated::Tool {
            news.gone = gone.into_iter().collect();
        }
        self.since.retain(|name, _| now.contains(name));
        self.told.retain(|name| now.contains(name));
        // Whoever takes something as it comes need not be reminded of what it was.
        seen.retain(|name, _| {
            Treatment::of(rules.changes, (kind, name), false) != Treatment::Current
        });
        self.changed = seen;
        self.forget(&now);
    }

    /// Takes what other kinds of clients are offered as it is, where that is what becomes of it.
    fn accept_others(&mut self, name: &str, treatment: Treatment) {
        if treatment == Treatment::Current
            && let Some(waits) = self.waits_for_others.remove(name)
        {
            let others = self.for_others.entry(name.to_owned()).or_default();
            others.extend(waits);
        }
    }

    /// Notes that what is recorded of a name goes on waiting, of the kind of clients that is
    /// offered it, when something else is recorded.
    fn wait_for_others(&mut self, name: &str, current: &RawValue, clients: Clients<'_>) {
        let now = clients.now.to_owned();
        let origin = self.origin.insert(name.to_owned(), now);
        let origin = origin.unwrap_or_else(|| clients.first.to_owned());
        let waits = self.changed.contains_key(name) || self.added.contains(name);
        if waits && origin != clients.now && !clients.is_other_release {
            let others = self.waits_for_others.entry(name.to_owned()).or_default();
            others.insert(origin, current.to_owned());
        }
    }

    /// What is taken in place of an object that clients of some kind are offered; none where that
    /// is taken itself. `current` is what is recorded of that name.
    fn separated(
        &mut self,
        (kind, name): (Gated, &str),
        (current, object): (&RawValue, &RawValue),
        clients: Clients<'_>,
    ) -> Option<Box<RawValue>> {
        let is_same = |other: &RawValue| kind.same(name, other, object);
        // What they were offered before, they are offered no longer.
        if let Some(waits) = self.waits_for_others.get_mut(name) {
            match clients.is_other_release {
                true => waits.clear(),
                false => drop(waits.remove(clients.now)),
            }
        }
        if self.added.contains(name) {
            if !is_same(current) {
                self.wait_for_others(name, current, clients);
            }
            return None;
        }
        if is_same(current) {
            if let Some(others) = self.for_others.get_mut(name) {
                others.remove(clients.now);
            }
            // Servers write the same in another order in each era: agents read it as before.
            let is_rewritten = current.get() != object.get()
                && kind.told(name, current) == kind.told(name, object);
            return is_rewritten.then(|| current.to_owned());
        }
        let approved = self.changed.get(name).map_or(current, |known| known);
        // What could not be shown, nobody has approved.
        kind.told(name, approved)?;
        let approved = approved.to_owned();
        let origin = self.origin.get(name);
        let origin = origin.map_or(clients.first, String::as_str).to_owned();
        if clients.is_other_release {
            let now = clients.now.to_owned();
            self.origin.insert(name.to_owned(), now);
        }
        let is_origin = origin == clients.now || clients.is_other_release;
        if is_same(&approved) {
            // What waits is what other clients are offered, and goes on waiting.
            return (!is_origin).then(|| current.to_owned());
        }
        let others = self.for_others.entry(name.to_owned()).or_default();
        let is_approved = others.values().any(|other| is_same(other));
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

    /// Forgets what other kinds of clients are offered that is gone, or too much: that waits for
    /// its user again.
    fn bound_others(&mut self, known: &BTreeMap<String, Box<RawValue>>) {
        self.origin.retain(|name, _| known.contains_key(name));
        for all in [&mut self.for_others, &mut self.waits_for_others] {
            let mut bytes = 0;
            all.retain(|name, others| {
                let objects = others.values().map(|object| object.get().len());
                bytes += objects.sum::<usize>() + name.len();
                let is_bounded = others.len() <= MAX_OTHERS && bytes <= MAX_OTHERS_BYTES;
                !others.is_empty() && is_bounded && known.contains_key(name)
            });
        }
    }

    /// Forgets what is gone, beyond what is remembered of that: an upstream could offer
    /// something else each time. What comes back then is new.
    fn forget(&mut self, now: &BTreeSet<String>) {
        let (mut bytes, mut count) = (0, 0);
        self.changed.retain(|name, object| {
            if now.contains(name) {
                return true;
            }
            bytes += name.len() + object.get().len();
            count += 1;
            bytes <= MAX_GONE_BYTES && count <= MAX_GONE
        });
    }
}

/// A tool as a client of the newest era is told it. Before that a result has to be an object, so
/// that some SDKs put any other into one, `{"result": …}`, and say so in the output schema. It is
/// no change that anybody has to see which era a server was spoken to in.
/// Gives its text without the output schema, and that.
fn in_newest_era(tool: &str) -> Option<(String, String)> {
    let mut tool = Object::parse(tool, MessageLimits::default().members).ok()?;
    let schema = tool.get("outputSchema")?.to_owned();
    let read: Value = serde_json::from_str(&schema).ok()?;
    let bare = bare_output_schema(&schema, &read).map(str::to_owned);
    tool.remove("outputSchema");
    Some((tool.into_text().into_owned(), bare.unwrap_or(schema)))
}

/// The schema that an output schema puts into an object, as its text has it; none where it puts
/// none there. `read` is what the text says.
pub(super) fn bare_output_schema<'t>(schema: &'t str, read: &Value) -> Option<&'t str> {
    put_into_object(read)?;
    member(member(schema, "properties")?, "result")
}

/// The schema of a result that another schema, which says nothing else, puts into an object.
fn put_into_object(schema: &Value) -> Option<Value> {
    let members = schema.as_object()?;
    let properties = members.get("properties")?.as_object()?;
    let inner = properties.get("result").filter(|_| properties.len() == 1)?;
    let is_object = members.get("type")? == "object";
    let needs = *members.get("required")? == serde_json::json!(["result"]);
    let says_nothing_else = members.iter().all(|(name, value)| match name.as_str() {
        "type" | "properties" | "required" => true,
        "$schema" => inner.get("$schema") == Some(value),
        _ => false,
    });
    (is_object && needs && says_nothing_else && inner.is_object()).then(|| inner.clone())
}

/// The kind of clients that something was offered to (see [`Clients`]).
fn kind_of_clients(offered: &Offered) -> String {
    let era = match offered.protocol == MODERN {
        true => "stateless",
        false => "handshake",
    };
    let able = serde_json::to_string(&offered.able).unwrap_or_default();
    format!("{era} {able}")
}

/// Whether two things that a server has said of itself (MCP `serverInfo`) name different versions
/// of it. It need not say the same in both eras.
pub(crate) fn is_other_version(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    match (one.get("version"), other.get("version")) {
        (Some(one), Some(other)) => one != other,
        _ => false,
    }
}

/// What is known of a server's reactions to first requests, by the protocol version that it spoke
/// last: earlier Dormouses have kept nothing else of them.
fn reactions_of(protocol: &str) -> Reactions {
    let mut reactions = Reactions::default();
    match protocol {
        "" => {}
        MODERN => reactions.discover = Reaction::Answers,
        _ => reactions.initialize = Reaction::Answers,
    }
    reactions
}

/// Leaves out what two readers would not read the same way, because a member is in it
/// twice.
fn drop_ambiguous(offered: &mut Offered) {
    let lists = [
        &mut offered.tools,
        &mut offered.prompts,
        &mut offered.resources,
        &mut offered.templates,
    ];
    for list in lists {
        list.retain(|object| canonical(object.get()).is_some());
    }
}

/// Something is no longer what its user was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it has changed while you were reading, and nothing is allowed\nhint: look again")]
pub struct Changed;

/// Why a record cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Damaged {
    /// It is none.
    #[error(transparent)]
    Unreadable(#[from] serde_json::Error),
    /// A later Dormouse knows what is in it.
    #[error("it was written by a newer Dormouse (format `{0}`)")]
    Newer(u32),
}

fn seconds_now() -> u64 {
    SystemTime::UNIX_EPOCH
        .elapsed()
        .map_or(0, |since| since.as_secs())
}
