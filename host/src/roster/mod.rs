//! The servers as they are right now: configuration, declarations and life, kept
//! together and kept up to date while the files behind them change.

pub mod names;
pub mod status;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_wit::Instance;
use serde_json::{Map, Value};
use tokio::sync::watch;

pub use status::{ServerStatus, State, Status};

use crate::runtime::{Listener, SessionId};

/// Everything about one host's servers. Cheap to open: it reads the configuration
/// and the catalog's index, and nothing else.
pub struct Roster {}

/// Where a roster finds and keeps things.
#[derive(Debug, Clone)]
pub struct Places {
    /// The configuration file.
    pub config: PathBuf,
    /// Dormouse's cache directory: the catalog's index and compiled components.
    pub cache: PathBuf,
}

/// The servers and tools at one moment; never changes.
pub struct Snapshot {}

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
    pub fn open(places: Places) -> anyhow::Result<Arc<Self>> {
        let _ = places;
        todo!()
    }

    /// What there is now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        todo!()
    }

    /// A new agent's connection.
    pub fn begin_session(&self) -> SessionId {
        todo!()
    }

    /// An agent's connection has ended: what was kept for it is let go of.
    pub async fn end_session(&self, session: SessionId) {
        let _ = session;
        todo!()
    }

    /// Does what had to wait until the first answer was out: saves the catalog's
    /// index, and begins to watch the configuration and the components.
    pub fn settle(self: &Arc<Self>) {
        todo!()
    }

    /// Sees a new number whenever the list of tools changes.
    pub fn changes(&self) -> watch::Receiver<u64> {
        todo!()
    }

    /// Reads the configuration and the files behind it again, now. Where the
    /// configuration cannot be read, everything stays as it was.
    pub fn reload(&self) -> anyhow::Result<()> {
        todo!()
    }

    /// Calls a tool by its server's and its own name. The answer is an MCP
    /// `CallToolResult`; whatever goes wrong inside the tool is one too
    /// (`isError`), so an error here means that there is no such tool to call.
    pub async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Map<String, Value>,
        context: Context,
    ) -> Result<Value, NoSuchTool> {
        let _ = (server, tool, arguments, context, Instance::PerCall);
        todo!()
    }

    /// Stops a server's instances and forgets its failures, so that the next call
    /// starts afresh. False where there is no such server.
    pub async fn restart(&self, server: &str) -> bool {
        let _ = server;
        todo!()
    }

    /// How everything is.
    pub fn status(&self) -> Status {
        todo!()
    }

    /// The configuration file that this was opened from.
    pub fn config_path(&self) -> &Path {
        todo!()
    }
}

/// There is no such tool, or it is not to be called.
#[derive(Debug, thiserror::Error)]
pub enum NoSuchTool {
    /// No server of that name.
    #[error("no server is called `{server}`{}", hint(.nearest))]
    Server {
        /// The name asked for.
        server: String,
        /// The nearest name that exists.
        nearest: Option<String>,
    },
    /// The server has no such tool.
    #[error("server `{server}` has no tool `{tool}`{}", hint(.nearest))]
    Tool {
        /// The server.
        server: String,
        /// The name asked for.
        tool: String,
        /// The nearest name that exists.
        nearest: Option<String>,
    },
    /// The server is there, but not to be called.
    #[error("server `{server}` is {state}")]
    Unavailable {
        /// The server.
        server: String,
        /// Its state, and why it is in it.
        state: String,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map(|name| format!("\nhint: did you mean `{name}`?"))
        .unwrap_or_default()
}
