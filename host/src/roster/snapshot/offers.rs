//! All prompts, resources or resource templates at one moment.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use dormouse_catalog::ListedItem;
use dormouse_config::{ReservedNames, name};

use super::NamedUris;
use super::collision::{Collision, colliding, collisions};
use super::offer::{Offer, OfferKind};
use super::renamed::renamed;
use super::shared_keys::shared_keys;
use super::users_names::UsersNames;
use super::waiting_names::WaitingNames;
use super::withheld_template::WithheldTemplate;
use crate::roster::Server;
use crate::roster::uris::{is_own, split, with_server, with_shown_pages};
use crate::store::Gated;

/// All offers of one kind that agents see.
#[derive(Debug)]
pub struct Offers {
    kind: OfferKind,
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

/// Returns the items with that own key, of some in the order of their own keys.
fn called<'a>(all: &'a [Arc<Offer>], key: &str) -> impl Iterator<Item = &'a Arc<Offer>> + use<'a> {
    let start = all.partition_point(|offer| offer.own_key() < key);
    let end = all.partition_point(|offer| offer.own_key() <= key);
    all.get(start..end).unwrap_or_default().iter()
}

impl Offers {
    pub(super) fn new(
        kind: OfferKind,
        all_servers: &BTreeMap<String, Arc<Server>>,
        named: &NamedUris,
        reserved_names: &ReservedNames,
    ) -> (Self, Vec<Collision>) {
        let servers = all_servers.values();
        let mut all: Vec<Offer> = Vec::new();
        for (server, listing) in servers
            .clone()
            .filter_map(|server| Some((server, server.listed()?)))
        {
            all.extend(Offer::all_of(kind, server, listing));
        }
        let mut reserved = Vec::new();
        all.retain(|offer| {
            let is_reserved = match kind {
                OfferKind::Prompt => name::is_own(&offer.key) || name::is_command(&offer.key),
                OfferKind::Resource | OfferKind::Template => {
                    is_own(&offer.key) || split(&offer.key).is_some()
                }
            };
            if is_reserved {
                let (server, own) = (offer.server(), offer.own_key());
                reserved.push(Collision::with_dormouse(
                    kind.noun(),
                    &offer.key,
                    server,
                    own,
                ));
            }
            !is_reserved
        });
        let mut hidden: Vec<Arc<Offer>> = Vec::new();
        let mut withheld_templates = Vec::new();
        let mut all: Vec<Arc<Offer>> = match kind {
            OfferKind::Prompt => {
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
            OfferKind::Resource | OfferKind::Template => {
                let withheld: Vec<WithheldTemplate> = servers
                    .clone()
                    .filter(|_| kind == OfferKind::Template)
                    .flat_map(WithheldTemplate::all_of)
                    .collect();
                let named = named.iter().filter(|_| kind == OfferKind::Resource);
                let named = named.flat_map(|(uri, naming)| {
                    let naming = naming.iter().filter_map(|name| all_servers.get(name));
                    naming.map(|server| (uri.as_str(), server.config()))
                });
                let shared = shared_keys(&all, &withheld, named);
                withheld_templates = withheld;
                let shown = all.into_iter().map(|mut offer| {
                    if shared.contains(&(offer.key.clone(), offer.server().to_owned())) {
                        offer.key = with_server(&offer.key, offer.server());
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
        if kind == OfferKind::Prompt {
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
        let is_shared =
            |offer: &&Arc<Offer>| kind != OfferKind::Prompt && offer.key != offer.own_key();
        let mut shared: Vec<_> = all.iter().filter(is_shared).cloned().collect();
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
    pub(in super::super) fn with_hidden(&self) -> impl Iterator<Item = &Arc<Offer>> {
        self.all.iter().chain(&self.hidden)
    }

    /// Returns all offers with exactly that name, URI or URI template of their servers' own, shown
    /// or not.
    pub(in super::super) fn owners(&self, key: &str) -> impl Iterator<Item = &Arc<Offer>> {
        let shown = self.find(key).filter(|offer| offer.own_key() == key);
        shown
            .into_iter()
            .chain(called(&self.hidden, key))
            .chain(called(&self.shared, key))
    }

    /// Returns the templates that are not shown because they are pending.
    pub(in super::super) fn withheld_templates(&self) -> &[WithheldTemplate] {
        &self.withheld_templates
    }

    /// Checks whether a server's own key is shown with the server's name.
    pub(in super::super) fn shares(&self, server: &str, key: &str) -> bool {
        called(&self.shared, key).any(|offer| offer.server() == server)
    }

    /// Returns the items of a server that are shown with its name.
    pub(in super::super) fn shared_of(&self, server: &str) -> &[Arc<Offer>] {
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
