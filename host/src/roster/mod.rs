//! The servers as they are right now: configuration, declarations and life, kept
//! together and kept up to date while the files behind them change.

mod asks;
mod changes;
mod collision;
mod error;
pub mod names;
mod offers;
mod server;
mod snapshot;
pub mod status;
mod watch;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError, RwLock};
use std::time::SystemTime;

use dormouse_catalog::{Catalog, Stamp};
use serde_json::{Map, Value};

pub use changes::{Changes, Numbers};
pub use collision::Collision;
pub use error::{NoSuchTool, Refusal};
pub use offers::{Kind, Offer, Offers};
pub use server::Server;
pub use snapshot::{Shown, Snapshot};
pub use status::{ServerStatus, State, Status};

use crate::config::{self, Config};
use crate::runtime::{Catalog as List, Listener, Notice, Runtime, SessionId};

/// Everything about one host's servers. Cheap to open: it reads the configuration
/// and the catalog's index, and nothing else.
pub struct Roster {
    places: Places,
    catalog: Catalog,
    runtime: Runtime,
    current: RwLock<Arc<Snapshot>>,
    /// The configuration that `current` was made from. Whoever holds it is the
    /// one that changes `current`.
    config: Mutex<Config>,
    changes: Changes,
    settled: Once,
    started: SystemTime,
    sessions: AtomicU64,
    next_session: AtomicU64,
}

/// Where a roster finds and keeps things.
#[derive(Debug, Clone)]
pub struct Places {
    /// The configuration file.
    pub config: PathBuf,
    /// Dormouse's cache directory: the catalog's index and compiled components.
    pub cache: PathBuf,
}

impl Places {
    /// The catalog's index.
    #[must_use]
    pub fn index(&self) -> PathBuf {
        self.cache.join("catalog.index")
    }
}

/// What a caller brings along with a call.
pub struct Context {
    /// The agent's session.
    pub session: SessionId,
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
        let config = config::load(&places.config)?;
        let roster = Self {
            catalog: Catalog::open(&places.index()),
            runtime: Runtime::new(places.cache.clone()),
            places,
            current: RwLock::default(),
            config: Mutex::default(),
            changes: Changes::default(),
            settled: Once::new(),
            started: SystemTime::now(),
            sessions: AtomicU64::new(0),
            next_session: AtomicU64::new(1),
        };
        roster.refresh(Some(config));
        Ok(Arc::new(roster))
    }

    /// What there is now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// A new agent's connection.
    pub fn begin_session(&self) -> SessionId {
        self.sessions.fetch_add(1, Ordering::Relaxed);
        SessionId(self.next_session.fetch_add(1, Ordering::Relaxed))
    }

    /// An agent's connection has ended: what was kept for it is let go of.
    pub fn end_session(&self, session: SessionId) {
        self.sessions.fetch_sub(1, Ordering::Relaxed);
        for server in self.snapshot().servers().values() {
            if let Some(slot) = server.slot() {
                slot.end_session(session);
            }
        }
    }

    /// Does what had to wait until the first answer was out: saves the catalog's
    /// index, and begins to watch the configuration and the components. Only the
    /// first time does anything. Has to be called inside of a tokio runtime.
    pub fn settle(self: &Arc<Self>) {
        self.settled.call_once(|| {
            tokio::spawn(watch::run(Arc::downgrade(self), self.places.config.clone()));
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

    /// What agents are to be told of.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Has agents told what a server's plugin says has changed.
    pub fn notify(&self, server: &str, notice: Notice) {
        if let Notice::Updated(uri) = &notice
            && self
                .snapshot()
                .resource(uri)
                .is_none_or(|(offer, _)| offer.server() != server)
        {
            tracing::debug!("server `{server}` has no resource `{uri}` that could change");
            return;
        }
        self.changes.tell(notice);
    }

    /// Reads the configuration and the files behind it again, now. Where the
    /// configuration cannot be read, it stays as it was.
    ///
    /// # Errors
    /// The configuration cannot be read.
    pub fn reload(&self) -> anyhow::Result<()> {
        let config = config::load(&self.places.config);
        let (config, outcome) = match config {
            Ok(config) => (Some(config), Ok(())),
            Err(error) => (None, Err(error)),
        };
        self.refresh(config);
        outcome
    }

    /// Calls a tool by its server's and its own name. The answer is an MCP
    /// `CallToolResult`; whatever goes wrong inside the tool is one too
    /// (`isError`).
    ///
    /// # Errors
    /// There is no such tool to call.
    pub async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Map<String, Value>,
        context: Context,
    ) -> Result<Value, NoSuchTool> {
        let found = self.server(server)?;
        // What was replaced on disk is noticed even where nobody tells of it.
        let found = if self.is_current(&found) {
            found
        } else {
            self.refresh(None);
            self.server(server)?
        };
        found.call(&self.runtime, tool, arguments, context).await
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

    /// How everything is.
    pub fn status(&self) -> Status {
        status::of(self)
    }

    /// The configuration file that this was opened from.
    pub fn config_path(&self) -> &Path {
        &self.places.config
    }

    fn server(&self, name: &str) -> Result<Arc<Server>, NoSuchTool> {
        let snapshot = self.snapshot();
        snapshot
            .servers()
            .get(name)
            .cloned()
            .ok_or_else(|| NoSuchTool::Server {
                server: name.to_owned(),
                nearest: names::nearest(name, snapshot.servers().keys().map(String::as_str)),
            })
    }

    /// Whether a server's file is still what it was when it was read, as far as
    /// one look at its folder can tell.
    fn is_current(&self, server: &Server) -> bool {
        let config = server.config();
        if !config.enabled {
            return true;
        }
        let Some(component) = config.component() else {
            return true;
        };
        let Some(stamp) = server.stamp().filter(|_| server.problem().is_none()) else {
            return false;
        };
        std::fs::metadata(component).is_ok_and(|now| Stamp::of(&now) == *stamp)
    }

    /// Reads again whatever has changed on disk, with another configuration if
    /// there is one.
    fn refresh(&self, new: Option<Config>) {
        let mut config = self.config.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(new) = new {
            *config = new;
        }
        let enabled: Vec<_> = config
            .servers
            .values()
            .filter(|server| server.enabled)
            .filter_map(|server| Some(server.component()?.to_owned()))
            .collect();
        let mut read = self.catalog.entries(&enabled).into_iter();
        let old = self.snapshot();
        let servers: BTreeMap<_, _> = config
            .servers
            .iter()
            .map(|(name, server)| {
                let is_read = server.enabled && server.component().is_some();
                let read = if is_read { read.next() } else { None };
                let next = Server::next(old.servers().get(name), server.clone(), read);
                (name.clone(), next)
            })
            .collect();
        let same = servers.len() == old.servers().len()
            && servers
                .iter()
                .zip(old.servers())
                .all(|(new, old)| new.0 == old.0 && Arc::ptr_eq(new.1, old.1));
        if same {
            return;
        }
        let snapshot = Arc::new(Snapshot::new(servers));
        say(&old, &snapshot);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = snapshot.clone();
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

/// Logs what is wrong now and was not before.
fn say(old: &Snapshot, new: &Snapshot) {
    for (name, server) in new.servers() {
        let before = old.servers().get(name).and_then(|server| server.problem());
        if let Some(problem) = server.problem()
            && before != Some(problem)
        {
            tracing::error!("server `{name}`: {problem}");
        }
    }
    for collision in new.collisions() {
        if !old.collisions().contains(collision) {
            tracing::error!("{collision}");
        }
    }
}
