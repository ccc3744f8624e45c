//! Refresh of the snapshot: components, records and the configuration as they are now.

mod problems;
mod reading;
mod replaced;

use std::collections::BTreeMap;
use std::sync::Arc;

use dormouse_config::{Configured, ServerConfig};
use dormouse_protocol::ListKind;
use dormouse_upstream::without_blocking;

pub use problems::PROBLEMS_OF_SERVERS;
use problems::{log_new_problems, log_problems_of_files, only_in};
pub(super) use reading::Reading;
pub(super) use replaced::ReplacedServers;

use super::configuration::folders;
use super::server::ServerData;
use super::{Roster, Server, Snapshot};

impl Roster {
    /// Reads everything again that has changed on disk, with another configuration if there is one.
    /// Records of upstreams may be long, so other work of the runtime goes on meanwhile.
    pub(super) fn refresh(&self, new: Option<Configured>) {
        without_blocking(usize::MAX, || self.refresh_now(new));
    }

    fn refresh_now(&self, new: Option<Configured>) {
        let _refreshing = self.refreshing.lock();
        let mut config = self.config();
        if let Some(new) = new {
            let told = folders::doubts(&config);
            for problem in only_in(&new.own_problems, &config.own_problems) {
                tracing::error!("{problem}");
            }
            log_problems_of_files(&config, &new);
            config = Arc::new(new);
            *self.config.lock() = Arc::clone(&config);
            let doubts = folders::doubts(&config).into_iter();
            for (_, doubt) in doubts.filter(|doubt| !told.contains(doubt)) {
                tracing::warn!(target: PROBLEMS_OF_SERVERS, "{doubt}");
            }
            self.runtime.set_limits(&config.limits);
            self.hub.set_limits(&config.limits);
        }
        let once = self.once.lock().clone();
        let shown = config.servers.values();
        let rules = self.places.exposure.rules(&config);
        let profiles = self.places.exposure.profiles(&config);
        let shown = shown.filter(|server| !self.is_loaded_elsewhere(server));
        let shown = shown.filter(|server| rules.has_server(&server.name));
        let shown: Vec<ServerConfig> = shown
            .map(|server| {
                let mut server = server.for_client(self.places.client);
                let enabled = *once.get(&server.name).unwrap_or(&server.enabled);
                server.enabled = enabled && server.denied.is_none();
                if self.places.exposure.own_names {
                    let configured = server.prefix.replace(String::new());
                    server.ignored_prefix = server.ignored_prefix.take().or(configured);
                }
                server
            })
            .collect();
        self.end_session_answers(&shown);
        let components = shown.iter().filter(|server| server.enabled);
        let components: Vec<_> = components
            .filter_map(|server| Some(server.component()?.to_owned()))
            .collect();
        let mut read = self.read_components(&components).into_iter();
        let old = self.snapshot();
        let servers: BTreeMap<_, _> = shown
            .into_iter()
            .map(|mut server| {
                let mut found = ServerData::default();
                if server.enabled {
                    found.entry = server.component().and_then(|_| read.next());
                    let upstream = server.bridge();
                    found.known = upstream.and_then(|of| {
                        let of_secrets = || {
                            let is_known =
                                self.store.carry_over_secrets(&server.name, &of.fingerprint);
                            is_known.then(|| self.store.known(&of.fingerprint))?
                        };
                        let known = self.store.known(&of.fingerprint).or_else(of_secrets)?;
                        Some(self.connection_offers.extended(&of.fingerprint, known))
                    });
                    // What a component offers is in its file, and is held against the record.
                    if server.component().is_none()
                        && upstream.is_some_and(|of| self.store.is_forgotten(&of.fingerprint))
                    {
                        found.known = None;
                    }
                }
                let unknown = server.bridge().filter(|_| found.known.is_none());
                found.failed_start = unknown
                    .filter(|_| server.enabled && server.component().is_none())
                    .and_then(|of| self.store.failed_start(&of.fingerprint));
                let entry = found.entry.as_ref();
                let stamp = entry.and_then(|entry| Some(entry.as_ref().ok()?.stamp));
                self.add_session_answers(&mut server, stamp);
                let name = server.name.clone();
                let next = Server::next(old.servers().get(&name), server, found);
                (name, next)
            })
            .collect();
        let untrusted = config.untrusted_for(self.places.client);
        let of_profiles = profiles.iter().map(|(name, rules)| (name.as_str(), rules));
        let same_profiles = old.profiles().eq(of_profiles);
        let same = old.untrusted() == untrusted.as_ref()
            && *old.rules() == rules
            && same_profiles
            && servers.len() == old.servers().len()
            && servers
                .iter()
                .zip(old.servers())
                .all(|(new, old)| new.0 == old.0 && Arc::ptr_eq(new.1, old.1));
        if same {
            return;
        }
        let reserved = config.reserved_names();
        let files = self.snapshot_files.clone();
        // What one lists no longer is told apart from what another lists now.
        self.note_unlisted(&old, &servers);
        let named = Arc::new(self.named_and_listed(&servers));
        let snapshot = Snapshot::new(servers, named, untrusted, reserved, rules, files);
        let snapshot = Arc::new(snapshot.with_profiles(profiles));
        log_new_problems(&old, &snapshot);
        *self.current.write() = snapshot.clone();
        self.replaced.stop(&old, &snapshot);
        // At the start there is nobody to tell, and the list is not made before
        // it is asked for.
        let changed = |now: &Snapshot, before: &Snapshot| {
            let all = [ListKind::Tools, ListKind::Prompts, ListKind::Resources];
            all.map(|list| (!now.lists_as(before, list)).then_some(list))
        };
        if self.changes.is_heard() {
            for list in changed(&snapshot, &old).into_iter().flatten() {
                self.changes.tell_changed(list);
            }
            if !same_profiles {
                self.changes.tell_profiles_changed();
            }
        }
        for profile in self.changes.heard_profiles() {
            let [now, before] =
                [&snapshot, &old].map(|whole| self.view_of(whole, &profile, reserved));
            for list in changed(&now, &before).into_iter().flatten() {
                self.changes.tell_changed_in(&profile, list);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::roster::tests::{ADD, Home, component};

    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_is_made_anew_where_only_a_disabled_server_was_closed() {
        let home = Home::new();
        home.write("a.wasm", &component(&[ADD]));
        let off = "[servers.a]\ncomponent = 'a.wasm'\nenabled = false\n";
        home.write("dormouse.toml", off.as_bytes());
        let roster = home.open();
        let more = format!("{off}[servers.b]\ncomponent = 'a.wasm'\n");
        home.write("dormouse.toml", more.as_bytes());
        // With this change, the slot of the disabled server is closed.
        roster.reload().unwrap();
        let before = roster.snapshot();
        roster.refresh(None);
        assert!(Arc::ptr_eq(&before, &roster.snapshot()));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn who_names_no_profile_hears_nothing_of_what_profiles_have() {
        let home = Home::new();
        home.write("a.wasm", &component(&[ADD]));
        let with = |servers: &str, enabled: bool| {
            let server = format!("[servers.a]\ncomponent = 'a.wasm'\nenabled = {enabled}\n");
            format!("{server}[profiles.work]\nservers = ['{servers}']\n")
        };
        home.write("dormouse.toml", with("a", true).as_bytes());
        let roster = home.open();
        let heard = roster.changes().lists();
        for (config, is_told) in [(with("b", true), false), (with("b", false), true)] {
            let before = *heard.borrow();
            home.write("dormouse.toml", config.as_bytes());
            roster.reload().unwrap();
            let now = *heard.borrow();
            assert_eq!(now.tools != before.tools, is_told, "{config}");
            let others = [now.prompts, now.resources];
            assert_eq!(others, [before.prompts, before.resources], "{config}");
            // Who counts the tokens of all profiles looks again.
            assert_eq!(now.profiles != before.profiles, !is_told, "{config}");
        }
    }
}
