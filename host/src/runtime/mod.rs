//! Running plugins: engine, compile cache, instances, life cycle, values.
//!
//! Nothing here exists until the first call: [`Runtime::new`] makes no engine,
//! no thread and no file.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use dormouse_wit::{Function, Instance};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::sandbox::{Grants, Limits};

/// Runs calls. One per process.
#[derive(Debug)]
pub struct Runtime {}

/// A server as the runtime knows it: one configured plugin at one content of its
/// file. Edited configuration or a changed file makes a new one; calls that run
/// keep theirs.
#[derive(Debug)]
pub struct Target {
    /// The server's name.
    pub server: String,
    /// The component's file.
    pub path: PathBuf,
    /// How long its instances live: what the plugin declares, unless overridden.
    pub instance: Instance,
    /// The functions that the declaration claims, to be compared with the code
    /// when it is loaded.
    pub functions: Vec<Function>,
    /// What it may do.
    pub grants: Grants,
    /// How much it may use.
    pub limits: Limits,
    /// What it is told through `dormouse:plugin/settings`.
    pub settings: Map<String, Value>,
}

/// One call of a tool.
pub struct Call {
    /// The tool's own name, without a prefix.
    pub tool: String,
    /// The function behind it; none for an adapter's tool.
    pub function: Option<Function>,
    /// The tool's input schema, which the arguments of a typed tool are checked
    /// against before anything is instantiated.
    pub input_schema: Value,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// The agent's session, for plugins that are kept for one.
    pub session: SessionId,
    /// Ends the call when cancelled.
    pub cancel: CancellationToken,
    /// Hears what the tool says while it runs.
    pub listener: Arc<dyn Listener>,
}

/// One agent's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(pub u64);

/// Hears what a running call says. Must not block.
pub trait Listener: Send + Sync {
    /// `dormouse:plugin/call.progress`, and the host's own while it compiles.
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<String>);
    /// `dormouse:plugin/call.log`; the level is MCP's name for it.
    fn log(&self, level: &'static str, logger: Option<String>, data: Value);
}

/// The state of a server's life (DESIGN §5), as far as the runtime can tell.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// Never called.
    Known,
    /// Its first call is on its way.
    Starting,
    /// Loaded, since.
    Ready(SystemTime),
    /// Stopped after use, since.
    Idle(SystemTime),
    /// Could not be loaded: why, and when it may be tried again.
    Failed(String, Instant),
}
