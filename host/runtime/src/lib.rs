//! Running of plugins: engines, compile cache, instances, life cycle, values and sandbox.
//!
//! Nothing is made before the first call: [`Runtime::new`] makes no engine, no thread and no file.

mod arguments;
mod ask;
mod bindings;
mod cache;
mod call_memory;
mod call_permit;
mod compile_places;
mod compiled_schemas;
pub mod compiler;
mod content;
mod engine;
mod error;
mod flag_lists;
mod grace;
mod guest_request;
mod hint;
mod host_share;
mod instance;
mod instances;
mod link;
mod load;
mod memory;
mod params;
mod pausable_deadline;
mod question_size;
mod sampling;
mod sandbox;
mod schemas;
mod signature;
mod slot;
mod state;
mod ticker;
mod upstream;
mod value;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime};

use dormouse_catalog::{open_and_read_regular_file, read};
use dormouse_files::ownership;
use dormouse_policy::{Grants, HostLimits, Limits, OwnPlace, OwnPlaces};
use dormouse_protocol::{Listener, QuestionLimit, SessionClients, SessionId};
use dormouse_text::visible::visible_path;
use dormouse_upstream::Upstream;
use dormouse_wit::{Function, Instance};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

pub use arguments::Arguments;
pub use ask::check_answer;
pub use compiler::CompileCommand;
pub use error::{CallError, Cause};
pub use grace::GRACE;
pub use guest_request::{
    Callable, Completion, GuestRequest, Prompt, Reference, Resource, Tool, completion,
};
pub use link::{NotOffered, not_offered};
pub use sandbox::{GrantError, GrantedFolders};
pub use schemas::Schemas;
pub use slot::{ENDED, RunningCalls, Slot};

use engine::Origin;
use load::Loader;

/// Runs calls. One per process.
pub struct Runtime {
    loader: Arc<Loader>,
}

/// Counts of a runtime's work so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Engines made: none until the first call; one with a pool of instances, one for instances
    /// that do not fit the pool, and the same again for components with the component model's
    /// concurrency.
    pub engines: u64,
    /// Components compiled.
    pub compiled: u64,
    /// Compiled components taken from the cache.
    pub cache_hits: u64,
}

impl Runtime {
    /// Returns a runtime that keeps compiled components below `cache`, which no server is granted:
    /// for callers without other folders of their own.
    #[must_use]
    pub fn new(cache: PathBuf, compile: CompileCommand) -> Self {
        let what = "which is Dormouse's cache".to_owned();
        let path = cache.clone();
        let own = OwnPlace { path, what };
        Self::with_own_places(&cache, OwnPlaces::new(move || vec![own.clone()]), compile)
    }

    /// Returns a runtime that keeps compiled components below `cache`, and gives no server a folder
    /// that overlaps one of `own`.
    #[must_use]
    pub fn with_own_places(cache: &Path, own: OwnPlaces, compile: CompileCommand) -> Self {
        Self {
            loader: Arc::new(Loader::new(cache, own, compile)),
        }
    }

    /// Changes the limits of the host. Memory that is in use stays in use.
    pub fn set_limits(&self, limits: &HostLimits) {
        self.loader.memory.set_limit(limits.memory());
        self.loader.compiler.set_limits(limits);
    }

    /// Returns the bytes of memory that guests have now, and the most that they may have.
    #[must_use]
    pub fn memory(&self) -> (u64, u64) {
        (self.loader.memory.taken(), self.loader.memory.limit())
    }

    /// Returns a slot for a server, which is not loaded yet.
    #[must_use]
    pub fn slot(&self, target: Target) -> Arc<Slot> {
        Slot::new(Arc::clone(&self.loader), target)
    }

    /// Compiles a component into the cache, so that its first call need not, and links it. Blocks,
    /// for seconds where the component is large. Returns the imports that the host does not offer,
    /// whose calls end the component.
    ///
    /// # Errors
    /// The file cannot be read, is no component, or could not be started.
    pub fn prepare(&self, path: &Path) -> Result<Vec<NotOffered>, String> {
        let code = Code::File(path.to_owned());
        let ready = self.loader.component(&code, Origin::Demand)?;
        Ok(link::link(ready.machine, &ready.component)?.not_offered)
    }

    /// Removes all compiled components, and returns the number of bytes that were freed.
    ///
    /// # Errors
    /// The cache's directory cannot be read or written.
    pub fn clean_cache(&self) -> io::Result<u64> {
        self.loader.cache.clean()
    }

    /// Returns the counts of its work so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            engines: self.loader.machines.made(),
            compiled: self.loader.compiled.load(Ordering::Relaxed),
            cache_hits: self.loader.cache_hits.load(Ordering::Relaxed),
        }
    }
}

/// A server as the runtime knows it: one configured plugin at one content of its file. Edited
/// configuration or a changed file makes a new one; running calls keep theirs.
pub struct Target {
    /// The server's name.
    pub server: String,
    /// The component.
    pub code: Code,
    /// The only upstream that it may reach, if it is to stand in front of one.
    pub upstream: Option<Arc<Upstream>>,
    /// Lifetime of its instances: as the plugin declares, unless overridden.
    pub instance: Instance,
    /// The functions that the declaration claims, to be compared with the code
    /// when it is loaded.
    pub functions: Vec<Function>,
    /// Grants of the user.
    pub grants: Grants,
    /// Limits on its resources.
    pub limits: Limits,
    /// Limit on its questions, and its upstream's, that wait for an answer.
    pub questions: QuestionLimit,
    /// Settings that it gets through `dormouse:plugin/settings`.
    pub settings: Map<String, Value>,
    /// Clients that are told when a session loses an instance or a connection that was kept for it.
    pub clients: Arc<dyn SessionClients>,
}

/// Location of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// In a file.
    File(PathBuf),
    /// In this program: the bridge, which passes everything on to its upstream.
    Bridge,
}

/// The bridge, as a component.
const BRIDGE: &[u8] = include_bytes!(env!("DORMOUSE_BRIDGE"));

impl Code {
    /// Returns the size of the component, in bytes.
    ///
    /// # Errors
    /// Its file is not there, or is larger than any component may be.
    fn size(&self) -> io::Result<u64> {
        match self {
            Self::File(path) => match std::fs::metadata(path)?.len() {
                size if size <= read::LIMIT => Ok(size),
                size => Err(io::Error::new(
                    io::ErrorKind::FileTooLarge,
                    format!(
                        "it has {size} bytes, more than the {} that a component may have",
                        read::LIMIT
                    ),
                )),
            },
            Self::Bridge => Ok(BRIDGE.len() as u64),
        }
    }

    /// Returns the component's bytes.
    ///
    /// # Errors
    /// Its file cannot be read, is not there, or has more than `max_bytes`.
    pub fn bytes(&self, max_bytes: u64) -> io::Result<Cow<'static, [u8]>> {
        match self {
            Self::File(path) => {
                let read = open_and_read_regular_file(path, max_bytes)?;
                let (file, bytes) = read.ok_or(io::ErrorKind::NotFound)?;
                // It may have been put there after its declaration was read.
                ownership::check_program(path, &file.metadata()?)?;
                Ok(Cow::Owned(bytes))
            }
            Self::Bridge => Ok(Cow::Borrowed(BRIDGE)),
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "`{}`", visible_path(path)),
            Self::Bridge => f.write_str("the bridge"),
        }
    }
}

/// A call of a plugin.
pub struct Call {
    /// The request to the plugin.
    pub wanted: GuestRequest,
    /// The agent's session, for plugins and upstreams that are kept for one; none where its
    /// requests belong to no connection.
    pub session: Option<SessionId>,
    /// Ends the call when cancelled, and is cancelled when nobody waits for the call any more: its
    /// guest can see that, and has [`GRACE`] to end by itself.
    pub cancel: CancellationToken,
    /// Receives the plugin's messages while it runs, and answers its questions.
    pub listener: Arc<dyn Listener>,
}

/// State of a server's life (DESIGN §5), as far as the runtime can tell.
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
    /// Could not be loaded, with the reason, and the time at which it may be tried again.
    Failed(String, Instant),
}
