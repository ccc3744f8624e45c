//! Servers as they are now: their configuration, declarations and slots, kept together and kept up
//! to date while the files behind them change.

mod all_tool_names;
mod approval;
mod asks;
mod call_refusal;
mod call_under_rules;
mod calls;
mod changes;
pub(crate) mod client_meta;
mod component_calls;
mod configuration;
mod context;
mod discovery;
mod error;
mod exposure;
pub mod names;
mod places;
mod refresh;
mod requests;
mod resources;
mod server;
mod sessions;
mod snapshot;
pub mod status;
mod token_counts;
mod unmatched_names;
mod upstream;
mod uris;
mod view;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Once, Weak};
use std::time::SystemTime;

use dormouse_catalog::Catalog;
use dormouse_config::{Config, Configured, Fetch, ServerConfig};
use dormouse_protocol::Notice;
use dormouse_runtime::{Runtime, SentSecrets};
use dormouse_text::nearest::nearest;
use dormouse_text::visible::visible_path;
use dormouse_upstream::{Connector, Reaction};
use parking_lot::{Mutex, RwLock};

use approval::{AnsweredInputs, CallDecisions, PluginGrants, Questions};
pub use approval::{
    ApprovalOutcome, Gone, RevokedAnswers, RevokedFolder, counts, difference, gone_told,
};
pub use call_refusal::{CallRefusal, not_for_models, wrong_access};
pub use calls::AgentCall;
pub use changes::{Changes, Numbers};
use configuration::configured;
pub use configuration::folders;
pub use context::CallContext;
use error::MeantServer;
pub use error::{NoSuchTool, OfferRefusal};
pub use exposure::ExposureChoice;
pub use places::Places;
pub use refresh::PROBLEMS_OF_SERVERS;
use refresh::{Reading, ReplacedServers};
pub use requests::{
    HeldByPlugin, given_value, mode_of, requested_http, requested_secret_in_words,
    requested_secrets, requested_settings, secret_option, secrets_in_words, setting_in_words,
    setting_option, shown_value,
};
pub use resources::{
    FollowedResource, FollowedUri, ListedResource, MAX_FOLLOWED_URI_BYTES, ResourceIdentity,
    ResourceSource, UnresolvedResource, UpdatedResource,
};
use resources::{NamedResources, WaitingUpdates};
pub use server::Server;
use sessions::RosterSessions;
pub use snapshot::{
    AFTER_FOUND_TOOLS, Collision, HiddenTools, Offer, OfferKind, Offers, ShownTool, Snapshot,
    mapped,
};
use snapshot::{NamedUris, SnapshotFiles};
pub use status::{PendingApprovals, ServerState, ServerStatus, Status};
use upstream::ConnectionOffers;
pub use upstream::Synced;
pub use uris::is_page;
pub use view::UnknownProfile;

use crate::child_commands::{compile_command, read_command};
use crate::store::{Decisions, KnownUpstream, Store, Trust};

/// All servers of one host. Cheap to open: only the configuration and the catalog's index are read.
pub struct Roster {
    me: Weak<Self>,
    places: Places,
    catalog: Catalog,
    store: Store,
    trust: Trust,
    decisions: Decisions,
    runtime: Runtime,
    hub: Arc<Connector>,
    current: RwLock<Arc<Snapshot>>,
    /// Files and memory that all snapshots share.
    snapshot_files: SnapshotFiles,
    /// Configuration that `current` was made from. `current` is changed only by the holder of this
    /// lock.
    /// Replaced as a whole, so that nobody who reads it waits for a refresh.
    config: Mutex<Arc<Configured>>,
    /// Held during a refresh: the newest state of the files comes last.
    refreshing: Mutex<()>,
    /// The user's own configuration file as it could last be read. Revoked trust and changes of a
    /// project's files take effect even while it cannot be read.
    own: Mutex<Config>,
    /// Reason for which that file cannot be read now.
    unreadable: Mutex<Option<String>>,
    /// Servers that are on or off for as long as this host runs, whatever is configured.
    once: Mutex<BTreeMap<String, bool>>,
    /// Reasons for which upstreams get no requests, because their offers cannot be recorded, by the
    /// names of the servers.
    unkept: Mutex<BTreeMap<String, String>>,
    /// Questions that the user is being asked or has refused.
    questions: Questions,
    /// Grants that the user has given plugins for as long as this host runs, by their servers' names.
    plugin_grants: Mutex<BTreeMap<String, PluginGrants>>,
    /// Texts of secrets that were sent in requests of plugins, by their servers' names.
    sent_secrets: Mutex<BTreeMap<String, Arc<SentSecrets>>>,
    /// Folders, variables and settings that users were asked for before a plugin was started.
    answered_inputs: AnsweredInputs,
    /// Servers that were replaced while their calls go on.
    replaced: ReplacedServers,
    /// Decisions of users on calls that they were asked about.
    call_decisions: CallDecisions,
    changes: Changes,
    updates: WaitingUpdates,
    named: Mutex<NamedResources>,
    /// Offers of upstreams over the connections that are open.
    connection_offers: ConnectionOffers,
    /// Number of reloads of the configuration that did not wait for files to settle; locked during
    /// one.
    reloads: Mutex<u64>,
    settled: Once,
    /// Way in which new components are read.
    reading: Reading,
    started: SystemTime,
    sessions: Arc<RosterSessions>,
    /// Held while tokens are counted.
    counting: Mutex<()>,
}

impl Roster {
    /// Reads the configuration and the catalog. A server whose file cannot be read is included, as
    /// failed; only an unreadable configuration is an error.
    ///
    /// # Errors
    /// The configuration cannot be read.
    pub fn open(places: Places) -> anyhow::Result<Arc<Self>> {
        Self::open_reading(places, Reading::AtOnce)
    }

    /// Does the same for a host, which others wait for: what is new and takes long to read is read
    /// while it answers, once it is [settled](Self::settle), and its clients are told then.
    ///
    /// # Errors
    /// The configuration cannot be read.
    pub fn open_for_clients(places: Places) -> anyhow::Result<Arc<Self>> {
        Self::open_reading(places, Reading::while_answering())
    }

    fn open_reading(places: Places, reading: Reading) -> anyhow::Result<Arc<Self>> {
        let trust = Trust::new(&places.data);
        let own = dormouse_config::load(&places.config)?;
        let config = configured(own.clone(), &places, &trust);
        let roster = Arc::new_cyclic(|me| Self {
            me: me.clone(),
            catalog: Catalog::open(&places.index(), read_command),
            store: Store::of(&places.data),
            trust,
            decisions: Decisions::new(&places.data),
            runtime: Runtime::with_own_places(&places.cache, places.own(), compile_command),
            hub: Connector::new(places.program.clone(), &places.data),
            snapshot_files: places.snapshot_files(),
            places,
            current: RwLock::default(),
            config: Mutex::default(),
            refreshing: Mutex::default(),
            own: Mutex::new(own),
            unreadable: Mutex::default(),
            once: Mutex::default(),
            unkept: Mutex::default(),
            questions: Questions::default(),
            plugin_grants: Mutex::default(),
            sent_secrets: Mutex::default(),
            answered_inputs: AnsweredInputs::default(),
            replaced: ReplacedServers::default(),
            call_decisions: CallDecisions::default(),
            changes: Changes::default(),
            updates: WaitingUpdates::default(),
            named: Mutex::default(),
            connection_offers: ConnectionOffers::default(),
            reloads: Mutex::default(),
            settled: Once::new(),
            reading,
            started: SystemTime::now(),
            sessions: Arc::default(),
            counting: Mutex::default(),
        });
        roster.refresh(Some(config));
        Ok(roster)
    }

    /// Returns the current snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.read().clone()
    }

    /// Does the work that was put off until the first answer was out: saves the catalog's index,
    /// and begins to watch the configuration and the components. Later calls do nothing. Has to be
    /// called inside of a tokio runtime.
    pub fn settle(self: &Arc<Self>) {
        self.settled.call_once(|| {
            tokio::spawn(configuration::watch::run(Arc::downgrade(self)));
            let fetch = self.config().discovery.fetch;
            if fetch == Fetch::Background {
                let roster = Arc::clone(self);
                tokio::spawn(async move { roster.sync_unknown().await });
            }
        });
    }

    /// Writes the catalog's index, if it has changed. If it cannot be written, the next start takes
    /// longer; there is no other effect.
    pub fn save(&self) {
        if let Err(error) = self.catalog.save() {
            tracing::warn!(
                "the catalog's index `{}` cannot be written: {error}",
                visible_path(&self.places.index())
            );
        }
    }

    /// Returns the changes that agents are to be told of.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Notifies agents of a change that a server's plugin has announced.
    pub fn notify(&self, server: &str, notice: Notice) {
        match notice {
            Notice::Updated(uri) => self.announce_update(server, uri),
            Notice::Changed(list) => {
                self.changes.tell_changed(list);
                for profile in self.changes.heard_profiles() {
                    if self.view(Some(&profile)).servers().contains_key(server) {
                        self.changes.tell_changed_in(&profile, list);
                    }
                }
            }
        }
    }

    /// Stops a server's instances and forgets its failures, so that the next call starts afresh.
    /// Returns false where there is no such server.
    pub fn restart(&self, server: &str) -> bool {
        let Ok(found) = self.server(server) else {
            return false;
        };
        if let Some(slot) = found.slot() {
            slot.stop();
        }
        self.refresh(None);
        true
    }

    /// Stops all servers.
    pub fn stop(&self) {
        for server in self.snapshot().servers().values() {
            if let Some(slot) = server.slot() {
                slot.stop();
            }
        }
    }

    /// Stops all servers, and waits until their upstreams have ended. Called when the process is
    /// about to end.
    pub async fn close(&self) {
        self.stop();
        self.hub.close().await;
    }

    /// Checks whether a server may ask a client of the stateless era something without naming the
    /// call that it is about: its upstream is not known to support that era, in which a question is
    /// the answer to a request.
    pub fn asks_unattributed(&self, server: &str) -> bool {
        let snapshot = self.snapshot();
        let server = snapshot.servers().get(server);
        server.is_some_and(|server| {
            let knows = |known: &Arc<KnownUpstream>| known.reactions.discover == Reaction::Answers;
            server.config().bridge().is_some() && !server.known().is_some_and(knows)
        })
    }

    /// Returns the texts of secrets that were sent in requests of a server's plugins since this host
    /// runs, whatever has that name now.
    fn sent_secrets(&self, server: &str) -> Arc<SentSecrets> {
        let mut all = self.sent_secrets.lock();
        Arc::clone(all.entry(server.to_owned()).or_default())
    }

    /// Returns the status of the host and its servers.
    pub fn status(&self) -> Status {
        self.status_in(&self.snapshot())
    }

    /// Returns the status as clients see it whose view this is: of servers that they do not see, it says
    /// nothing.
    pub fn status_in(&self, view: &Snapshot) -> Status {
        status::of(self, view)
    }

    /// Whether this host was started for one profile or for one server.
    pub fn serves_a_part(&self) -> bool {
        let exposure = &self.places.exposure;
        exposure.profile.is_some() || exposure.server.is_some()
    }

    /// Returns the configuration file that this was opened from.
    pub fn config_path(&self) -> &Path {
        &self.places.config
    }

    fn config(&self) -> Arc<Configured> {
        let config = self.config.lock();
        Arc::clone(&config)
    }

    /// Checks whether the client that is served loads a server itself.
    fn is_loaded_elsewhere(&self, server: &ServerConfig) -> bool {
        let client = self.places.client;
        client.is_some_and(|client| server.from.contains(&client))
    }

    fn server(&self, name: &str) -> Result<Arc<Server>, NoSuchTool> {
        let snapshot = self.snapshot();
        if let Some(server) = snapshot.servers().get(name) {
            return Ok(server.clone());
        }
        let server = name.to_owned();
        let config = self.config();
        let left_out = config.servers.get(name);
        let left_out = left_out.filter(|server| self.is_loaded_elsewhere(server));
        if let (Some(_), Some(client)) = (left_out, self.places.client) {
            let client = client.name();
            return Err(NoSuchTool::LoadedByClient { server, client });
        }
        Err(NoSuchTool::Server {
            server,
            meant: self.meant(name, &snapshot),
            untrusted: snapshot.untrusted().cloned().map(Box::new),
        })
    }

    /// Returns the server or tool that was probably meant by a name that no server has.
    fn meant(&self, name: &str, snapshot: &Snapshot) -> MeantServer {
        if let Some(taken) = self.config().same_as.get(name) {
            return MeantServer::SameAs(taken.clone());
        }
        if let Some(tool) = snapshot.find(name) {
            return MeantServer::Tool([tool.server(), tool.tool()].map(str::to_owned));
        }
        let names = snapshot.servers().keys().map(String::as_str);
        MeantServer::Nearest(nearest(name, names).map(str::to_owned))
    }
}
