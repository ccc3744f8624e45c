//! Knowledge of an upstream, as its user has approved it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dormouse_catalog::{Listing, NonconformingItem, Provenance, What};
use dormouse_upstream::Reactions;
use dormouse_wit::{Declaration, DeclaredItem, DeclaredTool};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Record;
use crate::store::item::{Gated, OfferedForms, Pending, key, keyed, note_shown};

/// Knowledge of an upstream, ready to be shown.
#[derive(Debug, Clone)]
pub struct KnownUpstream {
    /// Time at which its offers were read, in seconds since the Unix epoch.
    pub fetched: u64,
    /// Protocol version of that connection.
    pub protocol: String,
    /// Its reactions to the first requests of MCP's eras.
    pub reactions: Reactions,
    /// MCP `serverInfo`.
    pub server_info: Map<String, Value>,
    /// Instructions for models, as its user has approved them.
    pub instructions: Option<String>,
    /// Offered items that its user has approved, as they have approved them.
    pub listing: Arc<Listing>,
    /// Items that its user has not approved as they are.
    pub pending: Pending,
    /// Forms of tools of which they have approved none that some kinds of clients are offered: what a
    /// component declares is to be as careful as each of them.
    pub cautions: BTreeMap<String, Vec<Box<RawValue>>>,
    /// Items that its user has approved and that have gone since they last approved something, each
    /// with its kind.
    pub gone: Vec<(Gated, String)>,
    /// Whether it declares resources, listed or not.
    pub resources: bool,
    /// Whether it declares notifications of changes of its resources.
    subscribes: bool,
    /// Tools that a client which can be asked less was not offered: they may be gone, or only be
    /// there for clients that can be asked more.
    pub doubtful: BTreeSet<String>,
    /// Whether there are items of other kinds to which that applies.
    pub has_other_doubtful: bool,
    /// Tools and prompts that are gone, and that an open connection still has: their names are not
    /// others'.
    pub kept: BTreeSet<(Gated, String)>,
    /// Forms in which each kind of clients was last offered the items by which requests are judged.
    pub(super) forms: BTreeMap<String, OfferedForms>,
}

impl KnownUpstream {
    /// Returns the same knowledge with resources added that it does not list already.
    #[must_use]
    pub fn with_resources<'r>(&self, added: impl Iterator<Item = &'r RawValue>) -> Self {
        let added: Vec<Box<RawValue>> = added.map(ToOwned::to_owned).collect();
        let items = keyed(&added, "uri").map(|(key, object)| DeclaredItem {
            key,
            object: object.to_owned(),
            function: None,
            subscribe: self.subscribes,
        });
        let declaration = Declaration {
            resources: items.collect(),
            ..Declaration::default()
        };
        let mut known = self.clone();
        let Ok(added) = Listing::new(declaration, Provenance::Section) else {
            return known;
        };
        let listing = Arc::make_mut(&mut known.listing);
        let mut uris: BTreeSet<String> = listing
            .resources
            .iter()
            .map(|one| one.key.clone())
            .collect();
        let new = added
            .resources
            .into_iter()
            .filter(|one| uris.insert(one.key.clone()));
        listing.resources.extend(new);
        listing.odd.extend(added.odd);
        known
    }
}

impl Record {
    /// Returns the offered items that its user has approved, as they have approved them.
    #[must_use]
    pub fn declaration(&self) -> Declaration {
        let can = |name: &str| self.offered.capabilities.get(name);
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
                self.has_subscriptions(),
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

    /// Checks whether the upstream declares notifications of changes of its resources.
    fn has_subscriptions(&self) -> bool {
        let resources = self.offered.capabilities.get("resources");
        let subscribe = resources.and_then(|resources| resources.get("subscribe"));
        subscribe == Some(&Value::Bool(true))
    }

    pub(in super::super) fn into_known(self) -> serde_json::Result<KnownUpstream> {
        let mut listing = Listing::new(self.declaration(), Provenance::Section)?;
        self.note_listed(&listing);
        listing.odd.extend(self.repeated());
        let instructions = Gated::Instructions.of(&self.offered).into_iter().next();
        let instructions = instructions
            .and_then(|(name, text)| self.approved(Gated::Instructions, &name, &text))
            .and_then(|text| serde_json::from_str(text.get()).ok());
        let doubtful = self.withheld.clone().into_iter().filter(|(_, sure)| !sure);
        let has_other_doubtful = self.has_other_doubtful();
        let forms = self.offered_to.clone().into_iter();
        let forms = forms.map(|of| (of.clients, of.forms));
        Ok(KnownUpstream {
            has_other_doubtful,
            fetched: self.fetched,
            protocol: self.offered.protocol.clone(),
            reactions: self.offered.reactions,
            pending: self.pending(),
            cautions: self.cautions_of_added(),
            gone: self.gone(),
            resources: self.offered.capabilities.contains_key("resources"),
            subscribes: self.has_subscriptions(),
            listing: Arc::new(listing),
            doubtful: doubtful.map(|(name, _)| name).collect(),
            kept: BTreeSet::new(),
            forms: forms.collect(),
            server_info: self.offered.server_info,
            instructions,
        })
    }

    fn cautions_of_added(&self) -> BTreeMap<String, Vec<Box<RawValue>>> {
        let unseen = self.unseen.get(&Gated::Tool);
        let added = unseen.into_iter().flat_map(|unseen| &unseen.added);
        let cautions = added.map(|name| {
            let cautions = self.cautions(name).map(ToOwned::to_owned);
            (name.clone(), cautions.collect::<Vec<_>>())
        });
        cautions
            .filter(|(_, cautions)| !cautions.is_empty())
            .collect()
    }

    /// Remembers of changed items that they can be shown as they were, where they are listed like
    /// that: they need not be judged once more to tell what is pending.
    fn note_listed(&self, listing: &Listing) {
        for (kind, unseen) in self.unseen.iter().filter(|(_, of)| !of.changed.is_empty()) {
            let tools = listing.tools.iter().filter(|_| *kind == Gated::Tool);
            let items = match kind {
                Gated::Prompt => &listing.prompts[..],
                Gated::Template => &listing.templates[..],
                Gated::Tool | Gated::Instructions => &[],
            };
            let tools = tools.map(|tool| (&tool.name, &tool.tool));
            for (name, object) in tools.chain(items.iter().map(|item| (&item.key, &item.object))) {
                let was = unseen.changed.get(name);
                if was.is_some_and(|was| was.get() == object.get()) {
                    note_shown(*kind, name, object);
                }
            }
        }
    }

    /// Checks whether there are items other than tools that the client which was asked for last is
    /// not offered.
    fn has_other_doubtful(&self) -> bool {
        let last = self.offered_to.last();
        Gated::ALL.into_iter().any(|kind| {
            let names = last.and_then(|last| last.names(kind));
            let names = names.filter(|_| kind != Gated::Tool);
            let mut all = kind.of(&self.offered).into_iter();
            names.is_some_and(|names| all.any(|(name, _)| !names.contains(&name)))
        })
    }

    /// Returns the items that are left out because one of the same name precedes them: once for
    /// each name that a user has approved.
    fn repeated(&self) -> Vec<NonconformingItem> {
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
            odd.extend(repeated.map(|(name, times)| NonconformingItem {
                what,
                why: format!("it is listed {times} times, and the first one is shown"),
                name,
                shown: false,
            }));
        }
        odd
    }

    /// Returns its tools by name: of several with one name, the first.
    fn tools(&self) -> impl Iterator<Item = (String, &RawValue)> {
        keyed(&self.offered.tools, "name")
    }
}
