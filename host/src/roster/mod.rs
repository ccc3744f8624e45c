//! The servers as they are right now: configuration, declarations and life, kept
//! together and kept up to date while the files behind them change.

mod added_resources;
mod approval;
mod asks;
mod bridge;
mod calls;
mod changed_items;
mod changes;
mod collision;
mod confirm;
mod error;
pub mod folders;
mod followed;
mod forget;
mod indented_json;
mod known_names;
mod line_diff;
mod memory;
mod named_resources;
pub mod names;
mod offers;
mod resource;
mod roster_policy;
mod server;
mod server_uri;
mod sessions;
mod settled;
mod shown_uris;
mod slot_cell;
mod snapshot;
pub mod status;
mod switch;
mod sync;
mod trust;
mod users_names;
mod waiting_names;
mod watch;
mod withheld_template;

#[cfg(test)]
pub(crate) mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, RwLock, Weak};
use std::time::SystemTime;

use dormouse_catalog::Catalog;
use dormouse_config::discovery::{SourceState, Surroundings};
use dormouse_config::{Client, Config, Configured, Fetch, ServerConfig};
use dormouse_policy::{LogBudget, OwnPlaces};
use dormouse_protocol::{Catalog as List, Listener, Notice, SessionId};
use dormouse_runtime::Runtime;
use dormouse_text::nearest::nearest;
use dormouse_upstream::{Connector, Reaction};

use added_resources::AddedResources;
pub use approval::ApprovalOutcome;
pub use bridge::difference;
pub use changed_items::{Gone, counts, gone_told};
pub use changes::{Changes, Numbers};
pub use collision::Collision;
use confirm::Questions;
use error::MeantServer;
pub use error::{NoSuchTool, Refusal};
pub use followed::FollowedResource;
use named_resources::NamedResources;
pub use offers::{Kind, Offer, Offers};
pub use resource::{ListedResource, ResourceSource, UnresolvedResource};
use server::Read;
pub use server::Server;
pub use server_uri::is_page;
use sessions::Sessions;
pub use snapshot::{Shown, Snapshot};
pub use status::{PendingApprovals, ServerStatus, State, Status};
pub use sync::Synced;

use crate::compile_command::compile_command;
use crate::store::{Decisions, KnownUpstream, Store, Trust};

/// Everything about one host's servers. Cheap to open: it reads the configuration
/// and the catalog's index, and nothing else.
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
    /// The configuration that `current` was made from. Whoever holds it is the
    /// one that changes `current`.
    config: Mutex<Configured>,
    /// The user's own configuration file as it could last be read. Trust that is revoked, and what
    /// becomes of a project's files, do not wait until it can be read again.
    own: Mutex<Config>,
    /// The servers that are on or off for as long as this host runs, whatever is
    /// configured.
    once: Mutex<BTreeMap<String, bool>>,
    /// Reasons for which servers are asked nothing, because what they offer cannot be kept, by the
    /// names of the servers.
    unkept: Mutex<BTreeMap<String, String>>,
    /// Questions that the user is asked, and has not agreed to.
    questions: Questions,
    changes: Changes,
    named: Mutex<NamedResources>,
    /// Resources that upstreams have for as long as they are connected.
    added_resources: AddedResources,
    /// Number of times that somebody had the configuration read at once; held while it is read then.
    reloads: Mutex<u64>,
    settled: Once,
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
    /// Its data directory: what is known of upstreams, whom the user trusts.
    pub data: PathBuf,
    /// File that the token of clients over HTTP is read from. None where there is none, or
    /// the environment has it.
    pub token_file: Option<PathBuf>,
    /// Folders and variables by which the files of the user's clients are found. None where they
    /// are not looked for.
    pub around: Option<Surroundings>,
    /// Dormouse itself, which is run once more to end the children of a host that is
    /// killed; they outlive it where there is none.
    pub program: Option<PathBuf>,
    /// The client that is served. What it loads itself is not shown a second time.
    pub client: Option<Client>,
    /// Files that servers take values from, as of the configuration that was read last.
    pub filled_in: dormouse_config::FilledInFiles,
}

impl Places {
    /// The catalog's index.
    #[must_use]
    pub fn index(&self) -> PathBuf {
        self.cache.join("catalog.index")
    }

    /// Takes note of the files that servers take values from, so that no server is granted them.
    pub fn note_filled_in(&self, configured: &Configured) {
        let around = self.around.as_ref();
        let project = around.and_then(|around| around.project.as_deref());
        self.filled_in.note(configured, project);
    }

    /// All that is Dormouse's own, which no server is granted.
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
    /// Hears what the tool says while it runs.
    pub listener: Arc<dyn Listener>,
}

impl Roster {
    /// Reads the configuration and the catalog. A server whose file cannot be
    /// read is in it, as failed; only an unreadable configuration is an error.
    ///
    /// # Errors
    /// The configuration cannot be read.
    pub fn open(places: Places) -> anyhow::Result<Arc<Self>> {
        let trust = Trust::new(&places.data);
        let own = dormouse_config::load(&places.config)?;
        let config = configured(own.clone(), &places, &trust);
        let roster = Arc::new_cyclic(|me| Self {
            me: me.clone(),
            catalog: Catalog::open(&places.index()),
            store: Store::of(&places.data),
            trust,
            decisions: Decisions::new(&places.data),
            runtime: Runtime::with_own_places(&places.cache, places.own(), compile_command),
            hub: Connector::new(places.program.clone(), &places.data),
            places,
            current: RwLock::default(),
            config: Mutex::default(),
            own: Mutex::new(own),
            once: Mutex::default(),
            unkept: Mutex::default(),
            questions: Questions::default(),
            changes: Changes::default(),
            named: Mutex::default(),
            added_resources: AddedResources::default(),
            reloads: Mutex::default(),
            settled: Once::new(),
            started: SystemTime::now(),
            sessions: Arc::default(),
        });
        roster.refresh(Some(config));
        Ok(roster)
    }

    /// Returns the current snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Does what had to wait until the first answer was out: saves the catalog's
    /// index, and begins to watch the configuration and the components. Only the
    /// first time does anything. Has to be called inside of a tokio runtime.
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

    /// Writes the catalog's index, if there is anything new in it. That it cannot
    /// be written costs time at the next start, and nothing else.
    pub fn save(&self) {
        if let Err(error) = self.catalog.save() {
            tracing::warn!(
                "the catalog's index `{}` cannot be written: {error}",
                self.places.index().display()
            );
        }
    }

    /// Returns the changes that agents are to be told of.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Has agents told what a server's plugin says has changed.
    pub fn notify(&self, server: &str, notice: Notice) {
        let notice = match notice {
            Notice::Updated(uri) => Notice::Updated(self.shown_update(server, uri)),
            notice => notice,
        };
        if let Notice::Updated(uri) = &notice {
            // To find out whose it is takes time, and its server says how often. Where nobody
            // wants to hear of it, it can be read afterwards, though.
            if !self.changes.is_wanted(uri) && !self.may_name_another(server) {
                return;
            }
            let ours = match self.resource(uri) {
                Ok(source) => source.server == server,
                Err(UnresolvedResource::Contested(_)) => false,
                Err(UnresolvedResource::Unknown) => self.note_updated(server, uri),
            };
            if !ours {
                tracing::debug!("server `{server}` has no resource `{uri}` that could change");
                return;
            }
        }
        self.changes.tell(notice);
    }

    /// Reads the user's own configuration, the files of clients and projects, whom the user trusts,
    /// and the files behind all that again, now. Where the user's own configuration cannot be
    /// read, that stays as it was, and all else is as it is now.
    ///
    /// # Errors
    /// The user's own configuration cannot be read.
    pub fn reload(&self) -> anyhow::Result<()> {
        let mut reloads = self.reloads();
        *reloads += 1;
        self.apply(self.read_configuration())
    }

    /// The same, of [files](Self::files) that somebody may be writing: once these are written.
    fn reload_settled(&self, files: &BTreeSet<PathBuf>) -> anyhow::Result<()> {
        loop {
            let before = *self.reloads();
            let read = settled::read_settled(files, || self.read_configuration());
            // What was read before somebody had it read at once may be older than that.
            let now = self.reloads();
            if *now == before {
                return self.apply(read);
            }
        }
    }

    fn reloads(&self) -> MutexGuard<'_, u64> {
        self.reloads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The user's own configuration, and with it, or else with what it last was, all the rest.
    fn read_configuration(&self) -> (anyhow::Result<Config>, Configured) {
        let own = dormouse_config::load(&self.places.config);
        let usable = match &own {
            Ok(own) => own.clone(),
            Err(_) => self.own().clone(),
        };
        (own, configured(usable, &self.places, &self.trust))
    }

    fn apply(&self, (own, configured): (anyhow::Result<Config>, Configured)) -> anyhow::Result<()> {
        let outcome = own.map(|own| *self.own() = own);
        self.refresh(Some(configured));
        outcome
    }

    /// Stops a server's instances and forgets its failures, so that the next call
    /// starts afresh. False where there is no such server.
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

    /// Stops all servers, and waits until their upstreams have ended: to be called
    /// when the process is about to end.
    pub async fn close(&self) {
        self.stop();
        self.hub.close().await;
    }

    /// Whether a server may ask a client of the stateless era something without saying whose
    /// call it is about: it has an upstream that is not known to know that era, in which what
    /// is asked is the answer to a request.
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

    /// The configuration file that this was opened from.
    pub fn config_path(&self) -> &Path {
        &self.places.config
    }

    /// Everything that is configured, wherever that is written, as it is now.
    ///
    /// # Errors
    /// The user's own configuration cannot be read.
    pub fn configured(&self) -> anyhow::Result<Configured> {
        let own = dormouse_config::load(&self.places.config)?;
        Ok(configured(own, &self.places, &self.trust))
    }

    /// The same, with all filled in that is to be known of a project before it is trusted.
    pub(super) fn configured_for_review(&self, project: &Path) -> anyhow::Result<Configured> {
        let own = dormouse_config::load(&self.places.config)?;
        let around = self.places.around.as_ref();
        Ok(Configured::for_review(own, around, &self.trust, project))
    }

    /// Names that the user and a trusted project both have a server of, each with a sentence on
    /// which of the two is shown.
    pub fn names_of_two(&self) -> Vec<(String, String)> {
        self.config().names_of_two().collect()
    }

    /// Returns what is wrong in the files of the user's clients, and of projects that they trust.
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

    /// Names of servers that are not shown, because another is reached in the same way, each with
    /// that one's name.
    pub fn merged(&self) -> BTreeMap<String, String> {
        self.config().same_as.clone()
    }

    /// Sentences on servers of clients' files, each with the server's name.
    pub fn notes(&self) -> Vec<(String, String)> {
        self.config().notes.clone()
    }

    fn once(&self) -> MutexGuard<'_, BTreeMap<String, bool>> {
        self.once.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unkept(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.unkept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn own(&self) -> MutexGuard<'_, Config> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn config(&self) -> MutexGuard<'_, Configured> {
        self.config.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files that, when they change, change what there is: the configuration, the
    /// clients' files, the components, what is known and who is trusted.
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

    /// Whether the client that is served loads a server itself.
    fn is_loaded_elsewhere(&self, server: &ServerConfig) -> bool {
        let client = self.places.client;
        client.is_some_and(|client| server.from.contains(&client))
    }

    fn server(&self, name: &str) -> Result<Arc<Server>, NoSuchTool> {
        let snapshot = self.snapshot();
        snapshot
            .servers()
            .get(name)
            .cloned()
            .ok_or_else(|| NoSuchTool::Server {
                server: name.to_owned(),
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

    /// Reads again whatever has changed on disk, with another configuration if
    /// there is one.
    fn refresh(&self, new: Option<Configured>) {
        let mut config = self.config();
        if let Some(new) = new {
            let told = folders::doubts(&config);
            for problem in only_in(&new.own_problems, &config.own_problems) {
                tracing::error!("{problem}");
            }
            *config = new;
            let doubts = folders::doubts(&config).into_iter();
            for (_, doubt) in doubts.filter(|doubt| !told.contains(doubt)) {
                tracing::warn!(target: PROBLEMS_OF_SERVERS, "{doubt}");
            }
            self.runtime.set_limits(&config.limits);
            self.hub.set_limits(&config.limits);
        }
        let once = self.once().clone();
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
        let mut read = self.catalog.entries(&components).into_iter();
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
        let untrusted = config.untrusted.clone();
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
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = snapshot.clone();
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

/// Puts together what the user's own file says and what is found around them.
fn configured(own: Config, places: &Places, trust: &Trust) -> Configured {
    let mut configured = Configured::new(own, places.around.as_ref(), trust);
    folders::record(&places.data, &mut configured);
    places.note_filled_in(&configured);
    configured
}

/// Stops what can no longer be called: that of servers which are gone, disabled, or
/// to be run another way.
fn stop_replaced(old: &Snapshot, new: &Snapshot) {
    for (name, server) in old.servers() {
        server.replaced_by(new.servers().get(name).map(AsRef::as_ref));
    }
}

/// Logs what is wrong now and was not before.
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

/// Target of the log lines about servers, and what they offer, that are not as they should be.
pub const PROBLEMS_OF_SERVERS: &str = "dormouse::servers";

/// Number of problems of one kind that are logged at once; of more, their number.
const LOGGED_AT_ONCE: usize = 3;

/// Budget of log lines about what servers offer, which they may change as often as they like.
static OFFERS: LogBudget = LogBudget::new(Cow::Borrowed("items and names of servers"));

/// The problems that were not there before.
fn only_in<'a, T: Eq + Hash>(now: &'a [T], before: &[T]) -> Vec<&'a T> {
    let before: HashSet<&T> = before.iter().collect();
    now.iter().filter(|one| !before.contains(one)).collect()
}
