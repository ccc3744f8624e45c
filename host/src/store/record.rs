//! What is known of one upstream, and what its user has seen of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::bail;
use dormouse_catalog::{Listing, Provenance, shown};
use dormouse_wit::{Declaration, DeclaredItem, DeclaredTool};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::config::OnChange;
use crate::upstream::Offered;

/// The version of the record's form that this writes, and the newest that it reads.
const FORMAT: u32 = 1;

/// What an upstream has said that it offers, and what of that its user knows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    format: u32,
    /// When it was asked, in seconds since the Unix epoch.
    fetched: u64,
    /// What it offers.
    offered: Offered,
    /// Tools that are no longer what they were when the user last saw them, as
    /// they were then. One that is gone is in here too: it cannot come back as
    /// something else unseen.
    #[serde(default)]
    seen: BTreeMap<String, Box<RawValue>>,
    /// Tools that a client was not shown which can be asked less than the one that
    /// this is recorded from, and whether that one was shown them since.
    #[serde(default)]
    withheld: BTreeMap<String, bool>,
}

/// What is known of an upstream, ready to be shown.
#[derive(Debug)]
pub struct Known {
    /// When it was asked, in seconds since the Unix epoch.
    pub fetched: u64,
    /// The protocol version that it spoke then.
    pub protocol: String,
    /// MCP `serverInfo`.
    pub server_info: Map<String, Value>,
    /// What it wants a model to know of it.
    pub instructions: Option<String>,
    /// What it offers, without the tools that have changed.
    pub listing: Arc<Listing>,
    /// The tools that have changed since the user last saw them.
    pub changed: Vec<Changed>,
    /// Whether it says that it has resources, listed or not.
    pub resources: bool,
    /// The tools that a client was not shown which can be asked less than the one that
    /// this is from: they may be gone, or only there for clients that can be asked more.
    pub doubtful: BTreeSet<String>,
}

/// A tool that is no longer what it was.
#[derive(Debug, Clone)]
pub struct Changed {
    /// Its name.
    pub name: String,
    /// The MCP object as its user knows it.
    pub was: Box<RawValue>,
    /// As it is now.
    pub is: Box<RawValue>,
}

/// What is new about what an upstream offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct News {
    /// Tools that it had not, by name.
    pub added: Vec<String>,
    /// Tools that it has no longer.
    pub gone: Vec<String>,
    /// Tools that are not what their user knows, and so are not to be called.
    pub quarantined: Vec<String>,
}

impl Record {
    /// The record of an upstream that has not said anything yet. Its user may have
    /// seen its tools in a component.
    pub(super) fn of_seen(seen: Option<&Arc<Listing>>) -> Self {
        let tools = seen.iter().flat_map(|listing| &listing.tools);
        Self {
            format: FORMAT,
            fetched: now(),
            offered: Offered {
                tools: tools.map(|tool| tool.tool.clone()).collect(),
                ..Offered::default()
            },
            seen: BTreeMap::new(),
            withheld: BTreeMap::new(),
        }
    }

    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct Envelope {
            format: u32,
        }
        let Envelope { format } = serde_json::from_str(text)?;
        if format > FORMAT {
            bail!("it was written by a newer Dormouse (format `{format}`)");
        }
        Ok(serde_json::from_str(text)?)
    }

    /// Takes note of what the upstream offers now.
    pub(super) fn update(&mut self, mut offered: Offered, on_change: OnChange) -> News {
        self.complete(&mut offered);
        let mut seen = std::mem::take(&mut self.seen);
        let mut before = BTreeSet::new();
        // What could not be shown, nobody has seen.
        for (name, tool) in self.tools().filter(|(_, tool)| shown(tool).is_some()) {
            before.insert(name.clone());
            seen.entry(name).or_insert_with(|| tool.to_owned());
        }
        self.offered = offered;
        self.fetched = now();
        let mut news = News::default();
        let mut gone = before.clone();
        for (name, tool) in self.tools() {
            gone.remove(&name);
            if !before.contains(&name) && shown(tool).is_some() {
                news.added.push(name.clone());
            }
            match seen.get(&name) {
                Some(known) if on_change != OnChange::Accept && !same(known, tool) => {
                    news.quarantined.push(name);
                }
                // Nobody has to remember what is in the list.
                _ => {
                    seen.remove(&name);
                }
            }
        }
        news.gone = gone.into_iter().collect();
        self.seen = seen;
        news
    }

    /// Adds the tools that it may not have shown to a client that can be asked less
    /// than the one that this is recorded from. Otherwise two clients that can be asked
    /// differently would take a tool from each other, and bring it back, for ever.
    fn complete(&mut self, offered: &mut Offered) {
        let now: BTreeSet<String> = keyed(&offered.tools, "name")
            .map(|(name, _)| name)
            .collect();
        if offered.able.covers(&self.offered.able) {
            self.withheld.retain(|name, _| now.contains(name));
            self.withheld.values_mut().for_each(|sure| *sure = true);
            return;
        }
        let mut new: BTreeMap<String, Box<RawValue>> = keyed(&offered.tools, "name")
            .map(|(name, tool)| (name, tool.to_owned()))
            .collect();
        let mut tools = Vec::new();
        // In the order that is known, so that no list changes for nothing.
        for (name, tool) in keyed(&self.offered.tools, "name") {
            if let Some(tool) = new.remove(&name) {
                tools.push(tool);
            } else if !offered.withdrawn.contains(&name) {
                tools.push(tool.to_owned());
                self.withheld.entry(name).or_default();
            }
        }
        let added = keyed(&offered.tools, "name").filter(|(name, _)| new.contains_key(name));
        tools.extend(added.map(|(_, tool)| tool.to_owned()));
        offered.tools = tools;
        offered.able = self.offered.able.clone();
    }

    /// Takes all tools as they are now, and says which were not known like that.
    pub(super) fn approve(&mut self) -> Vec<Changed> {
        let changed = self.changed();
        for tool in &changed {
            self.seen.remove(&tool.name);
        }
        changed
    }

    /// The tools that are not what their user knows.
    #[must_use]
    pub fn changed(&self) -> Vec<Changed> {
        self.tools()
            .filter_map(|(name, tool)| {
                let was = self.seen.get(&name)?;
                Some(Changed {
                    name,
                    was: was.clone(),
                    is: tool.to_owned(),
                })
            })
            .collect()
    }

    /// What it offers, for a component that carries it.
    #[must_use]
    pub fn declaration(&self) -> Declaration {
        let changed = self.changed();
        let hidden = |name: &str| changed.iter().any(|tool| tool.name == name);
        let can = |name: &str| self.offered.capabilities.get(name);
        let subscribe = can("resources").and_then(|resources| resources.get("subscribe"));
        let items = |objects: &[Box<RawValue>], member: &str, subscribe: bool| {
            keyed(objects, member)
                .map(|(key, object)| DeclaredItem {
                    key,
                    object: object.to_owned(),
                    function: None,
                    subscribe,
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
                .filter(|(name, _)| !hidden(name))
                .map(|(name, tool)| DeclaredTool {
                    name,
                    tool: tool.to_owned(),
                    function: None,
                })
                .collect(),
            prompts: items(&self.offered.prompts, "name", false),
            resources: items(
                &self.offered.resources,
                "uri",
                subscribe == Some(&Value::Bool(true)),
            ),
            templates: items(&self.offered.templates, "uriTemplate", false),
            completion: can("completions").is_some(),
            ..Declaration::default()
        }
    }

    pub(super) fn into_known(self) -> serde_json::Result<Known> {
        let listing = Listing::new(self.declaration(), Provenance::Section)?;
        let doubtful = self.withheld.clone().into_iter().filter(|(_, sure)| !sure);
        Ok(Known {
            fetched: self.fetched,
            protocol: self.offered.protocol.clone(),
            changed: self.changed(),
            resources: self.offered.capabilities.contains_key("resources"),
            listing: Arc::new(listing),
            doubtful: doubtful.map(|(name, _)| name).collect(),
            server_info: self.offered.server_info,
            instructions: self.offered.instructions,
        })
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
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(object.get()).ok()?;
        let key: String = serde_json::from_str(members.get(member)?.get()).ok()?;
        taken.insert(key.clone()).then_some((key, &**object))
    })
}

/// Whether two objects tell a model the same. What is in `_meta` is for programs, and
/// what MCP has no room for is not shown: it may come and go, or be mended in another way
/// by another Dormouse.
fn same(one: &RawValue, other: &RawValue) -> bool {
    let told = |object: &RawValue| {
        let mut members: Map<String, Value> = serde_json::from_str(shown(object)?.get()).ok()?;
        members.shift_remove("_meta");
        Some(members)
    };
    one.get() == other.get() || told(one).is_some_and(|one| Some(one) == told(other))
}

fn now() -> u64 {
    SystemTime::UNIX_EPOCH
        .elapsed()
        .map_or(0, |since| since.as_secs())
}
