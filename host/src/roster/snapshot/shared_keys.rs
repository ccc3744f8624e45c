//! Keys of resources and templates that several servers use.

use std::collections::{BTreeSet, HashMap, HashSet};

use dormouse_config::ServerConfig;

use super::offer::Offer;
use super::withheld_template::WithheldTemplate;
use crate::roster::uris::is_page;

/// Returns the keys that several servers use and that must be told apart, each with the servers
/// that get their name shown; and all pages. A key of one of the user's servers and of projects'
/// stays that user's server's alone. Who has `named` a resource uses its key, too: by that alone, a
/// request would reach either.
pub(super) fn shared_keys<'a>(
    all: &'a [Offer],
    withheld: &'a [WithheldTemplate],
    named: impl Iterator<Item = (&'a str, &'a ServerConfig)>,
) -> HashSet<(String, String)> {
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
    for (uri, server) in named {
        if let Some(owners) = owners.get_mut(uri) {
            match server.is_of_project() {
                true => owners.of_projects.insert(&server.name),
                false => owners.of_users.insert(&server.name),
            };
        }
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
        let is_page = is_page(key);
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
