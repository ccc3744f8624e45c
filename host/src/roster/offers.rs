//! Prompts, resources and resource templates at one moment.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use dormouse_catalog::{ListedItem, Listing};
use dormouse_config::{ReservedNames, name};
use dormouse_wit::{Template, Type};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::collision::{Collision, colliding, collisions};
use super::shown_uris::with_shown_pages;
use super::snapshot::renamed;
use super::users_names::UsersNames;
use super::waiting_names::WaitingNames;
use super::withheld_template::WithheldTemplate;
use super::{Server, names, resource, server_uri};
use crate::store::Gated;

/// Kinds of offers beside tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// MCP `Prompt`.
    Prompt,
    /// MCP `Resource`.
    Resource,
    /// MCP `ResourceTemplate`.
    Template,
}

impl Kind {
    /// Returns the member of the MCP object that identifies it.
    #[must_use]
    pub fn member(self) -> &'static str {
        match self {
            Self::Prompt => "name",
            Self::Resource => "uri",
            Self::Template => "uriTemplate",
        }
    }

    /// Returns the noun for it.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Template => "resource template",
        }
    }

    fn declared(self, listing: &Listing) -> &[ListedItem] {
        match self {
            Self::Prompt => &listing.prompts,
            Self::Resource => &listing.resources,
            Self::Template => &listing.templates,
        }
    }
}

/// All offers of one kind that agents see.
#[derive(Debug)]
pub struct Offers {
    kind: Kind,
    all: Vec<Arc<Offer>>,
    /// Offers that are not shown, because their names collide; in order of their keys.
    hidden: Vec<Arc<Offer>>,
    /// Items of `all` that are shown with the names of their servers, because several servers use
    /// the same key; in order of their own keys.
    shared: Vec<Arc<Offer>>,
    /// The items of `shared`, by their servers.
    shared_by_server: BTreeMap<String, Vec<Arc<Offer>>>,
    /// Templates that are not shown because they are pending.
    withheld_templates: Vec<WithheldTemplate>,
    /// Index in `all` of each key; made when one is first looked for.
    places: OnceLock<HashMap<String, usize>>,
}

/// Prompt, resource or template that agents see.
#[derive(Debug)]
pub struct Offer {
    /// Name or URI under which agents see it.
    pub key: String,
    kind: Kind,
    server: Arc<Server>,
    listing: Arc<Listing>,
    index: usize,
    template: OnceLock<Option<Template>>,
}

impl Offer {
    /// Returns the name of its server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server.config().name
    }

    /// Checks whether its server is from a project's file.
    pub(super) fn is_of_project(&self) -> bool {
        self.server.config().is_of_project()
    }

    /// Returns its plugin's declaration of it.
    #[must_use]
    pub fn declared(&self) -> Option<&ListedItem> {
        self.kind.declared(&self.listing).get(self.index)
    }

    /// Checks whether its plugin completes arguments.
    #[must_use]
    pub fn completes(&self) -> bool {
        self.listing.completion
    }

    /// Checks whether it has an argument of that name. An upstream's is taken to have any, because
    /// the upstream checks that itself.
    #[must_use]
    pub fn has(&self, argument: &str) -> bool {
        #[derive(Deserialize)]
        struct Declared {
            #[serde(default)]
            arguments: Vec<Argument>,
        }
        #[derive(Deserialize)]
        struct Argument {
            name: String,
        }
        if self.server.config().bridge().is_some() {
            return true;
        }
        match self.kind {
            Kind::Prompt => self.declared().is_some_and(|item| {
                let declared = serde_json::from_str::<Declared>(item.object.get());
                let arguments = declared.map(|prompt| prompt.arguments).unwrap_or_default();
                arguments.iter().any(|one| one.name == argument)
            }),
            Kind::Resource | Kind::Template => self
                .parsed()
                .is_some_and(|template| template.variables().any(|name| name == argument)),
        }
    }

    /// Returns its server's own name, URI or template for it.
    pub(super) fn own_key(&self) -> &str {
        self.declared().map_or(&self.key, |declared| &declared.key)
    }

    fn parsed(&self) -> Option<&Template> {
        let parse = || Template::parse(self.own_key()).ok();
        self.template.get_or_init(parse).as_ref()
    }

    /// Returns the possible values of an argument, if its type lists them.
    #[must_use]
    pub fn cases(&self, argument: &str) -> Option<Vec<String>> {
        let function = self.declared()?.function().ok()??;
        let mut fields = function.arguments().iter();
        cases(&fields.find(|field| field.json == argument)?.ty)
    }

    /// Returns the cost of [`Self::matched`], in bytes that are compared.
    #[must_use]
    pub(super) fn steps(&self, uri: &str) -> usize {
        self.parsed().map_or(1, |template| template.steps(uri))
    }

    /// Returns the values of a template's variables, where a URI matches it.
    #[must_use]
    pub fn matched(&self, uri: &str) -> Option<Map<String, Value>> {
        let values = self.parsed()?.captures(uri)?.into_iter();
        Some(
            values
                .map(|(name, value)| (name.to_owned(), Value::from(value)))
                .collect(),
        )
    }
}

/// Returns the possible values of a type, if it lists them.
fn cases(mut ty: &Type) -> Option<Vec<String>> {
    while let Type::Option(inner) = ty {
        ty = inner;
    }
    match ty {
        Type::Enum(cases) => Some(cases.iter().map(|case| case.json.clone()).collect()),
        Type::Bool => Some(vec!["true".into(), "false".into()]),
        _ => None,
    }
}

/// Returns the keys that several servers use and that must be told apart, each with the servers
/// that get their name shown; and all pages. A key of one of the user's servers and of projects'
/// stays that user's server's alone.
fn shared_keys(all: &[Offer], withheld: &[WithheldTemplate]) -> HashSet<(String, String)> {
    #[derive(Default)]
    struct Owners<'a> {
        of_users: BTreeSet<&'a str>,
        of_projects: BTreeSet<&'a str>,
        /// Whether another of the user's servers has it as well, in a template that they do not
        /// know yet.
        is_new: bool,
    }
    let mut owners: HashMap<&str, Owners<'_>> = HashMap::new();
    for offer in all {
        let owners = owners.entry(&offer.key).or_default();
        match offer.is_of_project() {
            true => owners.of_projects.insert(offer.server()),
            false => owners.of_users.insert(offer.server()),
        };
    }
    // What waits is somebody's still.
    for template in withheld.iter().filter(|template| !template.is_of_project()) {
        if let Some(owners) = owners.get_mut(template.key.as_str()) {
            match template.is_known {
                true => owners.of_users.insert(template.server()),
                false => std::mem::replace(&mut owners.is_new, true),
            };
        }
    }
    let mut shared = HashSet::new();
    for (key, owners) in owners {
        let is_page = server_uri::is_page(key);
        let is_alone = owners.of_users.len() == 1 && !is_page;
        let has_project = !owners.of_projects.is_empty();
        let is_shared_with_new = owners.is_new && has_project;
        let of_users = owners.of_users.iter().filter(|_| !is_alone);
        let servers: Vec<_> = of_users.chain(&owners.of_projects).collect();
        if is_page || is_shared_with_new || owners.of_users.len() + owners.of_projects.len() > 1 {
            shared.extend(
                servers
                    .iter()
                    .map(|server| (key.to_owned(), (**server).to_owned())),
            );
        }
    }
    shared
}

/// Returns the items with that own key, of some in the order of their own keys.
fn called<'a>(all: &'a [Arc<Offer>], key: &str) -> impl Iterator<Item = &'a Arc<Offer>> + use<'a> {
    let start = all.partition_point(|offer| offer.own_key() < key);
    let end = all.partition_point(|offer| offer.own_key() <= key);
    all.get(start..end).unwrap_or_default().iter()
}

impl Offers {
    pub(super) fn new<'a>(
        kind: Kind,
        servers: impl Iterator<Item = &'a Arc<Server>> + Clone,
        reserved_names: &ReservedNames,
    ) -> (Self, Vec<Collision>) {
        let mut all: Vec<Offer> = Vec::new();
        for (server, listing) in servers
            .clone()
            .filter_map(|server| Some((server, server.listed()?)))
        {
            let config = server.config();
            let declared = kind.declared(listing).iter().enumerate();
            all.extend(declared.map(|(index, item)| Offer {
                key: match kind {
                    Kind::Prompt => names::shown(&config.name, config.prefix.as_deref(), &item.key),
                    // Results of tools refer to resources, so that these keep
                    // their URIs.
                    Kind::Resource | Kind::Template => item.key.clone(),
                },
                kind,
                server: server.clone(),
                listing: listing.clone(),
                index,
                template: OnceLock::new(),
            }));
        }
        let mut reserved = Vec::new();
        all.retain(|offer| {
            let is_own = match kind {
                Kind::Prompt => name::is_own(&offer.key) || name::is_command(&offer.key),
                Kind::Resource | Kind::Template => {
                    resource::is_own(&offer.key) || server_uri::split(&offer.key).is_some()
                }
            };
            if is_own {
                let (server, own) = (offer.server(), offer.own_key());
                reserved.push(Collision::with_dormouse(
                    kind.noun(),
                    &offer.key,
                    server,
                    own,
                ));
            }
            !is_own
        });
        let mut hidden: Vec<Arc<Offer>> = Vec::new();
        let mut withheld_templates = Vec::new();
        let mut all: Vec<Arc<Offer>> = match kind {
            Kind::Prompt => {
                let of_users = all.iter().filter(|offer| !offer.is_of_project());
                let shown = of_users.map(|offer| offer.key.as_str());
                let known = |server| Server::known_prompts(server).collect();
                let users = UsersNames::of(servers.clone(), shown, known, reserved_names);
                let (theirs, all): (Vec<_>, Vec<_>) = all.into_iter().partition(|offer| {
                    let server = offer.server.config();
                    server.is_of_project() && users.have(server, &offer.key)
                });
                reserved.extend(theirs.iter().map(|offer| {
                    let (server, own) = (offer.server(), offer.own_key());
                    Collision::with_user(kind.noun(), &offer.key, server, own)
                }));
                hidden.extend(theirs.into_iter().map(Arc::new));
                all.into_iter().map(Arc::new).collect()
            }
            Kind::Resource | Kind::Template => {
                let withheld: Vec<WithheldTemplate> = servers
                    .clone()
                    .filter(|_| kind == Kind::Template)
                    .flat_map(WithheldTemplate::all_of)
                    .collect();
                let shared = shared_keys(&all, &withheld);
                withheld_templates = withheld;
                let shown = all.into_iter().map(|mut offer| {
                    if shared.contains(&(offer.key.clone(), offer.server().to_owned())) {
                        offer.key = server_uri::with_server(&offer.key, offer.server());
                    }
                    Arc::new(offer)
                });
                shown.collect()
            }
        };
        let owners = all
            .iter()
            .map(|offer| (offer.key.as_str(), offer.server(), offer.own_key()));
        let mut collisions = collisions(kind.noun(), owners);
        if !collisions.is_empty() {
            let colliding = colliding(&collisions);
            let contested: Vec<_>;
            (contested, all) = all
                .into_iter()
                .partition(|offer| colliding.contains(&offer.key));
            hidden.extend(contested);
        }
        // Resources and templates of one URI are told apart by their servers.
        if kind == Kind::Prompt {
            let waiting = WaitingNames::of(Gated::Prompt, servers);
            let taken: Vec<_>;
            (taken, all) =
                all.into_iter().partition(|offer| {
                    let owner = (offer.server(), offer.own_key());
                    let other = waiting.taken_by(&offer.server, owner.1, &offer.key);
                    collisions.extend(other.map(|other| {
                        Collision::with_waiting(kind.noun(), &offer.key, [other, owner])
                    }));
                    other.is_some()
                });
            hidden.extend(taken);
        }
        hidden.sort_by(|one, other| one.own_key().cmp(other.own_key()));
        let with_server =
            |offer: &&Arc<Offer>| kind != Kind::Prompt && offer.key != offer.own_key();
        let mut shared: Vec<_> = all.iter().filter(with_server).cloned().collect();
        shared.sort_by(|one, other| one.own_key().cmp(other.own_key()));
        let mut shared_by_server: BTreeMap<String, Vec<Arc<Offer>>> = BTreeMap::new();
        for offer in &shared {
            let of_server = shared_by_server.entry(offer.server().to_owned());
            of_server.or_default().push(offer.clone());
        }
        collisions.extend(reserved);
        let offers = Self {
            kind,
            all,
            hidden,
            shared,
            shared_by_server,
            withheld_templates,
            places: OnceLock::new(),
        };
        (offers, collisions)
    }

    /// Returns the shown offers: servers by name, the offers of each in the order in which it
    /// declares them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Offer>> {
        self.all.iter()
    }

    /// Returns the shown offers, and those that are not shown because their names collide.
    pub(super) fn with_hidden(&self) -> impl Iterator<Item = &Arc<Offer>> {
        self.all.iter().chain(&self.hidden)
    }

    /// Returns all offers with exactly that name, URI or URI template of their servers' own, shown
    /// or not.
    pub(super) fn owners(&self, key: &str) -> impl Iterator<Item = &Arc<Offer>> {
        let shown = self.find(key).filter(|offer| offer.own_key() == key);
        shown
            .into_iter()
            .chain(called(&self.hidden, key))
            .chain(called(&self.shared, key))
    }

    /// Returns the templates that are not shown because they are pending.
    pub(super) fn withheld_templates(&self) -> &[WithheldTemplate] {
        &self.withheld_templates
    }

    /// Checks whether a server's own key is shown with the server's name.
    pub(super) fn shares(&self, server: &str, key: &str) -> bool {
        called(&self.shared, key).any(|offer| offer.server() == server)
    }

    /// Returns the items of a server that are shown with its name.
    pub(super) fn shared_of(&self, server: &str) -> &[Arc<Offer>] {
        self.shared_by_server.get(server).map_or(&[], Vec::as_slice)
    }

    /// Checks whether no offers are shown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the offer of exactly that name, URI or URI template.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<&Arc<Offer>> {
        let places = self.places.get_or_init(|| {
            let keys = self.iter().map(|offer| offer.key.clone());
            keys.zip(0..).collect()
        });
        self.all.get(*places.get(key)?)
    }

    /// Appends the JSON array of the MCP objects, each as it was declared but for the name of a
    /// prompt.
    pub fn write_list(&self, text: &mut String) {
        text.push('[');
        for (i, (offer, declared)) in self.declared().enumerate() {
            if i > 0 {
                text.push(',');
            }
            let member = self.kind.member();
            let object = with_shown_pages(offer.server(), declared.object.get());
            renamed(&object, member, &declared.key, &offer.key, text);
        }
        text.push(']');
    }

    /// Checks whether agents see the same list.
    #[must_use]
    pub fn lists_as(&self, other: &Self) -> bool {
        self.texts().eq(other.texts())
    }

    fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let declared = self.declared();
        declared.map(|(offer, declared)| (offer.key.as_str(), declared.object.get()))
    }

    fn declared(&self) -> impl Iterator<Item = (&Offer, &ListedItem)> {
        self.all
            .iter()
            .filter_map(|offer| Some((&**offer, offer.declared()?)))
    }
}
