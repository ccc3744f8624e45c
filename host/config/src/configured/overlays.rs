//! Changes that the user's own tables, and servers that are reached in the same way, make to servers.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_text::visible::visible_path;

use super::Configured;
use crate::{Adapter, ChangePolicy, ConfigProblem, Fingerprint, RefusedServer, Scope};

impl Configured {
    /// Applies the overlays of the user's own file to the servers that are configured elsewhere.
    pub(super) fn apply_overlays(&mut self) {
        let mut stray = self.overlays.clone();
        for server in self.servers.values_mut() {
            let Some(overlay) = stray.remove(&server.name) else {
                continue;
            };
            let for_it = overlay.for_server(server);
            if let Scope::Project(folder) = &server.origin.scope
                && for_it != overlay
            {
                let note = format!(
                    "not all of `[servers.{}]` at {} is for it, because it is a project's: it is \
                     only switched off, filtered and approved more cautiously by that\n\
                     hint: with `project = \"{}\"` in that table all of it is for this server, \
                     and nothing for one of yours",
                    server.name,
                    overlay.origin,
                    visible_path(folder)
                );
                self.notes.push((server.name.clone(), note));
            }
            let applied = for_it.apply(server);
            if let Err(why) = applied {
                let problem = ConfigProblem {
                    file: overlay.origin.file.clone(),
                    line: overlay.origin.line,
                    column: 1,
                    message: format!("`[servers.{}]` {why}", server.name),
                    hint: Some("remove it there, or write down how the server is reached".into()),
                };
                let refused = RefusedServer {
                    written_name: server.name.clone(),
                    origin: overlay.origin,
                    written: server.bridge().map(|bridge| bridge.written.clone()),
                    launch: None,
                    filled_in: BTreeSet::new(),
                    problems: vec![problem],
                };
                server.adapter = Adapter::Refused(Box::new(refused));
            }
        }
        for name in self.names_of_untrusted_projects() {
            stray.remove(name);
        }
        self.stray = stray;
    }

    /// Makes the most cautious policy count for all servers that are reached in the same way: their
    /// records are kept once, and what one of them takes as seen is seen for all.
    pub(super) fn share_caution(&mut self) {
        let mut shared: BTreeMap<Fingerprint, (ChangePolicy, Vec<String>)> = BTreeMap::new();
        for server in self.servers.values() {
            let Some(bridge) = server.bridge() else {
                continue;
            };
            let known = shared.entry(bridge.fingerprint.clone());
            let (changes, names) = known.or_insert_with(|| (bridge.changes.clone(), Vec::new()));
            *changes = changes.most_cautious(&bridge.changes);
            names.push(server.name.clone());
        }
        for server in self.servers.values_mut() {
            let name = server.name.clone();
            let Some(bridge) = server.bridge_mut() else {
                continue;
            };
            let Some((changes, names)) = shared.get(&bridge.fingerprint) else {
                continue;
            };
            if bridge.changes.allows_more_than(changes) {
                let others = names.iter().filter(|other| **other != name);
                let others: Vec<_> = others.map(|other| format!("`{other}`")).collect();
                let note = format!(
                    "what it says of changes (`on_change`) is less cautious than what {} says, \
                     which is reached in the same way, so that counts for both\n\
                     hint: write the same in both",
                    others.join(" or ")
                );
                self.notes.push((name, note));
            }
            bridge.changes = changes.clone();
        }
    }
}
