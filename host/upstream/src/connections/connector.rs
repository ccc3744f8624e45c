//! Connector, which all upstreams of a process share.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use dormouse_launch::{Http, Launch};
use dormouse_policy::{HostLimits, LogBudget, ProviderLogin, UpstreamLimits};
use parking_lot::Mutex;
use tokio_util::task::TaskTracker;

use super::connection_room::ConnectionRoom;
use super::idle_connections::ConnectionOwner;
use super::upstream::IdleConnection;
use crate::auth::{Auth, Logins};
use crate::http;
use crate::http::Credentials as _;
use crate::messages::channel::{Channel, Lost, MessageSender};
use crate::messages::read_room::ReadRoom;
use crate::reaper::Reaper;
use crate::server_secrets::ServerSecrets;
use crate::stdio::child;

/// Time that connections may take to be closed when the process ends. The reaper ends what is left
/// then.
const CLOSING: Duration = Duration::from_secs(5);

/// Makes connections. One per process.
pub struct Connector {
    reaper: Arc<Reaper>,
    logins: Logins,
    closing: TaskTracker,
    is_closing: AtomicBool,
    /// Connections, some of which are gone.
    open: Mutex<Vec<Weak<dyn MessageSender>>>,
    /// Log budget of each server, over all of its connections.
    logs: Mutex<HashMap<String, Arc<LogBudget>>>,
    /// Room for unfinished messages of each server, over all of its connections.
    read_rooms: Mutex<HashMap<String, ReadRoom>>,
    /// Upstreams, some of which are gone.
    upstreams: Mutex<Vec<Weak<dyn ConnectionOwner>>>,
    pub(super) connection_room: ConnectionRoom,
}

impl Connector {
    /// Creates a connector that has done nothing yet. `reaper` is the program whose subcommand
    /// `reaper` ends what a killed host leaves behind: Dormouse itself. Without one, child
    /// processes outlive a host that is killed. `data` is Dormouse's data folder, where logins are
    /// kept.
    #[must_use]
    pub fn new(reaper: Option<PathBuf>, data: &Path) -> Arc<Self> {
        Arc::new(Self {
            reaper: Arc::new(Reaper::new(reaper)),
            logins: Logins::new(data),
            closing: TaskTracker::new(),
            is_closing: AtomicBool::new(false),
            open: Mutex::default(),
            logs: Mutex::default(),
            read_rooms: Mutex::default(),
            upstreams: Mutex::default(),
            connection_room: ConnectionRoom::new(HostLimits::default().connections),
        })
    }

    /// Sets the limits of the host that are about connections.
    pub fn set_limits(&self, limits: &HostLimits) {
        self.connection_room.set_most(limits.connections);
    }

    /// Counts the connections of another upstream from now on.
    pub(super) fn add(&self, upstream: Weak<dyn ConnectionOwner>) {
        let mut upstreams = self.upstreams.lock();
        upstreams.retain(|upstream| upstream.strong_count() > 0);
        upstreams.push(upstream);
    }

    /// Returns the connections of all upstreams that no call uses.
    pub(super) fn idle(&self) -> Vec<IdleConnection> {
        let upstreams: Vec<_> = {
            let upstreams = self.upstreams.lock();
            upstreams.iter().filter_map(Weak::upgrade).collect()
        };
        upstreams
            .iter()
            .flat_map(|upstream| upstream.idle())
            .collect()
    }

    /// Makes a connection.
    pub(super) async fn open(
        &self,
        server: &str,
        launch: &Launch,
        secrets: &Arc<ServerSecrets>,
        limits: &UpstreamLimits,
    ) -> Result<Channel, Lost> {
        let room = self.read_room(server, limits);
        let channel = match launch {
            Launch::Stdio(stdio) => {
                let log = self.log_budget(server, limits);
                child::open(&self.reaper, server, log, stdio, secrets, &room)
            }
            Launch::Http(entry) => {
                let login = self.login(server, entry);
                http::connect(entry, Some(Arc::new(login)), &room).await
            }
        }?;
        let mut open = self.open.lock();
        open.retain(|sender| sender.strong_count() > 0);
        open.push(Arc::downgrade(&channel.sender));
        Ok(channel)
    }

    /// Returns the secrets of a server. Those of a login are the same for all of its connections.
    pub(super) fn secrets(&self, server: &str, launch: &Launch) -> Arc<ServerSecrets> {
        match launch {
            Launch::Stdio(_) => ServerSecrets::new(server, launch),
            Launch::Http(http) => self.login(server, http).secrets(),
        }
    }

    /// Returns the log budget of a server.
    pub(super) fn log_budget(&self, server: &str, limits: &UpstreamLimits) -> Arc<LogBudget> {
        let mut logs = self.logs.lock();
        let budget = logs
            .entry(server.to_owned())
            .or_insert_with(|| Arc::new(LogBudget::new(format!("server `{server}`").into())));
        // Its configuration may have changed.
        budget.set_max_bytes(limits.log_bytes);
        Arc::clone(budget)
    }

    /// Returns the room for unfinished messages of a server.
    fn read_room(&self, server: &str, limits: &UpstreamLimits) -> ReadRoom {
        let mut rooms = self.read_rooms.lock();
        let room = rooms
            .entry(server.to_owned())
            .or_insert_with(|| ReadRoom::new(limits.message_bytes));
        // Its configuration may have changed.
        if room.message_bytes() != limits.message_bytes {
            *room = ReadRoom::new(limits.message_bytes);
        }
        room.clone().with_batches_of(limits.batch_messages)
    }

    /// Returns the user's login at a server's upstream.
    pub(super) fn login(&self, server: &str, http: &Http) -> Auth {
        self.logins.of(server, http)
    }

    /// Returns the user's login at a provider, for the plugin of a server. `project` is the folder of
    /// the project whose server it is, where it is one's.
    #[must_use]
    pub fn provider_login(
        &self,
        server: &str,
        project: Option<&Path>,
        login: &ProviderLogin,
    ) -> Auth {
        self.logins.at_provider(server, project, login)
    }

    /// Runs work that ends a connection, which [`Connector::close`] waits for.
    pub(super) fn closing(&self, work: impl Future<Output = ()> + Send + 'static) {
        // Outside of a runtime there is nothing left that could be closed.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            self.closing.spawn_on(work, &runtime);
        }
    }

    /// Whether all connections end because the process does: a failure then says nothing of an
    /// upstream.
    pub(super) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }

    /// Ends all connections in an orderly way, in a few seconds at most: to be called
    /// when the process is about to end.
    pub async fn close(&self) {
        self.is_closing.store(true, Ordering::Release);
        let open = std::mem::take(&mut *self.open.lock());
        let open = open.iter().filter_map(Weak::upgrade);
        let ending = futures::future::join_all(open.map(|sender| sender.close()));
        self.closing.close();
        let all = futures::future::join(ending, self.closing.wait());
        let _ = tokio::time::timeout(CLOSING, all).await;
    }
}
