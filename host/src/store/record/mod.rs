//! Record of one upstream's offers, and of what its user has seen of these.

mod approval;
mod caution;
mod connection_offer;
mod format;
mod known;
mod known_elsewhere;
mod offered_to;
mod other_clients;
mod unseen;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::SystemTime;

use dormouse_config::ChangePolicy;
use dormouse_upstream::Offered;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

pub use approval::ItemChanged;
use caution::tools_by_name;
pub use connection_offer::ConnectionOffer;
pub use format::Damaged;
use format::FORMAT;
pub use known::KnownUpstream;
pub(super) use known_elsewhere::{KnownElsewhere, told_without_folder};
use offered_to::{OfferedTo, kind_of_clients};
use unseen::{OffersChange, Unseen};

use super::item::{DeclaredItems, Gated, Novelty, Treatment, canonical};

/// Record of an upstream's offers, and of what its user knows of these.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    format: u32,
    /// Time at which the offers were read, in seconds since the Unix epoch.
    fetched: u64,
    /// Items that it offers.
    offered: Offered,
    /// Items of these that its user has not seen as they are.
    #[serde(default)]
    unseen: BTreeMap<Gated, Unseen>,
    /// In version 1: the tools that have changed, as they were.
    #[serde(default, skip_serializing)]
    seen: BTreeMap<String, Box<RawValue>>,
    /// Tools that were not offered to a client which can be asked less than the one of this record,
    /// and whether that one was offered them since.
    #[serde(default)]
    withheld: BTreeMap<String, bool>,
    /// Items that each kind of clients was last offered; the last entry is the kind that was asked
    /// for last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    offered_to: Vec<OfferedTo>,
    /// Kind of clients that the upstream was first asked for (see [`Clients`](unseen::Clients)).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    clients: String,
    /// Whether the caution of tools is kept for each kind of clients; older versions have not kept
    /// that.
    #[serde(default)]
    has_cautions: bool,
    /// Folder of the record, where the upstream is known in one folder by something else than in
    /// another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) folder: Option<String>,
    /// Whether the upstream is new, so that its first offers are taken as they are.
    #[serde(skip)]
    first: bool,
}

/// Changes of an upstream's offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfferedChanges {
    /// New tools, by name.
    pub added: Vec<String>,
    /// Tools that are gone, by name.
    pub gone: Vec<String>,
    /// Items that its user has not approved as they are: tools by their names, others with their
    /// kind.
    pub pending: Vec<String>,
    /// Items of `pending` that were not logged yet.
    pub untold: Vec<String>,
}

/// Client for which an upstream was asked for its offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// An agent, with its client's capabilities.
    Agent,
    /// Dormouse itself, as a client that can be asked everything, which need not be any agent's.
    Dormouse,
}

/// Rules on the treatment of new items.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'a> {
    /// Its user's policy on changes.
    pub(super) changes: &'a ChangePolicy,
    /// Items that a component in front of it declares, and shows in place of what it offers. What
    /// it does not declare is seen by nobody, and what it declares is its author's word alone, which
    /// is not recorded: another server may have the same upstream.
    pub(super) declared: Option<&'a DeclaredItems>,
    /// Client for which it was asked.
    pub(super) asker: Asker,
}

impl Record {
    /// Makes the record of an upstream that was never asked: its first offers are taken as they are.
    pub(super) fn new() -> Self {
        Self {
            format: FORMAT,
            fetched: seconds_now(),
            offered: Offered::default(),
            unseen: BTreeMap::new(),
            seen: BTreeMap::new(),
            withheld: BTreeMap::new(),
            offered_to: Vec::new(),
            clients: String::new(),
            has_cautions: true,
            folder: None,
            first: true,
        }
    }

    /// Makes the record of an upstream of which there is one that cannot be read: whatever it offers
    /// may be something else by now than what its user has seen under that name.
    pub(super) fn after_damage() -> Self {
        let forgotten = Gated::ALL.map(|kind| (kind, Unseen::forgotten()));
        Self {
            unseen: forgotten.into(),
            first: false,
            ..Self::new()
        }
    }

    /// Records the upstream's current offers. `known_elsewhere` has what the user knows from other
    /// places where it was started; at first only that is taken as it is.
    pub(super) fn update(
        &mut self,
        mut offered: Offered,
        rules: Rules<'_>,
        known_elsewhere: Option<&KnownElsewhere>,
    ) -> OfferedChanges {
        drop_ambiguous(&mut offered);
        let clients = kind_of_clients(&offered);
        // Another version of a server may have learnt something.
        if !is_other_version(&offered.server_info, &self.offered.server_info) {
            offered.reactions = offered.reactions.or(self.offered.reactions);
        }
        if offered.untold.resources {
            offered.resources.clone_from(&self.offered.resources);
        }
        let own = tools_by_name(&offered);
        self.keep_cautions(&clients, &own);
        self.complete(&mut offered, &clients, rules.asker);
        self.separate_clients(&mut offered, &clients);
        let first = std::mem::take(&mut self.first);
        let before = std::mem::replace(&mut self.offered, offered);
        self.fetched = seconds_now();
        let mut news = OfferedChanges::default();
        for kind in Gated::ALL {
            let change = OffersChange {
                kind,
                before: kind.of(&before),
                now: kind.of(&self.offered),
                first,
                first_clients: &self.clients,
                known_elsewhere,
                rules,
            };
            self.unseen
                .entry(kind)
                .or_default()
                .update(change, &mut news);
        }
        self.settle_cautions(&own);
        self.forget_older_cautions_of_accepted(rules, &before);
        news
    }

    /// Forgets the older forms of tools for kinds of clients without agents, where their user
    /// accepts newer ones as they come.
    fn forget_older_cautions_of_accepted(&mut self, rules: Rules<'_>, before: &Offered) {
        let before = tools_by_name(before);
        for (name, tool) in Gated::Tool.of(&self.offered) {
            let treatment = Treatment::of(rules.changes, Gated::Tool, &name, Novelty::Changed);
            let before = before.get(&name);
            let is_same = before.is_some_and(|before| before.get() == tool.get());
            if treatment == Treatment::Current && !is_same {
                self.forget_older_cautions(&name);
            }
        }
    }

    /// Checks whether an item is offered that its user has not seen by this record.
    pub(super) fn has_unknown(&self, offered: &Offered) -> bool {
        Gated::ALL.into_iter().any(|kind| {
            let unseen = self.unseen.get(&kind);
            let mut seen: BTreeSet<String> = kind
                .of(&self.offered)
                .into_iter()
                .map(|(name, _)| name)
                .collect();
            if let Some(unseen) = unseen {
                seen.retain(|name| !unseen.added.contains(name));
                seen.extend(unseen.changed.keys().cloned());
            }
            let mut now = kind.of(offered).into_iter();
            now.any(|(name, _)| !seen.contains(&name))
        })
    }

    /// Checks whether another record is the same, apart from its time.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        self.text_without_time() == other.text_without_time()
    }

    /// Checks whether another record is the same, apart from the kinds of clients that were asked
    /// for.
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

    /// Returns the record's folder; none for the record for all folders.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(PathBuf::from)
    }
}

/// Checks whether two descriptions of a server (MCP `serverInfo`) have different versions. The
/// description need not be the same in both eras.
pub(crate) fn is_other_version(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    match (one.get("version"), other.get("version")) {
        (Some(one), Some(other)) => one != other,
        _ => false,
    }
}

/// Removes objects that two readers could read differently, because they have a member twice.
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

pub(super) fn seconds_now() -> u64 {
    SystemTime::UNIX_EPOCH
        .elapsed()
        .map_or(0, |since| since.as_secs())
}
