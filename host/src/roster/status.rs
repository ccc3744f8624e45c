//! What `dormouse status` shows of a host.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One host and its servers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Status {
    /// The host's process id; none where no host runs and this was read from the
    /// configuration alone.
    pub pid: Option<u32>,
    /// Dormouse's version.
    pub version: String,
    /// The configuration file in use.
    pub config: PathBuf,
    /// When the host started, in seconds since the Unix epoch.
    pub started: Option<u64>,
    /// How many wasmtime engines this host has made: 0 until a tool is called,
    /// 1 from then on.
    pub engines: u64,
    /// How many components it has compiled, and how many it took from the cache.
    pub compiled: u64,
    /// How many compiled components came from the cache.
    pub cache_hits: u64,
    /// Agents connected.
    pub sessions: u64,
    /// Its servers by name.
    pub servers: Vec<ServerStatus>,
}

/// One server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerStatus {
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: State,
    /// The state as clients call it: connected, pending, failed, disabled,
    /// needs-auth or unknown.
    pub client_state: String,
    /// Since when it is in that state, in seconds since the Unix epoch.
    pub since: Option<u64>,
    /// The plugin's file.
    pub component: PathBuf,
    /// How many tools it has.
    pub tools: usize,
    /// Calls since the host started.
    pub calls: u64,
    /// Calls that are running.
    pub running: u64,
    /// Live instances.
    pub instances: u64,
    /// The last thing that went wrong.
    pub error: Option<String>,
    /// Where it is configured: `file:line`.
    pub origin: String,
}

/// The states of a server's life (DESIGN §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Switched off in the configuration.
    Disabled,
    /// Its declaration has been read; it has never been called.
    Known,
    /// Its first call is on its way.
    Starting,
    /// Loaded.
    Ready,
    /// Stopped after use.
    Idle,
    /// Its file cannot be read, or it could not be started.
    Failed,
}
