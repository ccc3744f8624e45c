//! Configured servers.

mod approved_listing;
mod availability;
mod bridge;
mod call;
mod hints;
pub(super) mod items;
mod logins;
mod prepared_tools;
mod signatures;
mod slot_cell;
mod start;
mod user_interaction;

use std::sync::Arc;
use std::time::{Duration, Instant};

use dormouse_catalog::error::Problem;
use dormouse_catalog::{CatalogEntry, ListedTool, Listing, NonconformingItem, ReadError, Stamp};
use dormouse_config::{RefusedServer, ServerConfig};
use dormouse_runtime::{RunningCalls, Slot};
use parking_lot::Mutex;

use approved_listing::WithheldItem;
pub(super) use bridge::DISCOVER;
use call::Tally;
use prepared_tools::PreparedTools;
pub(super) use signatures::signatures;
pub(super) use slot_cell::SlotCell;

use crate::store::{FailedStart, KnownUpstream, Pending};

/// Time for which the last look at a plugin's file is valid, so that simultaneous calls of many
/// agents do not look each. Replacing the file between two calls takes longer.
const LOOK: Duration = Duration::from_micros(250);

/// Configured server, with the knowledge of it at one moment: a plugin at one content of its file,
/// or an upstream as it was when it was last seen.
#[derive(Debug)]
pub struct Server {
    config: ServerConfig,
    listing: Option<Arc<Listing>>,
    /// Items that are not in the listing until its user has approved them.
    withheld: Vec<WithheldItem>,
    /// Declaration of a component in front of an upstream, shown or not.
    declared: Option<Arc<Listing>>,
    /// Stamp of the plugin's file.
    stamp: Option<Stamp>,
    /// Time at which the file was last seen to have this stamp.
    looked: Mutex<Option<Instant>>,
    problem: Option<String>,
    /// Record of its upstream.
    known: Option<Arc<KnownUpstream>>,
    /// Pending items that concern the component in front of its upstream; none where it has none.
    pending_of_component: Arc<Pending>,
    /// Last start of its upstream, where nothing is known of that and the start has failed.
    failed_start: Option<FailedStart>,
    /// Slot, made by the first call. The server's next version shares it if everything that matters
    /// to running instances is unchanged.
    slot: Arc<SlotCell>,
    /// Callables and texts of its tools.
    pub(super) prepared: PreparedTools,
    tally: Arc<Tally>,
}

/// Checks whether both are one, or there is neither.
fn is_same<T>(one: Option<&Arc<T>>, other: Option<&Arc<T>>) -> bool {
    one.map(Arc::as_ptr) == other.map(Arc::as_ptr)
}

/// Data that was read for a server: empty, if it is disabled.
#[derive(Default)]
pub(super) struct ServerData {
    /// Its component, if it has one of its own.
    pub(super) entry: Option<Result<Arc<CatalogEntry>, ReadError>>,
    /// Record of its upstream, if it has one.
    pub(super) known: Option<Arc<KnownUpstream>>,
    /// Last start of an upstream of which nothing is known, where that has failed.
    pub(super) failed_start: Option<FailedStart>,
}

impl Server {
    /// Returns the server as it is configured and was read now: `old`, if nothing has changed.
    pub(super) fn next(
        old: Option<&Arc<Self>>,
        config: ServerConfig,
        read: ServerData,
    ) -> Arc<Self> {
        let ServerData {
            entry,
            known,
            failed_start,
        } = read;
        let same_file = |old: &&Arc<Self>| old.config.adapter == config.adapter;
        let (read, problem) = match entry {
            None => (None, config.refused().map(RefusedServer::for_models)),
            Some(Ok(entry)) => (Some((entry.listing.clone(), entry.stamp)), None),
            // A file that is damaged may be one that is being written: what it
            // declared until now stays in the list, so that agents do not lose
            // it for a moment. A file that is gone has nothing in the list.
            Some(Err(error)) => {
                let kept = match error.problem {
                    Problem::Missing => None,
                    _ => old.filter(same_file).and_then(|old| old.read()),
                };
                (kept, Some(error.to_string()))
            }
        };
        let (mut listing, stamp) = read.unzip();
        let declared = listing.clone().filter(|_| config.bridge().is_some());
        let unchanged = old.filter(|old| {
            is_same(old.known.as_ref(), known.as_ref())
                && is_same(old.declared.as_ref(), declared.as_ref())
        });
        let pending_of_component = match unchanged {
            Some(old) => Arc::clone(&old.pending_of_component),
            None => {
                let both = known.as_deref().zip(declared.as_deref());
                let pending = both.map(|(known, declared)| known.pending.of_component(declared));
                Arc::new(pending.unwrap_or_default())
            }
        };
        let mut withheld = Vec::new();
        if let (true, Some(upstream)) = (config.enabled, config.bridge()) {
            let approved = match (listing, config.component()) {
                // What it offers is what it declares, whatever its upstream does.
                (Some(declared), _) => Some(bridge::adapted(
                    &declared,
                    upstream,
                    known.as_deref(),
                    &pending_of_component,
                )),
                (None, Some(_)) => None,
                (None, None) => Some(bridge::listing(
                    &config.name,
                    upstream,
                    known.as_deref(),
                    failed_start.as_ref(),
                )),
            };
            listing = approved.map(|approved| {
                withheld = approved.withheld;
                approved.shown
            });
        }
        let listing = listing.map(|listing| hints::overridden(listing, &config.hints));
        let listing = listing.map(|listing| user_interaction::marked(listing, &config));
        let (mut slot, mut tally) = (Arc::default(), Arc::default());
        if let Some(old) = old {
            let same_content = match (&old.listing, &listing) {
                (Some(one), Some(other)) => old.stamp == stamp && same(one, other),
                (None, None) => true,
                _ => false,
            };
            let same_known =
                is_same(old.known.as_ref(), known.as_ref()) && old.failed_start == failed_start;
            // That of a disabled server is closed at each change, and none is made of it.
            let is_open = !config.enabled || !old.slot.is_closed();
            let same_all = is_open && same_content && same_known;
            if same_all && old.problem == problem && old.config == config {
                return old.clone();
            }
            // What an upstream offers makes no difference to the bridge before it.
            let same_code =
                is_open && old.stamp == stamp && (same_content || config.bridge().is_some());
            if config.enabled && same_code && old.problem == problem && old.runs_like(&config) {
                slot = old.slot.clone();
            }
            tally = old.tally.clone();
        }
        Arc::new(Self {
            config,
            listing,
            withheld,
            declared,
            stamp,
            looked: Mutex::default(),
            problem,
            known,
            pending_of_component,
            failed_start,
            slot,
            prepared: PreparedTools::default(),
            tally,
        })
    }

    /// Checks whether another configuration makes no difference to running instances.
    fn runs_like(&self, other: &ServerConfig) -> bool {
        let ServerConfig {
            adapter,
            instance,
            grants,
            secrets,
            limits,
            settings,
            // These are about how it is shown, or where that is written.
            name: _,
            enabled: _,
            prefix: _,
            ignored_prefix: _,
            expose: _,
            hints: _,
            confirm: _,
            from: _,
            denied: _,
            off_in: _,
            origin: _,
        } = &self.config;
        (adapter, instance, grants, secrets, limits, settings)
            == (
                &other.adapter,
                &other.instance,
                &other.grants,
                &other.secrets,
                &other.limits,
                &other.settings,
            )
    }

    /// Returns its configuration.
    #[must_use]
    pub fn config(&self) -> &ServerConfig {
        &self.config
    }

    /// Returns its plugin's declarations, as far as they could ever be read; nothing is read of a
    /// disabled server.
    #[must_use]
    pub fn listing(&self) -> Option<&Arc<Listing>> {
        self.listing.as_ref()
    }

    /// Returns the stamp of its plugin's file when that was read.
    #[must_use]
    pub fn stamp(&self) -> Option<&Stamp> {
        self.stamp.as_ref()
    }

    /// Checks whether its plugin's file is unchanged since it was read, as far as one look at its
    /// folder can tell.
    pub(super) fn is_current(&self) -> bool {
        let (true, Some(component)) = (self.config.enabled, self.config.component()) else {
            return true;
        };
        let Some(stamp) = self.stamp.filter(|_| self.problem.is_none()) else {
            return false;
        };
        let mut looked = self.looked.lock();
        if looked.is_some_and(|at| at.elapsed() < LOOK) {
            return true;
        }
        let current = std::fs::metadata(component).is_ok_and(|now| Stamp::of(&now) == stamp);
        *looked = current.then(Instant::now);
        current
    }

    /// Returns the record of its upstream.
    #[must_use]
    pub fn known(&self) -> Option<&Arc<KnownUpstream>> {
        self.known.as_ref()
    }

    fn read(&self) -> Option<(Arc<Listing>, Stamp)> {
        // What is shown has been made of what it declares.
        let declared = self.declared.as_ref().or(self.listing.as_ref());
        Some((Arc::clone(declared?), self.stamp?))
    }

    /// Returns the reason for which its plugin cannot be used as it is now.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Returns its declarations, if its tools are to be listed.
    #[must_use]
    pub fn listed(&self) -> Option<&Arc<Listing>> {
        self.listing.as_ref().filter(|_| self.config.enabled)
    }

    /// Returns the parts of its tools, prompts and resources that do not conform to MCP, where
    /// these are to be listed.
    #[must_use]
    pub fn odd(&self) -> &[NonconformingItem] {
        self.listed().map_or(&[], |listing| &listing.odd)
    }

    pub(super) fn slot(&self) -> Option<&Arc<Slot>> {
        self.slot.get()
    }

    /// Returns its declaration of a tool, where that is to be listed. Whether agents see the tool depends
    /// on other servers, too.
    pub(super) fn declared_tool(&self, tool: &str) -> Option<&ListedTool> {
        let mut tools = self.listed()?.tools.iter();
        tools.find(|declared| declared.name == tool)
    }

    /// Returns the last start of its upstream, where nothing is known of that and the start has failed.
    #[must_use]
    pub fn failed_start(&self) -> Option<&FailedStart> {
        self.failed_start.as_ref().filter(|_| self.is_unknown())
    }

    /// Ends its calls for good: its next version has another slot.
    pub(super) fn end_calls(&self) {
        self.slot.close(RunningCalls::End);
    }

    /// Closes its slot, because the server is replaced by `next` or gone. Running calls go on if
    /// `next` runs in the same way: then the slot is returned.
    pub(super) fn replaced_by(&self, next: Option<&Self>) -> Option<&Arc<SlotCell>> {
        if next.is_some_and(|next| next.config.enabled && Arc::ptr_eq(&next.slot, &self.slot)) {
            return None;
        }
        let goes_on = next.is_some_and(|next| next.continues(&self.config));
        self.slot.close(match goes_on {
            true => RunningCalls::GoOn,
            false => RunningCalls::End,
        });
        goes_on.then_some(&self.slot)
    }

    /// Whether calls that run by an earlier configuration may go on to their end: nothing that they
    /// have was taken away.
    pub(super) fn continues(&self, before: &ServerConfig) -> bool {
        let fingerprint = |config: &ServerConfig| Some(config.bridge()?.fingerprint.clone());
        let now = &self.config;
        now.enabled
            && fingerprint(now) == fingerprint(before)
            && now.component() == before.component()
            && now.grants.include(&before.grants)
            // A call may wait for a text that comes from elsewhere now.
            && before.secrets.iter().all(|one| {
                let mut secrets = now.secrets.iter();
                secrets.any(|secret| secret.is_same_but_for_source(one))
            })
    }
}

/// Checks whether two listings have the same content. A file that has just been written is read
/// again although it looks the same, because it may not be.
fn same(old: &Arc<Listing>, new: &Arc<Listing>) -> bool {
    Arc::ptr_eq(old, new) || declared(old).eq(declared(new)) && old.odd == new.odd
}

/// Returns the texts of all MCP objects of a listing.
fn declared(listing: &Listing) -> impl Iterator<Item = &str> {
    let items = listing.items().map(|item| &item.object);
    let all = listing.tools.iter().map(|tool| &tool.tool).chain(items);
    all.map(|object| object.get())
}
