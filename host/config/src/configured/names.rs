//! Names that a project's files and the user both have servers of.

use std::collections::BTreeMap;

use dormouse_text::visible::without_hidden;

use super::Configured;
use crate::discovery::{Overridden, allowed_name};
use crate::naming::reserved_names::{ReservedNames, UsersServer};
use crate::project::review::NameOfUsers;
use crate::{Origin, Scope, ServerConfig};

impl Configured {
    /// Ignores the `prefix` of a project's server where it would put the names of its tools among
    /// those of a server of the user's.
    pub(super) fn ignore_prefixes_of_users(&mut self) {
        let of_project = self
            .servers
            .values()
            .filter(|server| server.is_of_project());
        let ignored = of_project.filter_map(|server| {
            let whose = self.whose_prefix(server)?;
            let note = format!(
                "its `prefix`, which a project's file says, is not heard: names of what your \
                 server `{whose}` has begin with it"
            );
            Some((server.name.clone(), note))
        });
        for (name, note) in ignored.collect::<Vec<_>>() {
            if let Some(server) = self.servers.get_mut(&name) {
                server.ignored_prefix = server.prefix.take();
            }
            self.notes.push((name, note));
        }
    }

    /// Returns the names that two clients, or the user and a trusted project, both have a server of,
    /// each with a sentence on which of the two is shown.
    pub fn names_of_two(&self) -> impl Iterator<Item = (String, String)> {
        let is_taken = |lost: &&Overridden| {
            let taken = self.servers.get(&lost.name);
            taken.is_none_or(|taken| taken.origin.client == lost.by.client)
        };
        let overridden = self.overridden.iter().filter(is_taken);
        overridden.filter_map(|lost| {
            let is_users = self.reserved_names.whose(&lost.name).is_some();
            told_of_name(lost, is_users || self.servers.contains_key(&lost.name))
        })
    }

    /// Notes the names of the user's own servers, and the beginnings of their tools' names, as they
    /// are where there is no project.
    pub(super) fn reserve_names(&mut self, of_clients: &BTreeMap<String, Origin>) {
        let overlays = &self.overlays;
        let prefix = |name: &str| {
            let overlay = overlays.get(name)?;
            overlay
                .prefix
                .as_deref()
                .filter(|_| overlay.project.is_none())
        };
        let own = self.servers.values();
        let own = own.map(|server| (&server.name, server.prefix.as_deref(), &server.origin));
        let of_clients = of_clients.iter();
        let of_clients = of_clients.map(|(name, origin)| (name, prefix(name), origin));
        // Also of entries that are of no use as they are: their user has that name.
        let refused = self.found.refused.iter();
        let refused = refused.map(|refused| (&refused.written_name, &refused.origin));
        let skipped = self.found.skipped.iter();
        let skipped = skipped.map(|skipped| (&skipped.written_name, &skipped.origin));
        let unusable = refused.chain(skipped);
        let unusable = unusable.filter(|(_, origin)| !matches!(origin.scope, Scope::Project(_)));
        let mut names = ReservedNames::default();
        for (name, prefix, origin) in own.chain(of_clients) {
            names.add(name, prefix, origin);
        }
        for (written, origin) in unusable {
            names.add(&allowed_name(written), None, origin);
        }
        self.reserved_names = names;
    }

    /// Returns the fate of a project's server that has a name of the user's.
    pub(super) fn name_of_users(&self, server: &ServerConfig) -> Option<NameOfUsers> {
        if !server.is_of_project() {
            return None;
        }
        let users = self.reserved_names.whose(&server.name);
        let users = users.or_else(|| self.whose_written(server))?;
        let origin = users.origin.clone();
        Some(match users.is_overridden_by(server) {
            true => NameOfUsers::Overridden { origin },
            false => NameOfUsers::Kept {
                name: users.name.clone(),
                origin,
            },
        })
    }

    /// Returns the server of the user's whose name a project's server would have, by what its file
    /// calls it. It has another one only because that is taken, or for what nobody sees in it.
    fn whose_written(&self, server: &ServerConfig) -> Option<&UsersServer> {
        // A name in a project's own file is never changed.
        server.origin.client?;
        let written = self.found.written_name(&server.name)?;
        let seen = without_hidden(written);
        let mut names = [written, &*seen].into_iter().map(allowed_name);
        names.find_map(|name| self.reserved_names.whose(&name))
    }

    /// Returns the name of the user's server whose names begin with a project's `prefix`.
    pub(super) fn whose_prefix(&self, server: &ServerConfig) -> Option<String> {
        let prefix = server.prefix.as_deref();
        let prefix = prefix.filter(|prefix| !prefix.is_empty())?;
        let users = self.reserved_names.whose(prefix)?;
        Some(users.name.clone())
    }
}

/// Returns the sentence on a name that two servers have, or on a server that starts or reaches what
/// another one does, with the name; none where their client takes the same one.
fn told_of_name(overridden: &Overridden, is_of_two: bool) -> Option<(String, String)> {
    let is_of_project = |origin: &Origin| matches!(origin.scope, Scope::Project(_));
    let text = match (
        is_of_project(&overridden.origin),
        is_of_project(&overridden.by),
    ) {
        (true, false) if !is_of_two => format!(
            "a project's server of this name is not shown: {}\n\
             hint: it starts or reaches what yours does, and what you say of that holds: {}",
            overridden.origin, overridden.by
        ),
        (true, false) => format!(
            "a project has a server with this name, which is not shown: {}\n\
             hint: call one of the two something else",
            overridden.origin
        ),
        (false, true) => format!(
            "it stands in the place of yours in this project, as for the client: {}",
            overridden.origin
        ),
        // Of two in its own files, a client itself takes one alone, and what stands in dormouse.toml
        // is wanted there.
        (false, false)
            if overridden.by.client.is_some()
                && overridden.origin.client != overridden.by.client =>
        {
            format!(
                "another server with this name is not taken: {}\n\
                 hint: call one of the two something else",
                overridden.origin
            )
        }
        (true, true) | (false, false) => return None,
    };
    Some((overridden.name.clone(), text))
}
