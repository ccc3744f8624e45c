//! Running of plugins: engines, compile cache, instances, life cycle, values and sandbox.
//!
//! Nothing is made before the first call: [`Runtime::new`] makes no engine, no thread and no file.

mod ask;
mod bindings;
mod cache;
mod call;
pub mod compiler;
mod engine;
mod error;
mod grant_questions;
mod hint;
mod instances;
mod loader;
mod memory;
mod request;
mod sandbox;
mod schemas;
mod server_room;
mod slot;
mod state;
mod target;
mod value;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dormouse_policy::{HostLimits, OwnPlace, OwnPlaces};

pub use ask::check_answer;
pub use call::{Call, CallCondition, GRACE, UpstreamCallCondition};
pub use compiler::CompileCommand;
pub use dormouse_egress::{QuestionTurns, SentSecrets, is_for_internet};
pub use error::{CallError, Cause};
pub use grant_questions::{
    GrantAnswer, GrantAsker, GrantQuestions, SecretAnswer, SecretError, SessionGrants,
};
pub use loader::{NotOffered, not_offered};
pub use request::{
    Arguments, Callable, Completion, GuestRequest, PromptRequest, Reference, ResourceRequest,
    ToolRequest, completion,
};
pub use sandbox::{GrantError, GrantedFolders};
pub use schemas::Schemas;
pub use slot::{ENDED, Phase, RunningCalls, Slot};
pub use target::{ComponentLocation, Target};

use engine::InstanceOrigin;
use loader::Loader;

/// Runs calls. One per process.
pub struct Runtime {
    loader: Arc<Loader>,
}

/// Counts of a runtime's work so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuntimeCounts {
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
        let code = ComponentLocation::File(path.to_owned(), None);
        let ready = self.loader.component(&code, InstanceOrigin::Demand)?;
        Ok(loader::link(ready.machine, &ready.component)?.not_offered)
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
    pub fn counts(&self) -> RuntimeCounts {
        RuntimeCounts {
            engines: self.loader.machines.made(),
            compiled: self.loader.compiled.load(Ordering::Relaxed),
            cache_hits: self.loader.cache_hits.load(Ordering::Relaxed),
        }
    }
}
