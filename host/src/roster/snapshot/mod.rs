//! Servers and tools at one moment.

mod analysed_tools;
mod collision;
mod compact_signature;
mod found_tool;
mod hidden_tools;
mod known_names;
mod offer;
mod offers;
mod own_names;
mod pending_tools;
mod renamed;
mod shared_keys;
mod shown_tool;
mod tool_costs;
mod tool_search;
mod users_names;
mod views;
mod waiting_names;
mod withheld_template;

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use dormouse_config::{ReservedNames, UntrustedProject};
use dormouse_policy::exposure::{
    ExposureMode, ExposureRules, HiddenBy, ServerExposure, ToolExposure,
};
use dormouse_protocol::{Era, ListKind};

pub(super) use analysed_tools::AnalysedTools;
pub use collision::Collision;
use collision::{colliding, collisions};
pub use found_tool::AFTER_FOUND_TOOLS;
pub use hidden_tools::HiddenTools;
pub use offer::{Offer, OfferKind};
pub use offers::Offers;
use own_names::OwnNames;
use pending_tools::PendingTools;
use renamed::renamed;
pub use shown_tool::ShownTool;
pub(super) use shown_tool::hints_of;
use tool_costs::Costs;
pub use tool_costs::mapped;
use tool_search::ToolSearch;
use users_names::UsersNames;
use views::Views;
use waiting_names::WaitingNames;

use super::Server;
use super::all_tool_names::AllToolNames;
use super::uris::with_shown_pages;
use crate::store::Gated;

/// Files of the cache directory that snapshots read, and what one leaves in memory to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct SnapshotFiles {
    /// File with the numbers of tokens of texts; none where these are not kept.
    pub(super) token_counts: Option<PathBuf>,
    /// Servers' tools as the search has analysed them.
    pub(super) analysed_tools: Arc<AnalysedTools>,
}

/// Servers that have named a URI in answers, or in lists of before, by the URI.
pub(super) type NamedUris = BTreeMap<String, Vec<String>>;

/// Servers and their offers at one moment; never changes.
#[derive(Debug)]
pub struct Snapshot {
    servers: BTreeMap<String, Arc<Server>>,
    /// Resources that some servers list and that some have named.
    named: Arc<NamedUris>,
    tools: Vec<ShownTool>,
    /// Rules by which tools are shown, or not.
    rules: ExposureRules,
    /// Tools that agents cannot call by these rules.
    hidden_by_rules: Vec<(ShownTool, HiddenBy)>,
    /// Tools that their user has not approved yet.
    pending: PendingTools,
    prompts: Offers,
    resources: Offers,
    templates: Offers,
    collisions: Vec<Collision>,
    untrusted: Option<UntrustedProject>,
    /// Index in `tools` of each name; made for the first call.
    places: OnceLock<HashMap<String, usize>>,
    /// Index of the words of `tools`; made for the first search.
    search: OnceLock<ToolSearch>,
    /// Costs of `tools`; found out where they decide something.
    costs: OnceLock<Costs>,
    /// Files that it reads of the cache directory.
    files: SnapshotFiles,
    /// Profiles that clients may name, with what each has of this.
    views: Views,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self::new(
            BTreeMap::new(),
            Arc::default(),
            None,
            &ReservedNames::default(),
            ExposureRules::default(),
            SnapshotFiles::default(),
        )
    }
}

impl Snapshot {
    pub(super) fn new(
        servers: BTreeMap<String, Arc<Server>>,
        named: Arc<NamedUris>,
        untrusted: Option<UntrustedProject>,
        reserved: &ReservedNames,
        rules: ExposureRules,
        files: SnapshotFiles,
    ) -> Self {
        let listed = servers.values().filter_map(|s| Some((s, s.listed()?)));
        let count = listed.clone().map(|(_, listing)| listing.tools.len()).sum();
        // Of thousands, each part is taken out of the whole: a start writes them once.
        let mut tools: Vec<ShownTool> = Vec::with_capacity(count);
        for (server, listing) in listed {
            let config = server.config();
            let declared = listing.tools.iter().enumerate();
            tools.extend(declared.map(|(index, tool)| {
                let names = AllToolNames::of(config, &tool.name, &rules.deny);
                ShownTool {
                    exposure: rules.tool(names.named(), config.expose),
                    name: names.shown,
                    server: server.clone(),
                    listing: listing.clone(),
                    index,
                }
            }));
        }
        let own_names = OwnNames::of(&servers, &rules);
        let is_own =
            |tool: &mut ShownTool| own_names.are_kept_from(&tool.server, tool.tool(), &tool.name);
        let own: Vec<_> = tools.extract_if(.., is_own).collect();
        let of_users = tools
            .iter()
            .filter(|tool| !tool.server.config().is_of_project());
        let names = of_users.map(|tool| tool.name.as_str());
        let known = |server| Server::known_tools(server).collect();
        let users = UsersNames::of(servers.values(), names, known, reserved);
        let is_users = |tool: &mut ShownTool| {
            let server = tool.server.config();
            server.is_of_project() && users.have(server, &tool.name)
        };
        let among_users: Vec<_> = tools.extract_if(.., is_users).collect();
        let owners = tools
            .iter()
            .map(|tool| (tool.name.as_str(), tool.server(), tool.tool()));
        let mut all = collisions("tool", owners);
        if !all.is_empty() {
            let colliding = colliding(&all);
            tools.retain(|tool| !colliding.contains(&tool.name));
        }
        let waiting = WaitingNames::of(Gated::Tool, servers.values());
        tools.retain(|tool| {
            let owner = (tool.server(), tool.tool());
            let taken = waiting.taken_by(&tool.server, owner.1, &tool.name);
            all.extend(
                taken.map(|other| Collision::with_waiting("tool", &tool.name, [other, owner])),
            );
            taken.is_none()
        });
        all.extend(own.iter().map(|tool| {
            let collision =
                Collision::with_dormouse("tool", &tool.name, tool.server(), tool.tool());
            collision.kept_for(own_names::kept_for(&tool.name, &servers))
        }));
        all.extend(
            among_users
                .iter()
                .map(|tool| Collision::with_user("tool", &tool.name, tool.server(), tool.tool())),
        );
        // Few servers have any that wait.
        let taken = LazyCell::new(|| {
            let several = all
                .iter()
                .filter(|one| one.what == "tool" && one.owners.len() > 1);
            let names = tools.iter().map(|tool| tool.name.as_str());
            let names = names.chain(several.map(|one| one.name.as_str()));
            names.collect::<HashSet<_>>()
        });
        let pending = servers.values().map(Arc::as_ref);
        let pending = PendingTools::of(pending, &rules, |server, tool, shown| {
            own_names.are_kept_from(server, tool, shown)
                || server.config().is_of_project() && users.have(server.config(), shown)
                || waiting.taken_by(server, tool, shown).is_some()
                || taken.contains(shown)
        });
        // Names are judged among all of them: what one rule hides, another may show again.
        let hidden = tools.extract_if(.., |tool| matches!(tool.exposure, ToolExposure::Hidden(_)));
        let hidden_by_rules = hidden.filter_map(|tool| match tool.exposure.clone() {
            ToolExposure::Hidden(why) => Some((tool, why)),
            _ => None,
        });
        let hidden_by_rules = hidden_by_rules.collect();
        let [prompts, resources, templates] =
            [OfferKind::Prompt, OfferKind::Resource, OfferKind::Template].map(|kind| {
                let (offers, collisions) = Offers::new(kind, &servers, &named, reserved);
                all.extend(collisions);
                offers
            });
        Self {
            servers,
            named,
            tools,
            rules,
            hidden_by_rules,
            pending,
            prompts,
            resources,
            templates,
            collisions: all,
            untrusted,
            places: OnceLock::new(),
            search: OnceLock::new(),
            costs: OnceLock::new(),
            files,
            views: Views::default(),
        }
    }

    /// Returns all configured servers, by name.
    #[must_use]
    pub fn servers(&self) -> &BTreeMap<String, Arc<Server>> {
        &self.servers
    }

    /// Returns the resources that some servers list and that some have named.
    pub(super) fn named(&self) -> &Arc<NamedUris> {
        &self.named
    }

    /// Returns the instructions of servers that agents are shown, by the servers' names. A server
    /// whose tools are all hidden by rules, or would be, has nothing to say of them.
    pub fn instructions(&self) -> impl Iterator<Item = (&str, &str)> {
        let shown: HashSet<&str> = self.tools.iter().map(ShownTool::server).collect();
        let hidden = self.hidden_by_rules.iter().map(|(tool, _)| tool.server());
        let hidden: HashSet<&str> = hidden.collect();
        let servers = self.servers.iter().filter(move |(name, server)| {
            let is_hidden = || hidden.contains(name.as_str()) || self.would_hide_all(server);
            shown.contains(name.as_str()) || !is_hidden()
        });
        servers.filter_map(|(name, server)| Some((name.as_str(), server.instructions()?)))
    }

    /// Returns the project whose servers are left out, because the user has not trusted it.
    #[must_use]
    pub fn untrusted(&self) -> Option<&UntrustedProject> {
        self.untrusted.as_ref()
    }

    /// Returns all tools that agents see: servers by name, the tools of each in the order in which
    /// it declares them.
    #[must_use]
    pub fn tools(&self) -> &[ShownTool] {
        &self.tools
    }

    /// Returns the rules by which tools are shown.
    #[must_use]
    pub fn rules(&self) -> &ExposureRules {
        &self.rules
    }

    /// Returns the reason why agents cannot call the tool that they would see under this name, if it
    /// is a rule of exposure.
    #[must_use]
    pub fn hidden_by_rule(&self, name: &str) -> Option<(&ShownTool, &HiddenBy)> {
        let mut hidden = self.hidden_by_rules.iter();
        let (tool, why) = hidden.find(|(tool, _)| tool.name == name)?;
        Some((tool, why))
    }

    /// Whether some agents may have tools of Dormouse's own in their lists in place of others.
    #[must_use]
    pub fn may_defer(&self) -> bool {
        may_defer(&self.rules, &self.servers)
    }

    /// Returns all prompts that agents see.
    #[must_use]
    pub fn prompts(&self) -> &Offers {
        &self.prompts
    }

    /// Returns all resources that agents see.
    #[must_use]
    pub fn resources(&self) -> &Offers {
        &self.resources
    }

    /// Returns all resource templates that agents see.
    #[must_use]
    pub fn templates(&self) -> &Offers {
        &self.templates
    }

    /// Returns all offers of one kind that agents see.
    #[must_use]
    pub fn offers(&self, kind: OfferKind) -> &Offers {
        match kind {
            OfferKind::Prompt => &self.prompts,
            OfferKind::Resource => &self.resources,
            OfferKind::Template => &self.templates,
        }
    }

    /// Returns the items that cannot be shown because of their names.
    #[must_use]
    pub fn collisions(&self) -> &[Collision] {
        &self.collisions
    }

    /// Returns the names of all tools, in the order of the list.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name.as_str())
    }

    /// Returns the tool of exactly that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&ShownTool> {
        let places = self.places.get_or_init(|| {
            let names = self.names().map(str::to_owned);
            names.zip(0..).collect()
        });
        self.tools.get(*places.get(name)?)
    }

    /// Appends the JSON array of those MCP `Tool` objects that are to be listed, for clients of the stateless era or of the
    /// versions before: each as it was declared, but for its name. It is made anew for each request: sending takes longer.
    pub fn write_list(&self, era: Era, lists: impl Fn(&ShownTool) -> bool, text: &mut String) {
        let listed = || self.tools.iter().filter(|tool| lists(tool));
        let declared = listed().filter_map(ShownTool::declared);
        let length: usize = declared.map(|d| d.tool.get().len() + 48).sum();
        text.reserve(length + 2);
        text.push('[');
        let declared = listed().filter_map(|tool| Some((tool, tool.declared()?)));
        for (i, (tool, declared)) in declared.enumerate() {
            if i > 0 {
                text.push(',');
            }
            let object = declared.object(era == Era::Stateless).get();
            let object = with_shown_pages(tool.server(), object);
            renamed(&object, "name", &declared.name, &tool.name, text);
        }
        text.push(']');
    }

    /// Checks whether agents that name no profile see the same list of a catalog.
    #[must_use]
    pub fn lists_as(&self, other: &Self, catalog: ListKind) -> bool {
        match catalog {
            ListKind::Tools => {
                let theirs = other.declared();
                // Some are shown a tool that asks to trust it.
                let asks = self.untrusted.is_some() == other.untrusted.is_some();
                asks && self.rules == other.rules && self.declared().eq(theirs)
            }
            ListKind::Prompts => self.prompts.lists_as(&other.prompts),
            ListKind::Resources => {
                // Instructions are resources of Dormouse's.
                let [ours, theirs] =
                    [self, other].map(|one| one.instructions().map(|(server, _)| server));
                self.resources.lists_as(&other.resources)
                    && self.templates.lists_as(&other.templates)
                    && ours.eq(theirs)
            }
        }
    }

    /// Returns what a list has of each tool, and whether it has it.
    fn declared(&self) -> impl Iterator<Item = (&str, &str, &ToolExposure)> {
        let tools = self.tools.iter();
        tools.filter_map(|tool| {
            let object = tool.declared()?.tool.get();
            Some((tool.name.as_str(), object, &tool.exposure))
        })
    }
}

fn may_defer(rules: &ExposureRules, servers: &BTreeMap<String, Arc<Server>>) -> bool {
    let is_deferred =
        |server: &Arc<Server>| server.config().expose == Some(ServerExposure::Deferred);
    rules.mode != ExposureMode::Direct || servers.values().any(is_deferred)
}
