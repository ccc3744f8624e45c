//! Configured servers.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dormouse_catalog::error::Problem;
use dormouse_catalog::{
    Entry, ListedItem, ListedTool, Listing, NonconformingItem, ReadError, Stamp,
};
use dormouse_config::{Bridge, RefusedServer, ServerConfig};
use dormouse_policy::NEVER;
use dormouse_protocol::{Answer, QuestionLimit, SessionClients};
use dormouse_runtime::{
    Arguments, Call, CallError, Callable, Cause, Code, ENDED, GuestRequest, RunningCalls, Schemas,
    Slot, Target, Tool,
};
use dormouse_text::visible::visible_line;
use dormouse_upstream::{Setup, Upstream};
use dormouse_wit::Function;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::roster_policy::RosterPolicy;
use super::slot_cell::SlotCell;
use super::uris::{has_page, is_page};
use super::{Context, NoSuchTool, Refusal, Roster, bridge, names};
use crate::store::{
    Gated, KnownUpstream, Pending, PendingItem, Selection, Treatment, takes_other_arguments,
};

/// Time for which the last look at a plugin's file is valid, so that simultaneous calls of many
/// agents do not look each. Replacing the file between two calls takes longer.
const LOOK: Duration = Duration::from_micros(250);

/// Configured server, with the knowledge of it at one moment: a plugin at one content of its file,
/// or an upstream as it was when it was last seen.
#[derive(Debug)]
pub struct Server {
    config: ServerConfig,
    listing: Option<Arc<Listing>>,
    /// Declaration of a component in front of an upstream, shown or not.
    declared: Option<Arc<Listing>>,
    /// Stamp of the plugin's file.
    stamp: Option<Stamp>,
    /// Time at which the file was last seen to have this stamp.
    looked: Mutex<Option<Instant>>,
    problem: Option<String>,
    /// Record of its upstream.
    known: Option<Arc<KnownUpstream>>,
    /// Slot, made by the first call. The server's next version shares it if everything that matters
    /// to running instances is unchanged.
    slot: Arc<SlotCell>,
    /// Callables of the tools that have been called, by their index among all of them: parsed once.
    callable: Mutex<HashMap<usize, Arc<Callable>>>,
    tally: Arc<Tally>,
}

/// Counts of a server, kept as long as its host runs.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) calls: AtomicU64,
    pub(super) running: AtomicU64,
}

/// Data that was read for a server: empty, if it is disabled.
#[derive(Default)]
pub(super) struct Read {
    /// Its component, if it has one of its own.
    pub(super) entry: Option<Result<Arc<Entry>, ReadError>>,
    /// Record of its upstream, if it has one.
    pub(super) known: Option<Arc<KnownUpstream>>,
}

impl Server {
    /// Returns the server as it is configured and was read now: `old`, if nothing has changed.
    pub(super) fn next(old: Option<&Arc<Self>>, config: ServerConfig, read: Read) -> Arc<Self> {
        let Read { entry, known } = read;
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
        if let (true, Some(upstream)) = (config.enabled, config.bridge()) {
            listing = match (listing, config.component()) {
                // What it offers is what it declares, whatever its upstream does.
                (Some(declared), _) => Some(bridge::adapted(
                    &declared,
                    &upstream.changes,
                    known.as_deref(),
                )),
                (None, Some(_)) => None,
                (None, None) => Some(bridge::listing(&config.name, upstream, known.as_deref())),
            };
        }
        if let Some(old) = old {
            let same_content = match (&old.listing, &listing) {
                (Some(one), Some(other)) => old.stamp == stamp && same(one, other),
                (None, None) => true,
                _ => false,
            };
            let same_known = match (&old.known, &known) {
                (Some(old), Some(new)) => Arc::ptr_eq(old, new),
                (None, None) => true,
                _ => false,
            };
            if same_content && same_known && old.problem == problem && old.config == config {
                return old.clone();
            }
            // What an upstream offers makes no difference to the bridge before it.
            let same_code = old.stamp == stamp && (same_content || config.bridge().is_some());
            let slot = if config.enabled
                && same_code
                && old.problem == problem
                && old.runs_like(&config)
            {
                old.slot.clone()
            } else {
                Arc::default()
            };
            return Arc::new(Self {
                config,
                listing,
                declared,
                stamp,
                looked: Mutex::default(),
                problem,
                known,
                slot,
                callable: Mutex::default(),
                tally: old.tally.clone(),
            });
        }
        Arc::new(Self {
            config,
            listing,
            declared,
            stamp,
            looked: Mutex::default(),
            problem,
            known,
            slot: Arc::default(),
            callable: Mutex::default(),
            tally: Arc::default(),
        })
    }

    /// Checks whether another configuration makes no difference to running instances.
    fn runs_like(&self, other: &ServerConfig) -> bool {
        let ServerConfig {
            adapter,
            instance,
            grants,
            limits,
            settings,
            // These are about how it is shown, or where that is written.
            name: _,
            enabled: _,
            prefix: _,
            from: _,
            denied: _,
            off_in: _,
            origin: _,
        } = &self.config;
        (adapter, instance, grants, limits, settings)
            == (
                &other.adapter,
                &other.instance,
                &other.grants,
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

    fn read(&self) -> Option<(Arc<Listing>, Stamp)> {
        Some((self.listing.clone()?, self.stamp?))
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

    pub(super) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns the state of a server that may not be started or connected by anyone, with the reason
    /// or a hint. None where it may.
    #[must_use]
    pub fn switched_off(&self) -> Option<String> {
        if let Some(why) = &self.config.denied {
            return Some(format!("disabled: a policy denies it: {why}"));
        }
        if self.config.enabled {
            return None;
        }
        let name = &self.config.name;
        Some(match self.config.off_in {
            Some(client) => format!(
                "disabled for the client `{client}`, and on for others\n                 hint: it is off in that client's own files, or in `clients` of `[servers.{name}]` \
                 in dormouse.toml"
            ),
            None => format!("disabled\nhint: `dormouse enable {name}` switches it on"),
        })
    }

    /// Returns its upstream, if that may be started or connected: every command that does so asks
    /// here.
    ///
    /// # Errors
    /// It has none, is switched off, or something has to be set first: a sentence for the user.
    pub fn reachable(&self) -> Result<&Bridge, String> {
        if let Some(refused) = self.config.refused() {
            return Err(refused.for_models());
        }
        let bridge = self.config.bridge();
        let bridge = bridge.ok_or("it is a plugin, whose tools are known from its file")?;
        if let Some(why) = self.switched_off() {
            return Err(format!("it is {why}"));
        }
        match bridge.needs.first() {
            Some(need) => Err(need.for_models(&self.config.origin.scope).to_owned()),
            None => Ok(bridge),
        }
    }

    /// Returns its declarations, if it may be called.
    fn available(&self) -> Result<&Arc<Listing>, NoSuchTool> {
        let name = &self.config.name;
        let unavailable = |state: String| NoSuchTool::Unavailable {
            server: name.clone(),
            state,
        };
        if let Some(why) = self.switched_off() {
            return Err(unavailable(why));
        }
        self.listing.as_ref().ok_or_else(|| {
            let problem = self.problem.as_deref().unwrap_or("its file was never read");
            unavailable(format!("failed: {problem}"))
        })
    }

    /// Returns the pending items, of those that concern its shown ones.
    #[must_use]
    pub fn pending(&self) -> Cow<'_, Pending> {
        match (&self.known, self.config.component(), &self.declared) {
            (Some(known), None, _) => Cow::Borrowed(&known.pending),
            (Some(known), Some(_), Some(_)) => Cow::Owned(known.pending.selected(self.selection())),
            (None, ..) | (Some(_), Some(_), None) => Cow::Owned(Pending::default()),
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

    /// Returns the tools that its upstream has and its user has approved, and that a filter leaves
    /// out. None of a component, which declares its own.
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        let known = self.known.as_ref();
        let known = known.filter(|_| self.config.enabled && self.config.component().is_none());
        let tools = known.into_iter().flat_map(|known| &known.listing.tools);
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
    pub(super) fn selection(&self) -> Selection<'_> {
        Selection {
            component: self.declared(),
            tools: None,
        }
    }

    /// Returns the declarations of the component in front of its upstream, shown or not; none where
    /// there is no component.
    pub(super) fn declared(&self) -> Option<&Arc<Listing>> {
        let has_component = self.config.component().is_some();
        self.declared.as_ref().filter(|_| has_component)
    }

    /// Returns the treatment of a pending item.
    pub(super) fn treatment(&self, item: &PendingItem) -> Treatment {
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
        let outdated = outdated.flat_map(|(declared, known)| bridge::outdated(declared, known));
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
    pub(super) fn declares_other_arguments(&self, tool: &str) -> bool {
        let declared = self.declared().map(|declared| declared.tools.iter());
        let declared = declared.and_then(|mut tools| tools.find(|known| known.name == tool));
        let outdated = self.outdated();
        declared
            .zip(outdated.get(tool))
            .is_some_and(|(was, is)| takes_other_arguments(&was.tool, &is.tool))
    }

    /// Checks whether a tool of it is shown as its user has approved it, and takes other arguments
    /// by now.
    pub(super) fn takes_other_arguments(&self, tool: &str) -> bool {
        let pending = self.known.as_ref().map(|known| &known.pending);
        let waiting = pending.and_then(|pending| pending.find(Gated::Tool, tool));
        waiting.is_some_and(|item| {
            let was = item.was.as_ref();
            self.treatment(item) == Treatment::Frozen
                && was.is_some_and(|was| takes_other_arguments(was, &item.is))
        })
    }

    /// Returns all known listings of it, shown or not; an item may be in several.
    fn listings(&self) -> impl Iterator<Item = &Arc<Listing>> {
        let of_upstream = self.known.as_ref().map(|known| &known.listing);
        self.listing.iter().chain(&self.declared).chain(of_upstream)
    }

    /// Returns its pending tools.
    fn waiting_tools(&self) -> impl Iterator<Item = &PendingItem> {
        let pending = self.known.iter().flat_map(|known| known.pending.iter());
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

    /// Returns the names of items of a kind that are withheld until its user has approved them,
    /// each with whether they know it as something else. None where a component, whose items are
    /// its own, is in front of the upstream.
    pub(super) fn withheld(&self, kind: Gated) -> impl Iterator<Item = (&str, bool)> {
        let is_asked = self.config.enabled && self.config.component().is_none();
        let known = self.known.iter().filter(move |_| is_asked);
        let pending = known.flat_map(|known| known.pending.iter());
        let withheld = pending
            .filter(move |item| item.kind == kind)
            .filter(|item| self.treatment(item) == Treatment::Withheld);
        withheld.map(|item| (item.name.as_str(), item.was.is_some()))
    }

    /// Returns the known names of its tools, shown or not; a name may come more than once.
    pub(super) fn known_tools(&self) -> impl Iterator<Item = &str> {
        let tools = self.listings().flat_map(|listing| &listing.tools);
        let waiting = self.waiting_tools().map(|item| item.name.as_str());
        tools.map(|tool| tool.name.as_str()).chain(waiting)
    }

    /// Returns the known names of its prompts, shown or not; a name may come more than once.
    pub(super) fn known_prompts(&self) -> impl Iterator<Item = &str> {
        let prompts = self.listings().flat_map(|listing| &listing.prompts);
        let waiting = self.known.iter().flat_map(|known| known.pending.iter());
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

    /// Checks whether nothing is known of its upstream, not even by name.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        let upstream = self.config.bridge();
        upstream.is_some_and(|upstream| upstream.stubs.is_empty())
            && self.known.is_none()
            && self.config.component().is_none()
    }

    /// Checks whether its upstream declares resources, listed or not.
    pub(super) fn has_resources(&self) -> bool {
        let says = match self.config.component() {
            None => self.known.as_ref().is_some_and(|known| known.resources),
            // It may not pass on what it does not declare.
            Some(_) => false,
        };
        let listed =
            |listing: &Listing| !listing.resources.is_empty() || !listing.templates.is_empty();
        says || self.listing.as_deref().is_some_and(listed)
    }

    pub(super) async fn call(
        &self,
        roster: &Roster,
        tool: &str,
        arguments: Arguments,
        context: Context,
    ) -> Result<Answer, Refusal> {
        let name = &self.config.name;
        let listing = self.available()?;
        let tools = &listing.tools;
        let mut places = tools.iter().enumerate();
        let Some((index, listed)) = places.find(|(_, listed)| listed.name == tool) else {
            let nearest = names::nearest(tool, tools.iter().map(|listed| listed.name.as_str()))
                .map(str::to_owned);
            return Err(self.no_tool(tool, nearest).into());
        };
        let failed = |why: &str| {
            Ok(Answer::Made(tool_error(format!(
                "tool `{tool}` of server `{name}` could not be called: {why}"
            ))))
        };
        let callable = match self.callable(index, listed) {
            Ok(callable) => callable,
            Err(error) => return failed(&format!("its declaration cannot be read: {error}")),
        };
        let slot = match self.started(roster, listing) {
            Ok(slot) => slot,
            Err(why) => return failed(&why),
        };
        let wanted = GuestRequest::Tool(Tool {
            name: tool.to_owned(),
            callable,
            arguments,
        });
        match self.run(slot, wanted, context).await {
            Ok(result) => Ok(result),
            // What the upstream refuses, it refuses to the agent.
            Err(error) if matches!(error.cause, Cause::Upstream { .. }) => Err(error.into()),
            Err(error) => Ok(error.to_result().into()),
        }
    }

    /// Answers a request for something else than a tool.
    pub(super) async fn ask(
        &self,
        roster: &Roster,
        wanted: GuestRequest,
        context: Context,
    ) -> Result<Answer, Refusal> {
        let failed = |why: String| Refusal::Failed(why);
        let listing = self.available().map_err(|why| failed(why.to_string()))?;
        let slot = self.started(roster, listing).map_err(failed)?;
        Ok(self.run(slot, wanted, context).await?)
    }

    async fn run(
        &self,
        slot: &Arc<Slot>,
        wanted: GuestRequest,
        context: Context,
    ) -> Result<Answer, CallError> {
        let _running = Running::begin(&self.tally);
        let call = Call {
            wanted,
            session: context.session,
            cancel: context.cancel,
            listener: context.listener,
        };
        slot.call(call).await
    }

    fn no_tool(&self, tool: &str, nearest: Option<String>) -> NoSuchTool {
        if self.is_unknown() {
            let name = &self.config.name;
            let hint = match self.reachable() {
                Ok(_) => format!(
                    "hint: `dormouse sync {name}` finds out, and so does its tool `discover`"
                ),
                Err(why) => why,
            };
            return NoSuchTool::NotKnown {
                server: name.clone(),
                tool: tool.to_owned(),
                hint,
            };
        }
        let (server, tool) = (self.config.name.clone(), tool.to_owned());
        if self.gone().any(|gone| gone == (Gated::Tool, &tool)) {
            return NoSuchTool::Gone { server, tool };
        }
        if self.left_out().any(|left_out| left_out == tool) {
            let why = self.why_left_out(&tool);
            return NoSuchTool::LeftOut { server, why };
        }
        NoSuchTool::Tool {
            server,
            tool,
            nearest,
        }
    }

    /// Returns the connection to its upstream, which is made when it is first used.
    fn upstream(
        &self,
        roster: &Roster,
        bridge: &Bridge,
        questions: QuestionLimit,
    ) -> Result<Arc<Upstream>, String> {
        let name = &self.config.name;
        if let Some(need) = bridge.needs.first() {
            let need = need.for_models(&self.config.origin.scope);
            return Err(format!("it is not ready to be started: {need}"));
        }
        let door = RosterPolicy {
            looked: Mutex::default(),
            roster: roster.me.clone(),
            server: name.clone(),
            fingerprint: bridge.fingerprint.clone(),
        };
        Ok(Upstream::new(
            Arc::clone(&roster.hub),
            Setup {
                server: name.clone(),
                launch: bridge.launch.clone(),
                share: bridge.share,
                is_to_stay: self.config.limits.idle == NEVER,
                sessionless_patience: self.config.limits.total_timeout,
                start_timeout: bridge.patience(),
                limits: self.config.limits.upstream,
                questions,
                gate: Arc::new(door),
            },
        ))
    }

    fn callable(&self, index: usize, listed: &ListedTool) -> serde_json::Result<Arc<Callable>> {
        let known = || self.callable.lock();
        if let Some(callable) = known().get(&index) {
            return Ok(callable.clone());
        }
        let function = listed.function()?;
        let upstream = self.config.bridge().is_some();
        let schemas = (function.is_some() || !upstream).then(|| {
            let mut tool: Map<String, Value> = serde_json::from_str(listed.tool.get())?;
            let input = tool.remove("inputSchema").unwrap_or_else(|| json!({}));
            // What a function returns is what its schema says by itself.
            let output = tool.remove("outputSchema").filter(|_| function.is_none());
            Ok(Schemas::new(input, output))
        });
        let callable = Arc::new(Callable {
            schemas: schemas.transpose()?,
            function,
        });
        known().insert(index, callable.clone());
        Ok(callable)
    }

    /// Connects its upstream, if it is not connected already.
    pub(super) async fn connect(&self, roster: &Roster, context: Context) -> Result<(), String> {
        let listing = self.available().map_err(|why| why.to_string())?;
        let slot = self.started(roster, listing)?;
        let Some(upstream) = slot.upstream() else {
            return Ok(());
        };
        let call = async { upstream.connect(context.session, &context.listener).await };
        let connected = tokio::select! {
            connected = call => connected.map(drop).map_err(|lost| lost.to_string()),
            () = context.cancel.cancelled() => Err("the call was cancelled".to_owned()),
            () = slot.ended() => Err(ENDED.to_owned()),
        };
        // No call has loaded the adapter, and what runs is to be stopped all the same.
        slot.stop_when_idle();
        connected
    }

    /// Returns its slot, made if need be, where it may be started. Starts nothing.
    pub(super) fn asleep(&self, roster: &Roster) -> Option<&Arc<Slot>> {
        let listing = self.available().ok()?;
        self.started(roster, listing).ok()
    }

    fn started(&self, roster: &Roster, listing: &Listing) -> Result<&Arc<Slot>, String> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        self.slot.get_or_make(|| self.make_slot(roster, listing))
    }

    fn make_slot(&self, roster: &Roster, listing: &Listing) -> Result<Arc<Slot>, String> {
        let config = &self.config;
        let questions = QuestionLimit::new(config.limits.questions);
        let upstream = match config.bridge() {
            Some(bridge) => Some(self.upstream(roster, bridge, questions.clone())?),
            None => None,
        };
        let items = listing.items().map(ListedItem::function);
        let functions = listing.tools.iter().map(ListedTool::function).chain(items);
        let functions = functions
            .filter_map(Result::transpose)
            .collect::<Result<Vec<Function>, _>>()
            .map_err(|error| format!("its declaration cannot be read: {error}"))?;
        Ok(roster.runtime.slot(Target {
            server: self.config.name.clone(),
            code: match config.component() {
                Some(file) => Code::File(file.to_owned()),
                None => Code::Bridge,
            },
            upstream,
            instance: self.config.instance.unwrap_or(listing.instance),
            functions,
            grants: self.config.grants.clone(),
            questions,
            limits: self.config.limits.clone(),
            settings: self.config.settings.clone(),
            clients: Arc::clone(&roster.sessions) as Arc<dyn SessionClients>,
        }))
    }

    /// Closes its slot, because the server is replaced by `next` or gone. Running calls go on if
    /// `next` runs in the same way.
    pub(super) fn replaced_by(&self, next: Option<&Self>) {
        let next = next.filter(|next| next.config.enabled);
        if next.is_some_and(|next| Arc::ptr_eq(&next.slot, &self.slot)) {
            return;
        }
        let runs_the_same = next.is_some_and(|next| {
            let fingerprint = |server: &Self| Some(server.config.bridge()?.fingerprint.clone());
            fingerprint(next) == fingerprint(self)
                && next.config.component() == self.config.component()
        });
        self.slot.close(match runs_the_same {
            true => RunningCalls::GoOn,
            false => RunningCalls::End,
        });
    }
}

/// Counts a call while it runs, however it ends.
struct Running<'a>(&'a Tally);

impl<'a> Running<'a> {
    fn begin(tally: &'a Tally) -> Self {
        tally.calls.fetch_add(1, Ordering::Relaxed);
        tally.running.fetch_add(1, Ordering::Relaxed);
        Self(tally)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
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

/// Returns the result of a tool that has failed, in MCP's form for a model (`isError`).
pub(super) fn tool_error(text: String) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}
