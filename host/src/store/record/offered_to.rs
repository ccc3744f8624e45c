//! Kinds of clients, and what each of them is offered.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_protocol::DeclaredCapabilities;
use dormouse_upstream::{MODERN, Offered};
use rmcp::model::ProtocolVersion;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::store::item::{Gated, OfferedForms};

/// Most kinds of clients that are kept one by one.
const MAX_KINDS_OF_CLIENTS: usize = 16;

/// Most bytes of the names of all items of all kinds of clients. The kind that was asked for last is
/// kept in any case.
const MAX_ALL_NAMES_BYTES: usize = 4 << 20;

/// Most bytes of the names of prompts, and of those of resource templates.
const MAX_NAMES_BYTES: usize = 1 << 20;

/// Placeholder for a revision of MCP with a handshake that is not known.
const SOME_HANDSHAKE: &str = "handshake";

/// Items that clients of one kind were last offered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct OfferedTo {
    /// Kind (see [`Clients`](super::unseen::Clients)); empty for all that an older Dormouse has
    /// asked for.
    pub(super) clients: String,
    /// Capabilities of the clients.
    able: DeclaredCapabilities,
    /// Tools by name.
    tools: BTreeSet<String>,
    /// Other items by name; empty where an older Dormouse has not kept them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    others: BTreeMap<Gated, BTreeSet<String>>,
    /// Forms in which they are offered; empty where an older Dormouse has not kept them.
    #[serde(default, skip_serializing_if = "OfferedForms::is_empty")]
    pub(super) forms: OfferedForms,
    /// Tools that need another caution in the form that these clients are offered than in the
    /// recorded form, each with only the parts that decide its caution (see
    /// [`caution`](super::caution)). This includes tools that are no longer listed because of other
    /// clients' offers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) cautions: BTreeMap<String, Box<RawValue>>,
    /// Whether this kind has never had an agent: only Dormouse has asked for it, to read the
    /// upstream's offers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_of_dormouse_alone: bool,
    /// Hash of the version in the server's description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Whether a kind of clients that was offered this version has been offered another one since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_of_older_release: bool,
}

impl OfferedTo {
    pub(super) fn new(clients: &str, offered: &Offered) -> Self {
        let mut new = Self {
            clients: clients.to_owned(),
            able: offered.able.clone(),
            tools: names(Gated::Tool, offered).collect(),
            others: BTreeMap::new(),
            forms: OfferedForms::of(offered),
            cautions: BTreeMap::new(),
            is_of_dormouse_alone: false,
            version: offered.server_info.get("version").map(|version| {
                let hash = blake3::hash(version.to_string().as_bytes());
                hash.to_hex().to_string()
            }),
            is_of_older_release: false,
        };
        new.add_others(offered);
        new
    }

    fn add_others(&mut self, offered: &Offered) {
        for kind in Gated::ALL {
            if kind == Gated::Tool {
                continue;
            }
            let mut bytes = 0;
            let names = names(kind, offered).filter(|name| {
                bytes += name.len();
                bytes <= MAX_NAMES_BYTES
            });
            self.others.insert(kind, names.collect());
        }
    }

    /// Adds the names of items other than tools, which an older Dormouse has not kept, from what it
    /// has recorded last.
    pub(super) fn complete_others(&mut self, recorded: &Offered) {
        if self.others.is_empty() {
            self.add_others(recorded);
        }
    }

    /// Takes the names of the items of one kind, and their forms, from the earlier offer to these
    /// clients, because they were not told now.
    pub(super) fn keep_names(&mut self, kind: Gated, all: &[Self]) {
        let before = all.iter().find(|of| of.clients == self.clients);
        if let Some(before) = before {
            self.forms.keep_untold(&before.forms);
        }
        let names = before.and_then(|before| before.names(kind)).cloned();
        self.others.insert(kind, names.unwrap_or_default());
    }

    /// Returns the names of the items of one kind; none where they are not known.
    pub(super) fn names(&self, kind: Gated) -> Option<&BTreeSet<String>> {
        match kind {
            Gated::Tool => Some(&self.tools),
            other => self.others.get(&other),
        }
    }

    /// Checks whether these clients are offered a tool of that name.
    pub(super) fn has_tool(&self, name: &str) -> bool {
        self.tools.contains(name)
    }

    /// Removes the items of one kind whose names are not to be kept.
    fn retain(&mut self, kind: Gated, is_kept: impl Fn(&str) -> bool) {
        let names = match kind {
            Gated::Tool => Some(&mut self.tools),
            other => self.others.get_mut(&other),
        };
        if let Some(names) = names {
            names.retain(|name| is_kept(name));
        }
        self.forms.retain(kind, is_kept);
    }

    /// Returns the names of the items of one kind that any clients are offered.
    pub(super) fn anywhere(all: &[Self], kind: Gated) -> BTreeSet<String> {
        let names = all.iter().filter_map(|of| of.names(kind));
        names.flatten().cloned().collect()
    }

    /// Replaces the earlier offer to these clients. Items that are no longer offered to them count
    /// as gone for all kinds of clients, until a kind that is asked for later is offered them
    /// again. So do items that are not offered to these clients, though they can be asked all that
    /// the others can, and the tools that `offered` has withdrawn. Of a list that it has not told,
    /// nothing is gone. Returns the kinds of clients that are too many.
    pub(super) fn replace_in(mut self, all: &mut Vec<Self>, offered: &Offered) -> Vec<Self> {
        let before = all.iter().position(|of| of.clients == self.clients);
        let before = before.map(|index| all.remove(index));
        if let Some(before) = &before {
            // An agent of this kind may still be connected.
            self.is_of_dormouse_alone &= before.is_of_dormouse_alone;
            let is_other_release = before.version.is_some()
                && self.version.is_some()
                && before.version != self.version;
            // A server may say another version to each kind of clients: that alone is no release.
            for other in all.iter_mut().filter(|_| is_other_release) {
                other.is_of_older_release |= other.version == before.version;
            }
        }
        let told = Gated::ALL.into_iter();
        for kind in told.filter(|kind| kind.is_told_of(offered)) {
            let none = BTreeSet::new();
            let own = self.names(kind).unwrap_or(&none);
            let before = before.iter().filter_map(|before| before.names(kind));
            let gone = before.flatten().filter(|name| !own.contains(*name));
            let withdrawn = offered.withdrawn.iter().filter(|_| kind == Gated::Tool);
            let gone: BTreeSet<&str> = gone.chain(withdrawn).map(String::as_str).collect();
            for other in &mut *all {
                let is_covered = self.is_of_revision_of(other) && self.able.covers(&other.able);
                other.retain(kind, |name| {
                    !gone.contains(name) && (!is_covered || own.contains(name))
                });
            }
        }
        all.push(self);
        let mut bytes = 0;
        let latest = all.iter().rev().take(MAX_KINDS_OF_CLIENTS);
        let kept = latest.take_while(|of| {
            bytes += of.names_bytes();
            bytes <= MAX_ALL_NAMES_BYTES
        });
        let too_many = all.len() - kept.count().max(1);
        all.drain(..too_many).collect()
    }

    fn names_bytes(&self) -> usize {
        let names = self.others.values().chain([&self.tools]).flatten();
        names.map(String::len).sum()
    }

    fn is_of_revision_of(&self, other: &Self) -> bool {
        let revision = |of: &Self| of.clients.split(' ').next().map(str::to_owned);
        // Of some an older Dormouse has not kept it.
        other.clients.is_empty()
            || other.clients.starts_with(SOME_HANDSHAKE)
            || revision(self) == revision(other)
    }
}

/// Returns the kind of clients that an offer was made to (see [`Clients`](super::unseen::Clients)).
pub(super) fn kind_of_clients(offered: &Offered) -> String {
    // A server may name whatever revision it likes, and must not make a kind of each.
    let is_known = |revision: &ProtocolVersion| revision.as_str() == offered.protocol;
    let revision = match offered.protocol.as_str() {
        MODERN => "stateless",
        revision if ProtocolVersion::KNOWN_VERSIONS.iter().any(is_known) => revision,
        _ => SOME_HANDSHAKE,
    };
    let able = serde_json::to_string(&offered.able).unwrap_or_default();
    format!("{revision} {able}")
}

fn names(kind: Gated, offered: &Offered) -> impl Iterator<Item = String> {
    kind.of(offered).into_iter().map(|(name, _)| name)
}
