//! Servers as they are now: their configuration, declarations and slots, kept together and kept up
//! to date while the files behind them change.

mod approval;
mod asks;
mod calls;
mod changes;
mod error;
pub mod folders;
pub mod names;
mod reading;
mod resources;
mod server;
mod sessions;
mod settled;
mod snapshot;
pub mod status;
mod switch;
mod upstream;
mod uris;
mod watch;

#[cfg(test)]
pub(crate) mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once, Weak};
use std::time::SystemTime;

use dormouse_catalog::Catalog;
use dormouse_config::discovery::{SourceState, Surroundings};
use dormouse_config::{Client, Config, Configured, Fetch, ServerConfig};
use dormouse_policy::{LogBudget, OwnPlaces};
use dormouse_protocol::{Catalog as List, Listener, Notice, SessionId};
use dormouse_runtime::Runtime;
use dormouse_text::nearest::nearest;
use dormouse_text::visible::visible_path;
use dormouse_upstream::{Connector, Reaction, without_blocking};
use parking_lot::{Mutex, RwLock};

use approval::Questions;
pub use approval::{ApprovalOutcome, Gone, counts, difference, gone_told};
pub use changes::{Changes, Numbers};
use error::MeantServer;
pub use error::{NoSuchTool, Refusal};
use reading::Reading;
pub use resources::{
    FollowedResource, ListedResource, MAX_FOLLOWED_URI_BYTES, ResourceSource, UnresolvedResource,
};
use resources::{NamedResources, WaitingUpdates};
use server::Read;
pub use server::Server;
use sessions::Sessions;
pub use snapshot::{Collision, Kind, Offer, Offers, Shown, Snapshot};
pub use status::{PendingApprovals, ServerStatus, State, Status};
use upstream::AddedResources;
pub use upstream::Synced;
pub use uris::is_page;

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
    /// Configuration that `current` was made from. `current` is changed only by the holder of this
    /// lock.
    /// Replaced as a whole, so that nobody who reads it waits for a refresh.
    config: Mutex<Arc<Configured>>,
    /// Held during a refresh: the newest state of the files comes last.
    refreshing: Mutex<()>,
    /// The user's own configuration file as it could last be read. Revoked trust and changes of a
    /// project's files take effect even while it cannot be read.
    own: Mutex<Config>,
    /// Servers that are on or off for as long as this host runs, whatever is configured.
    once: Mutex<BTreeMap<String, bool>>,
    /// Reasons for which upstreams get no requests, because their offers cannot be recorded, by the
    /// names of the servers.
    unkept: Mutex<BTreeMap<String, String>>,
    /// Questions that the user is being asked or has refused.
    questions: Questions,
    changes: Changes,
    updates: WaitingUpdates,
    named: Mutex<NamedResources>,
    /// Resources that upstreams have only while they are connected.
    added_resources: AddedResources,
    /// Number of reloads of the configuration that did not wait for files to settle; locked during
    /// one.
    reloads: Mutex<u64>,
    settled: Once,
    /// How components are read that are new.
    reading: Reading,
    started: SystemTime,
    sessions: Arc<Sessions>,
}

/// Files and directories that a roster reads and writes.
#[derive(Debug, Clone)]
pub struct Places {
    /// The configuration file.
    pub config: PathBuf,
    /// Dormouse's cache directory: the catalog's index and compiled components.
    pub cache: PathBuf,
    /// Its data directory: records of upstreams, trusted projects.
    pub data: PathBuf,
    /// File with the token of clients over HTTP. None where there is none, or the environment has
    /// it.
    pub token_file: Option<PathBuf>,
    /// Folders and variables by which the files of the user's clients are found. None if these are
    /// not to be read.
    pub around: Option<Surroundings>,
    /// Dormouse's own executable, which is run once more to end the children of a host that is
    /// killed; they outlive it where there is none.
    pub program: Option<PathBuf>,
    /// Client that is served. Servers that it loads itself are not shown a second time.
    pub client: Option<Client>,
    /// Files that servers take values from, as of the configuration that was read last.
    pub filled_in: dormouse_config::FilledInFiles,
}

impl Places {
    /// Returns the path of the catalog's index.
    #[must_use]
    pub fn index(&self) -> PathBuf {
        self.cache.join("catalog.index")
    }

    /// Notes the files that servers take values from, so that no server is granted them.
    pub fn note_filled_in(&self, configured: &Configured) {
        let around = self.around.as_ref();
        let project = around.and_then(|around| around.project.as_deref());
        self.filled_in.note(configured, project);
    }

    /// Returns all places of Dormouse's own, which no server is granted.
    fn own(&self) -> OwnPlaces {
        let places = self.clone();
        OwnPlaces::new(move || {
            let host = dormouse_config::HostPaths {
                config: &places.config,
                cache: &places.cache,
                data: &places.data,
                token_file: places.token_file.as_deref(),
            };
            dormouse_config::own_places(host, places.around.as_ref(), &places.filled_in)
        })
    }
}

/// Session, cancellation and listener of a call.
pub struct Context {
    /// The agent's session, if the call is of one.
    pub session: Option<SessionId>,
    /// Ends the call when cancelled.
    pub cancel: tokio_util::sync::CancellationToken,
    /// Gets the call's notifications and questions.
    pub listener: Arc<dyn Listener>,
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
            places,
            current: RwLock::default(),
            config: Mutex::default(),
            refreshing: Mutex::default(),
            own: Mutex::new(own),
            once: Mutex::default(),
            unkept: Mutex::default(),
            questions: Questions::default(),
            changes: Changes::default(),
            updates: WaitingUpdates::default(),
            named: Mutex::default(),
            added_resources: AddedResources::default(),
            reloads: Mutex::default(),
            settled: Once::new(),
            reading,
            started: SystemTime::now(),
            sessions: Arc::default(),
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
            tokio::spawn(watch::run(Arc::downgrade(self)));
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
            notice => self.changes.tell(notice),
        }
    }

    /// Reads the user's own configuration, the files of clients and projects, the trusted projects,
    /// and the files behind all that again, at once. If the user's own configuration cannot be
    /// read, its last state stays in force with all else as it is now.
    ///
    /// # Errors
    /// The user's own configuration cannot be read.
    pub fn reload(&self) -> anyhow::Result<()> {
        let mut reloads = self.reloads.lock();
        *reloads += 1;
        let (own, configured) = self.read_configuration();
        self.apply(own, configured)
    }

    /// Does the same as [`reload`](Self::reload) once these [files](Self::files) are no longer
    /// being written.
    fn reload_settled(&self, files: &BTreeSet<PathBuf>) -> anyhow::Result<()> {
        loop {
            let before = *self.reloads.lock();
            let (own, configured) = settled::read_settled(files, || self.read_configuration());
            // What was read before somebody had it read at once may be older than that.
            let now = self.reloads.lock();
            if *now == before {
                return self.apply(own, configured);
            }
        }
    }

    /// Reads the user's own configuration, and all else for it, or for its last state if it cannot
    /// be read.
    fn read_configuration(&self) -> (anyhow::Result<Config>, Configured) {
        let own = dormouse_config::load(&self.places.config);
        let usable = match &own {
            Ok(own) => own.clone(),
            Err(_) => self.own.lock().clone(),
        };
        (own, configured(usable, &self.places, &self.trust))
    }

    fn apply(&self, own: anyhow::Result<Config>, configured: Configured) -> anyhow::Result<()> {
        let outcome = own.map(|own| *self.own.lock() = own);
        self.refresh(Some(configured));
        outcome
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

    /// Returns the status of the host and its servers.
    pub fn status(&self) -> Status {
        status::of(self)
    }

    /// Returns the configuration file that this was opened from.
    pub fn config_path(&self) -> &Path {
        &self.places.config
    }

    /// Reads all configuration, from all files, as it is now.
    ///
    /// # Errors
    /// The user's own configuration cannot be read.
    pub fn configured(&self) -> anyhow::Result<Configured> {
        let own = dormouse_config::load(&self.places.config)?;
        Ok(configured(own, &self.places, &self.trust))
    }

    /// Reads all configuration as [`configured`](Self::configured) does, with the values filled in
    /// that a user has to see of a project before they trust it.
    pub(super) fn configured_for_review(&self, project: &Path) -> anyhow::Result<Configured> {
        let own = dormouse_config::load(&self.places.config)?;
        let around = self.places.around.as_ref();
        Ok(Configured::for_review(own, around, &self.trust, project))
    }

    /// Returns the names that both the user and a trusted project have a server of, each with a
    /// sentence on the one that is shown.
    pub fn names_of_two(&self) -> Vec<(String, String)> {
        self.config().names_of_two().collect()
    }

    /// Returns the problems in the files of the user's clients, and of projects that they trust.
    pub fn problems_of_files(&self) -> Vec<String> {
        let config = self.config();
        let sources = config.found.sources.iter();
        let sources = sources.filter(|source| config.is_trusted_scope(&source.scope));
        let problems = sources.flat_map(|source| match &source.state {
            SourceState::Missing => &[],
            SourceState::Read { problems, .. } => problems.as_slice(),
        });
        let mut told = HashSet::new();
        let problems = problems.map(ToString::to_string);
        problems
            .filter(|problem| told.insert(problem.clone()))
            .collect()
    }

    /// Returns the names of servers that are not shown because another one has the same launch,
    /// each with the other one's name.
    pub fn merged(&self) -> BTreeMap<String, String> {
        self.config().same_as.clone()
    }

    /// Returns sentences on servers of clients' files, each with the server's name.
    pub fn notes(&self) -> Vec<(String, String)> {
        self.config().notes.clone()
    }

    fn config(&self) -> Arc<Configured> {
        let config = self.config.lock();
        Arc::clone(&config)
    }

    /// Returns the files whose changes change the roster: the configuration, the clients' files,
    /// the components, the records of upstreams and the trusted projects.
    fn files(&self) -> BTreeSet<PathBuf> {
        let mut files = BTreeSet::from([self.places.config.clone(), self.trust.file().to_owned()]);
        files.extend(self.config().files().cloned());
        let snapshot = self.snapshot();
        for server in snapshot.servers().values() {
            let config = server.config();
            files.extend(config.component().map(Path::to_owned));
            let upstream = config.bridge();
            files.extend(
                upstream
                    .into_iter()
                    .flat_map(|of| self.store.files(&of.fingerprint)),
            );
        }
        // And what they are links to.
        let targets: Vec<_> = files
            .iter()
            .filter_map(|file| file.canonicalize().ok())
            .collect();
        files.extend(targets);
        files
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
            untrusted: snapshot.untrusted().cloned(),
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

    /// Reads everything again that has changed on disk, with another configuration if there is one.
    /// Records of upstreams may be long, so other work of the runtime goes on meanwhile.
    fn refresh(&self, new: Option<Configured>) {
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
        let shown = shown.filter(|server| !self.is_loaded_elsewhere(server));
        let shown: Vec<ServerConfig> = shown
            .map(|server| {
                let mut server = server.for_client(self.places.client);
                let enabled = *once.get(&server.name).unwrap_or(&server.enabled);
                server.enabled = enabled && server.denied.is_none();
                server
            })
            .collect();
        let components = shown.iter().filter(|server| server.enabled);
        let components: Vec<_> = components
            .filter_map(|server| Some(server.component()?.to_owned()))
            .collect();
        let mut read = self.read_components(&components).into_iter();
        let old = self.snapshot();
        let servers: BTreeMap<_, _> = shown
            .into_iter()
            .map(|server| {
                let mut found = Read::default();
                if server.enabled {
                    found.entry = server.component().and_then(|_| read.next());
                    let upstream = server.bridge();
                    found.known = upstream.and_then(|of| {
                        let known = self.store.known(&of.fingerprint)?;
                        Some(self.added_resources.extended(&of.fingerprint, known))
                    });
                    // What a component offers is in its file, and is held against the record.
                    if server.component().is_none()
                        && upstream.is_some_and(|of| self.store.is_forgotten(&of.fingerprint))
                    {
                        found.known = None;
                    }
                }
                let name = server.name.clone();
                let next = Server::next(old.servers().get(&name), server, found);
                (name, next)
            })
            .collect();
        let untrusted = config.untrusted_for(self.places.client);
        let same = old.untrusted() == untrusted.as_ref()
            && servers.len() == old.servers().len()
            && servers
                .iter()
                .zip(old.servers())
                .all(|(new, old)| new.0 == old.0 && Arc::ptr_eq(new.1, old.1));
        if same {
            return;
        }
        let snapshot = Arc::new(Snapshot::new(servers, untrusted, config.reserved_names()));
        say(&old, &snapshot);
        *self.current.write() = snapshot.clone();
        stop_replaced(&old, &snapshot);
        // At the start there is nobody to tell, and the list is not made before
        // it is asked for.
        if self.changes.is_heard() {
            for list in [List::Tools, List::Prompts, List::Resources] {
                if !snapshot.lists_as(&old, list) {
                    self.changes.tell(Notice::Changed(list));
                }
            }
        }
    }
}

/// Combines the user's own configuration with the files found around it.
fn configured(own: Config, places: &Places, trust: &Trust) -> Configured {
    let mut configured = Configured::new(own, places.around.as_ref(), trust);
    folders::record(&places.data, &mut configured);
    places.note_filled_in(&configured);
    configured
}

/// Stops servers that are gone, disabled, or to be run in another way.
fn stop_replaced(old: &Snapshot, new: &Snapshot) {
    for (name, server) in old.servers() {
        server.replaced_by(new.servers().get(name).map(AsRef::as_ref));
    }
}

/// Logs the problems that are new.
fn say(old: &Snapshot, new: &Snapshot) {
    for (name, server) in new.servers() {
        let before = old.servers().get(name).and_then(|server| server.problem());
        if let Some(problem) = server.problem()
            && before != Some(problem)
        {
            tracing::error!(target: PROBLEMS_OF_SERVERS, "server `{name}`: {problem}");
        }
        let before = old
            .servers()
            .get(name)
            .map_or(&[][..], |server| server.odd());
        let odd = only_in(server.odd(), before);
        for odd in odd.iter().take(LOGGED_AT_ONCE) {
            let line = format!("server `{name}`: {odd}");
            let Some(line) = OFFERS.take(&line) else {
                break;
            };
            // What is mended is nothing that its user would miss.
            match odd.shown {
                true => tracing::info!(target: PROBLEMS_OF_SERVERS, "{line}"),
                false => tracing::warn!(target: PROBLEMS_OF_SERVERS, "{line}"),
            }
        }
        if let Some(more) = odd
            .len()
            .checked_sub(LOGGED_AT_ONCE)
            .filter(|more| *more > 0)
        {
            let line = format!("server `{name}`: {more} more items are not as MCP has them");
            if let Some(line) = OFFERS.take(&line) {
                tracing::warn!(target: PROBLEMS_OF_SERVERS, "{line}");
            }
        }
    }
    let collisions = only_in(new.collisions(), old.collisions());
    for collision in collisions.iter().take(LOGGED_AT_ONCE) {
        if let Some(line) = OFFERS.take(&collision.to_string()) {
            tracing::error!(target: PROBLEMS_OF_SERVERS, "{line}");
        }
    }
    let more = collisions.len().checked_sub(LOGGED_AT_ONCE);
    if let Some(more) = more.filter(|more| *more > 0) {
        let line = format!(
            "{more} more names are those of several things\nhint: `dormouse doctor` shows them"
        );
        if let Some(line) = OFFERS.take(&line) {
            tracing::error!(target: PROBLEMS_OF_SERVERS, "{line}");
        }
    }
}

/// Target of the log lines about problems of servers and their offers.
pub const PROBLEMS_OF_SERVERS: &str = "dormouse::servers";

/// Most problems of one kind that are logged one by one at once; of the rest, their number is.
const LOGGED_AT_ONCE: usize = 3;

/// Budget of log lines about servers' offers, which they may change as often as they like.
static OFFERS: LogBudget = LogBudget::new(Cow::Borrowed("items and names of servers"));

/// Returns the problems that were not there before.
fn only_in<'a, T: Eq + Hash>(now: &'a [T], before: &[T]) -> Vec<&'a T> {
    let before: HashSet<&T> = before.iter().collect();
    now.iter().filter(|one| !before.contains(one)).collect()
}
