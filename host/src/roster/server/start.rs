//! Start of a server: its slot, and the connection to its upstream.

use std::sync::Arc;

use dormouse_catalog::{ListedItem, ListedTool, Listing};
use dormouse_config::Bridge;
use dormouse_policy::NEVER;
use dormouse_protocol::{QuestionLimit, SessionClients};
use dormouse_runtime::{ComponentLocation, GrantQuestions, Slot, Target};
use dormouse_upstream::{Setup, Upstream};
use dormouse_wit::Function;

use super::Server;
use crate::roster::Roster;
use crate::roster::approval::{AskedPlugin, PluginGrants, RosterGrantAsker};
use crate::roster::requests::{requested_http, with_defaults};

impl Server {
    /// Returns its slot, made if need be, where it may be started. Starts nothing.
    pub(in super::super) fn asleep(&self, roster: &Roster) -> Option<&Arc<Slot>> {
        let listing = self.available().ok()?;
        self.started(roster, listing).ok()
    }

    pub(super) fn started(&self, roster: &Roster, listing: &Listing) -> Result<&Arc<Slot>, String> {
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
                Some(file) => ComponentLocation::File(file.to_owned(), self.stamp),
                None => ComponentLocation::Bridge,
            },
            upstream,
            instance: self.config.instance.unwrap_or(listing.instance),
            functions,
            grants: self.config.grants.clone(),
            grant_questions: self.grant_questions(roster, listing),
            secrets: self.config.secrets.clone(),
            sent_secrets: roster.sent_secrets(&self.config.name),
            logins: self.provider_logins(roster).collect(),
            questions,
            limits: self.config.limits.clone(),
            settings: with_defaults(&listing.grants, &config.settings),
            clients: Arc::clone(&roster.sessions) as Arc<dyn SessionClients>,
        }))
    }

    /// Returns what the user may be asked for while its plugin runs.
    fn grant_questions(&self, roster: &Roster, listing: &Listing) -> Option<Arc<GrantQuestions>> {
        self.config.component()?;
        let requested: Vec<_> = requested_http(&listing.grants)
            .map(|(requested, _)| requested)
            .collect();
        let name = &self.config.name;
        let plugin = AskedPlugin::of(self);
        // Asked under the lock: the plugin that comes next adds its own only after that.
        let mut all = roster.plugin_grants.lock();
        let is_now = plugin.as_ref();
        let is_now = is_now.is_some_and(|plugin| roster.has_plugin(name, plugin));
        let before = all.get(name);
        let grants = PluginGrants::of(plugin.clone(), &self.config.grants.http, before);
        let session = grants.session();
        // Those of the plugin that has the name now are the ones that are taken back.
        if is_now {
            all.insert(name.clone(), grants);
        }
        drop(all);
        let is_any = !requested.is_empty() || !self.config.secrets.is_empty();
        is_any.then(|| {
            Arc::new(GrantQuestions {
                requested,
                session,
                asker: Arc::new(RosterGrantAsker {
                    roster: roster.me.clone(),
                    plugin,
                }),
            })
        })
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
                policy: roster.upstream_policy(name, &bridge.fingerprint),
            },
        ))
    }
}
