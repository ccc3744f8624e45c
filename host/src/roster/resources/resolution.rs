//! Resolution of a resource's URI to the one server that it belongs to.
//!
//! URIs have no prefix that tells their servers, and servers do not know of one another. So a URI
//! that several servers claim leads to none: an agent that reads a resource of one server must not
//! get one that another has put in its place.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::matching_steps::MatchingSteps;
use crate::roster::uris::{is_own, is_page, split, with_server};
use crate::roster::{Offer, OfferRefusal, Roster, Snapshot};
use crate::store::Gated;

/// Most URIs in the refusal of one that several servers claim: they may be long.
const MAX_HINTS: usize = 8;

/// A listed resource or template, with the values of the template's variables.
pub type ListedResource = (Arc<Offer>, Map<String, Value>);

/// Server and URI from which a resource is read.
#[derive(Debug, Clone)]
pub struct ResourceSource {
    /// The name of its server.
    pub server: String,
    /// URI as that server knows it.
    pub uri: String,
    /// Listed resource, or template with the values of its variables. None where the server has
    /// only named the resource.
    pub listed: Option<ListedResource>,
}

/// Reasons why a URI leads to no resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnresolvedResource {
    /// No server has named the URI.
    Unknown,
    /// Several servers claim it.
    Contested(Vec<String>),
}

impl UnresolvedResource {
    /// Returns the refusal for an agent that has asked for the resource.
    #[must_use]
    pub fn refusal(&self, uri: &str) -> OfferRefusal {
        let Self::Contested(servers) = self else {
            return OfferRefusal::NotFound(format!("Unknown resource: `{uri}`"));
        };
        let mut why =
            format!("resource `{uri}` is not read, because more than one server claims it:");
        for (i, server) in servers.iter().enumerate() {
            let and = if i == 0 { "" } else { " and" };
            // Writing to a string cannot fail.
            let _ = write!(why, "{and} `{server}`");
        }
        why.push_str("\nhint: read the one that is meant:");
        for (i, server) in servers.iter().take(MAX_HINTS).enumerate() {
            let or = if i == 0 { "" } else { " or" };
            let _ = write!(why, "{or} `{}`", with_server(uri, server));
        }
        OfferRefusal::NotFound(why)
    }
}

/// Checks whether all URIs that match a template are of one scheme.
fn names_scheme(template: &str) -> bool {
    let fixed = template.split('{').next();
    fixed.is_some_and(|fixed| fixed.contains(':'))
}

impl Snapshot {
    /// Returns the servers that claim a URI by their lists, each with the offer to read it by: of all,
    /// or of one. Of a server whose templates take too long to match, not all are looked at.
    fn claims<'s>(
        &'s self,
        uri: &str,
        of: Option<&str>,
        steps: &mut MatchingSteps<'s>,
    ) -> BTreeMap<String, ListedResource> {
        let is_meant = |offer: &&Arc<Offer>| of.is_none_or(|server| server == offer.server());
        let listed = self.resources().owners(uri).filter(is_meant);
        let mut claims: BTreeMap<String, ListedResource> = listed
            .map(|offer| (offer.server().to_owned(), (offer.clone(), Map::new())))
            .collect();
        for template in self.templates().with_hidden().filter(is_meant) {
            // A project's is of no more than one scheme: all the others are the user's.
            let counts = !template.is_of_project() || names_scheme(&template.key);
            let asked = (template.server(), template.is_of_project());
            if !counts || !steps.allow(asked, uri.len(), || template.steps(uri)) {
                continue;
            }
            if let Some(variables) = template.matched(uri) {
                claims
                    .entry(template.server().to_owned())
                    .or_insert_with(|| (template.clone(), variables));
            }
        }
        claims
    }

    /// Returns the servers with a withheld template for a URI, which claim it beside those in
    /// `claiming`. If one of those is the user's own, only templates that the user knows, of their
    /// own servers, count; otherwise all but a project's that the user does not know.
    fn withheld_claims<'s>(
        &'s self,
        uri: &str,
        claiming: &BTreeSet<String>,
        steps: &mut MatchingSteps<'s>,
    ) -> BTreeSet<String> {
        let is_users = claiming.iter().any(|server| !self.is_of_project(server));
        let withheld = self.templates().withheld_templates().iter();
        let claims = withheld.filter(|template| {
            let counts = match is_users {
                true => template.is_known && !template.is_of_project(),
                false => template.is_known || !template.is_of_project(),
            };
            let asked = (template.server(), template.is_of_project());
            counts && steps.allow(asked, uri.len(), || template.steps(uri)) && template.matches(uri)
        });
        claims
            .map(|template| template.server().to_owned())
            .collect()
    }

    /// Checks whether a server has resources to be asked for, listed or not.
    fn has_resources(&self, server: &str) -> bool {
        let server = self.servers().get(server);
        server.is_some_and(|server| server.has_resources())
    }

    /// Checks whether a server is from a project's file.
    #[must_use]
    pub fn is_of_project(&self, server: &str) -> bool {
        let server = self.servers().get(server);
        server.is_some_and(|server| server.config().is_of_project())
    }
}

impl Roster {
    /// Returns the server that a URI belongs to: the only one that lists it, has a template which
    /// matches it, or has named it in a result. Otherwise, the only one whose upstream has
    /// resources at all, unless a withheld template of another's may match. In each case the user's
    /// own come before those of projects. Several servers are never asked one after the other: a URI
    /// may be confidential to one of them.
    ///
    /// # Errors
    /// It is unknown, or more than one server claims it.
    pub fn resource(&self, uri: &str) -> Result<ResourceSource, UnresolvedResource> {
        self.resource_in(&self.snapshot(), uri)
    }

    /// Returns the server that a URI belongs to among those of a snapshot, as [`Self::resource`] does:
    /// of what a profile does not have, its clients are told nothing.
    ///
    /// # Errors
    /// The errors of [`Self::resource`].
    pub fn resource_in(
        &self,
        snapshot: &Snapshot,
        uri: &str,
    ) -> Result<ResourceSource, UnresolvedResource> {
        if is_own(uri) {
            return Err(UnresolvedResource::Unknown);
        }
        // One that names a server is of no other, whether that is there or not.
        if let Some((own, server)) = split(uri) {
            return self.resource_of(snapshot, own, server);
        }
        let mut steps = MatchingSteps::default();
        let mut listed = snapshot.claims(uri, None, &mut steps);
        let mut claiming: BTreeSet<String> = listed.keys().cloned().collect();
        claiming.extend(self.naming(uri, snapshot.servers()));
        if is_page(uri) {
            let servers = snapshot.servers_naming_page(uri).into_iter();
            claiming.extend(servers.map(str::to_owned));
        }
        let is_claimed = !claiming.is_empty();
        if !is_claimed {
            claiming = self.possible_owners(snapshot);
        }
        claiming.extend(snapshot.withheld_claims(uri, &claiming, &mut steps));
        // Of the user's own resources a project can claim none.
        let mut claimants = claiming.iter();
        let is_users = claimants.any(|server| !snapshot.is_of_project(server));
        if is_users {
            claiming.retain(|server| !snapshot.is_of_project(server));
        }
        // It may be one of theirs, which no other is to have.
        if !claiming.is_empty() {
            let undecided = steps.undecided();
            let undecided = undecided.filter(|it| !(is_users && snapshot.is_of_project(it)));
            claiming.extend(undecided.map(str::to_owned));
        }
        if claiming.len() > 1 && is_claimed {
            return Err(UnresolvedResource::Contested(
                claiming.into_iter().collect(),
            ));
        }
        let server = claiming.pop_first().filter(|_| claiming.is_empty());
        let server = server.ok_or(UnresolvedResource::Unknown)?;
        let listed = listed.remove(&server);
        let is_askable = listed.is_some()
            || self.reads_unlisted(snapshot, &server)
                && (is_claimed || snapshot.has_resources(&server));
        let source = ResourceSource {
            server,
            uri: uri.to_owned(),
            listed,
        };
        is_askable
            .then_some(source)
            .ok_or(UnresolvedResource::Unknown)
    }

    /// Returns the servers that a URI which none claims may belong to: those that have resources at
    /// all, withheld ones included. The user's own alone, where there are any.
    fn possible_owners(&self, snapshot: &Snapshot) -> BTreeSet<String> {
        let having = snapshot.servers().values().filter(|server| {
            let mut withheld = server.withheld(Gated::Template);
            (server.has_resources() || withheld.next().is_some())
                && self.reads_unlisted(snapshot, &server.config().name)
        });
        let (of_projects, of_users): (Vec<_>, Vec<_>) =
            having.partition(|server| server.config().is_of_project());
        let owners = match of_users.is_empty() {
            true => of_projects,
            false => of_users,
        };
        let names = owners
            .into_iter()
            .map(|server| server.config().name.clone());
        names.collect()
    }

    /// Returns the source of a URI that names its server: what that server lists, has or may have a
    /// template for, has named or has as the page of a tool.
    fn resource_of(
        &self,
        snapshot: &Snapshot,
        uri: &str,
        server: &str,
    ) -> Result<ResourceSource, UnresolvedResource> {
        if !snapshot.servers().contains_key(server) {
            return Err(UnresolvedResource::Unknown);
        }
        let mut steps = MatchingSteps::default();
        let mut claims = snapshot.claims(uri, Some(server), &mut steps);
        let listed = claims.remove(server);
        let is_named = || {
            let naming = self.naming(uri, snapshot.servers());
            let is_named = naming.iter().any(|it| it == server);
            self.reads_unlisted(snapshot, server)
                && (is_named || snapshot.servers_naming_page(uri).contains(server))
        };
        // Nobody knows whether it has a template for it: only that one is asked.
        let mut undecided = steps.undecided();
        let may_claim = undecided.any(|it| it == server) && self.reads_unlisted(snapshot, server);
        if is_own(uri) || listed.is_none() && !may_claim && !is_named() {
            return Err(UnresolvedResource::Unknown);
        }
        Ok(ResourceSource {
            server: server.to_owned(),
            uri: uri.to_owned(),
            listed,
        })
    }

    /// Checks whether a server can be asked for resources that are in none of its lists.
    fn reads_unlisted(&self, snapshot: &Snapshot, server: &str) -> bool {
        snapshot.servers().get(server).is_some_and(|server| {
            let config = server.config();
            config.enabled && config.bridge().is_some()
        })
    }

    /// Checks whether another server lists a URI, so that naming it is no claim. A project's
    /// listing does not count against a server of the user's own.
    pub(super) fn is_listed_by_another(&self, uri: &str, server: &str) -> bool {
        let snapshot = self.snapshot();
        let is_of_project = snapshot.is_of_project(server);
        let mut owners = snapshot.resources().owners(uri);
        owners.any(|owner| owner.server() != server && (is_of_project || !owner.is_of_project()))
    }
}

#[cfg(test)]
mod tests;
