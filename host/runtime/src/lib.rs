//! Running plugins: engine, compile cache, instances, life cycle, values, and what a guest may do.
//!
//! Nothing here exists until the first call: [`Runtime::new`] makes no engine,
//! no thread and no file.

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
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime};

use dormouse_catalog::{read, read_regular_file};
use dormouse_policy::{Grants, HostLimits, Limits, OwnPlace, OwnPlaces};
use dormouse_protocol::{Listener, QuestionLimit, SessionClients, SessionId};
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

/// What a runtime has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Engines made: none until the first call; one whose instances come from a
    /// pool, one for those that do not fit it, and the same again for components that
    /// have the component model's concurrency.
    pub engines: u64,
    /// Components compiled.
    pub compiled: u64,
    /// Compiled components taken from the cache.
    pub cache_hits: u64,
}

impl Runtime {
    /// A runtime that keeps compiled components below `cache`, which no server is
    /// granted: for whoever runs nothing that is granted anything.
    #[must_use]
    pub fn new(cache: PathBuf, compile: CompileCommand) -> Self {
        let what = "which is Dormouse's cache".to_owned();
        let path = cache.clone();
        let own = OwnPlace { path, what };
        Self::with_own_places(&cache, OwnPlaces::new(move || vec![own.clone()]), compile)
    }

    /// A runtime that keeps compiled components below `cache`, and gives no server a
    /// folder that overlaps one of `own`.
    #[must_use]
    pub fn with_own_places(cache: &Path, own: OwnPlaces, compile: CompileCommand) -> Self {
        Self {
            loader: Arc::new(Loader::new(cache, own, compile)),
        }
    }

    /// Changes the limits of the host. What is in use already stays in use.
    pub fn set_limits(&self, limits: &HostLimits) {
        self.loader.memory.set_limit(limits.memory());
        self.loader.compiler.set_limits(limits);
    }

    /// How many bytes of memory guests have now, and may have.
    #[must_use]
    pub fn memory(&self) -> (u64, u64) {
        (self.loader.memory.taken(), self.loader.memory.limit())
    }

    /// A place for a server to live in; asleep.
    #[must_use]
    pub fn slot(&self, target: Target) -> Arc<Slot> {
        Slot::new(Arc::clone(&self.loader), target)
    }

    /// Compiles a component into the cache, so that its first call need not, and links it.
    /// Blocks, for seconds where the component is large. Returns what it imports that the host
    /// does not offer, and that ends it where it is called.
    ///
    /// # Errors
    /// The file cannot be read, is no component, or could not be started.
    pub fn prepare(&self, path: &Path) -> Result<Vec<NotOffered>, String> {
        let code = Code::File(path.to_owned());
        let ready = self.loader.component(&code, Origin::Demand)?;
        Ok(link::link(ready.machine, &ready.component)?.not_offered)
    }

    /// Removes all compiled components, and says how many bytes that freed.
    ///
    /// # Errors
    /// The cache's directory cannot be read or written.
    pub fn clean_cache(&self) -> std::io::Result<u64> {
        self.loader.cache.clean()
    }

    /// What it has done so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            engines: self.loader.machines.made(),
            compiled: self.loader.compiled.load(Ordering::Relaxed),
            cache_hits: self.loader.cache_hits.load(Ordering::Relaxed),
        }
    }
}

/// A server as the runtime knows it: one configured plugin at one content of its
/// file. Edited configuration or a changed file makes a new one; calls that run
/// keep theirs.
pub struct Target {
    /// The server's name.
    pub server: String,
    /// The component.
    pub code: Code,
    /// The one upstream that it may reach, if it is to stand in front of one.
    pub upstream: Option<Arc<Upstream>>,
    /// How long its instances live: what the plugin declares, unless overridden.
    pub instance: Instance,
    /// The functions that the declaration claims, to be compared with the code
    /// when it is loaded.
    pub functions: Vec<Function>,
    /// What it may do.
    pub grants: Grants,
    /// How much it may use.
    pub limits: Limits,
    /// How many of its questions, and of its upstream's, may wait for an answer.
    pub questions: QuestionLimit,
    /// What it is told through `dormouse:plugin/settings`.
    pub settings: Map<String, Value>,
    /// Clients that are told where a session loses what was kept for it.
    pub clients: Arc<dyn SessionClients>,
}

/// Where a component is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// In a file.
    File(PathBuf),
    /// In this program: the bridge, which hands everything on to its upstream.
    Bridge,
}

impl Code {
    /// The component's bytes.
    ///
    /// # Errors
    /// Its file cannot be read, or is not there.
    pub fn bytes(&self) -> std::io::Result<Cow<'static, [u8]>> {
        match self {
            Self::File(path) => match read_regular_file(path, read::LIMIT)? {
                Some(bytes) => Ok(Cow::Owned(bytes)),
                None => Err(std::io::ErrorKind::NotFound.into()),
            },
            Self::Bridge => Ok(Cow::Borrowed(include_bytes!(env!("DORMOUSE_BRIDGE")))),
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "`{}`", path.display()),
            Self::Bridge => f.write_str("the bridge"),
        }
    }
}

/// One call of a plugin.
pub struct Call {
    /// What is asked of it.
    pub wanted: GuestRequest,
    /// The agent's session, for plugins and upstreams that are kept for one; none where
    /// its requests belong to no connection.
    pub session: Option<SessionId>,
    /// Ends the call when cancelled, and is cancelled when nobody waits for the call
    /// any more: its guest can see that, and has [`GRACE`] to end by itself.
    pub cancel: CancellationToken,
    /// Hears what the plugin says while it runs, and answers what it asks.
    pub listener: Arc<dyn Listener>,
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
