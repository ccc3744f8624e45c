//! Programs and URLs that no server of a project's starts or reaches: those that run nowhere for the
//! user, although they stand in their files.

use std::collections::{HashMap, HashSet};

use super::Configured;
use crate::servers::launch_target::LaunchTarget;
use crate::{Origin, ServerConfig};

/// Programs and URLs that the user's own entries deny, whatever variables or headers somebody has for
/// them.
#[derive(Default)]
pub(super) struct DeniedTargets {
    /// Targets of servers that are shown to the user and on, where there is no project.
    on: HashSet<LaunchTarget>,
    /// Targets of all else in the user's files, and of entries that cannot be used as they are.
    denied: HashMap<LaunchTarget, Vec<Denial>>,
}

/// An entry of the user's because of which no project's server starts or reaches the same.
struct Denial {
    name: String,
    origin: Origin,
    /// Whether the entry itself, or the user's own table for its name, says that it is off, and nothing
    /// else is the reason.
    is_off: bool,
}

impl Denial {
    /// Whether a project's server stands in the place of the entry, and so decides whether that is on.
    fn is_overridden_by(&self, server: &ServerConfig) -> bool {
        self.is_off
            && self.name == server.name
            && self.origin.client.is_some()
            && self.origin.client == server.origin.client
    }
}

impl DeniedTargets {
    fn add(&mut self, target: Option<LaunchTarget>, name: &str, origin: &Origin, is_off: bool) {
        if let Some(target) = target {
            self.denied.entry(target).or_default().push(Denial {
                name: name.to_owned(),
                origin: origin.clone(),
                is_off,
            });
        }
    }
}

impl Configured {
    /// Returns what a server starts or reaches; none where it has no upstream.
    fn target_of(&self, server: &ServerConfig) -> Option<LaunchTarget> {
        let bridge = server.bridge()?;
        Some(self.found.target_of(&bridge.launch))
    }

    /// Returns what the user's own entries deny. `shown` are the servers of clients' files that are
    /// shown to the user where there is no project.
    pub(super) fn denied_targets<'s>(
        &'s self,
        shown: impl Iterator<Item = &'s ServerConfig>,
    ) -> DeniedTargets {
        let mut targets = DeniedTargets::default();
        let own = self.servers.values();
        let refused = own.clone().filter_map(ServerConfig::refused);
        for refused in refused.chain(&self.refused_without_names) {
            let target = refused.launch.as_ref();
            let target = target.map(|launch| self.found.target_of(launch));
            targets.add(target, &refused.written_name, &refused.origin, false);
        }
        let unusable = self.found.unusable.iter();
        for entry in unusable.filter(|entry| !entry.is_of_project()) {
            let target = entry.launch.as_ref();
            let target = target.map(|launch| self.found.target_of(launch));
            targets.add(target, &entry.name, &entry.origin, false);
        }
        // What is changed by a table of the user's is theirs in both ways.
        let mut off = Vec::new();
        for server in own.clone().chain(shown) {
            let mut after = server.clone();
            let overlay = self.overlays.get(&server.name);
            let applied = overlay.map(|overlay| overlay.for_server(server).apply(&mut after));
            if after.enabled && applied.is_none_or(|applied| applied.is_ok()) {
                targets.on.extend(self.target_of(server));
                targets.on.extend(self.target_of(&after));
            } else {
                off.push(after);
            }
        }
        let found = self.found.found.iter().map(|found| &found.server);
        let found = found.filter(|server| !server.is_of_project());
        for server in own.chain(found).chain(&off) {
            let target = self
                .target_of(server)
                .filter(|target| !targets.on.contains(target));
            let overlay = self.overlays.get(&server.name);
            // What is said of a name holds for a project's server that has it, too.
            let is_switched_off = overlay.is_some_and(|overlay| overlay.enabled == Some(false));
            let is_off = !server.enabled || is_switched_off;
            targets.add(target, &server.name, &server.origin, is_off);
        }
        targets
    }

    /// Returns the place of the user's entry that denies what a project's server starts or reaches,
    /// where that is on. A server that stands in the place of an entry of the user's, at `in_place_of`,
    /// decides itself whether that is on.
    pub(super) fn denies<'t>(
        &self,
        targets: &'t DeniedTargets,
        server: &ServerConfig,
        in_place_of: Option<&Origin>,
    ) -> Option<&'t Origin> {
        if !server.is_of_project() || !server.enabled {
            return None;
        }
        let target = self.target_of(server)?;
        let entry_is_on = in_place_of.is_some_and(|users| {
            let found = self.found.found.iter().map(|found| &found.server);
            // A file may have several on one line.
            let mut own =
                found.filter(|own| own.enabled && own.origin == *users && own.name == server.name);
            targets.on.contains(&target)
                && own.any(|own| self.target_of(own).as_ref() == Some(&target))
        });
        if entry_is_on {
            return None;
        }
        let denials = target.with_anywhere();
        let denials = denials.filter_map(|target| targets.denied.get(&target));
        let mut denials = denials.flatten();
        let denial =
            denials.find(|denial| !(in_place_of.is_some() && denial.is_overridden_by(server)))?;
        Some(&denial.origin)
    }
}
