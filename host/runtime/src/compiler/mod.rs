//! Compiling of components, each in a process of its own.
//!
//! The time and memory of a compile are up to the author of the component: a few hundred kilobytes
//! can be made to take minutes and gigabytes, and nothing inside of a process can stop that. So
//! this program is started once more for each compile, gives itself limits that the system
//! enforces, and is ended when its time is over. It ends by itself when its host has gone.

mod compile_places;
mod compile_process;
mod compile_subcommand;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use dormouse_policy::{HostLimits, processors};
use parking_lot::Mutex;

pub use compile_subcommand::run;

use self::compile_places::{CompilePlaces, Length};
use self::compile_process::{NotCompiled, run_process};

/// Most components that are remembered as exceeding the limits.
const REMEMBERED: usize = 256;

/// Reason for which a component was not compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CompileError {
    /// The component is refused, in the compiler's own words.
    #[error("it is no component that runs here: {0}")]
    Refused(String),
    #[error(
        "compiling it takes longer than {} s\nhint: `compile_time` in `[limits]` of dormouse.toml sets how long that may take, if you trust the component", .0.as_secs_f64()
    )]
    Time(Duration),
    #[error(
        "compiling it takes more than {0} bytes of memory\nhint: `compile_memory` in `[limits]` of dormouse.toml sets how much that may take, if you trust the component"
    )]
    Memory(u64),
    #[error("the process that compiles it {0}")]
    Failed(String),
}

impl CompileError {
    /// Checks whether compiling again would fail again, at the same cost.
    fn is_costly(&self) -> bool {
        matches!(self, Self::Time(_) | Self::Memory(_))
    }
}

/// Makes the command that starts this program once more, to [compile](run), with the arguments that
/// select that.
pub type CompileCommand = fn() -> io::Result<Command>;

/// Compiles components, about as many at once as there are processors.
pub(super) struct Compiler {
    command: CompileCommand,
    limits: Mutex<CompileLimits>,
    places: CompilePlaces,
    /// Costly failures, by the name of the entry that was to be compiled, with the limits at that
    /// time.
    failed: Mutex<HashMap<String, (CompileLimits, CompileError)>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CompileLimits {
    time: Duration,
    memory: u64,
}

impl From<&HostLimits> for CompileLimits {
    fn from(limits: &HostLimits) -> Self {
        Self {
            time: limits.compile_time,
            memory: limits.compile_memory,
        }
    }
}

/// A component to be compiled.
pub(super) struct CompileJob<'a> {
    /// Name of the resulting entry.
    pub name: &'a str,
    /// The component.
    pub component: &'a [u8],
    /// Whether it is for the engine with the component model's concurrency.
    pub concurrent: bool,
    /// Folder for the code on its way here, if the system has no temporary folder.
    pub folder: &'a Path,
}

impl Compiler {
    pub(super) fn new(limits: &HostLimits, command: CompileCommand) -> Self {
        // Each takes all processors for a while.
        Self {
            command,
            limits: Mutex::new(limits.into()),
            places: CompilePlaces::new(processors().clamp(2, 4)),
            failed: Mutex::default(),
        }
    }

    pub(super) fn set_limits(&self, limits: &HostLimits) {
        *self.limits.lock() = limits.into();
    }

    /// Compiles a component. Blocks, for seconds where it is large.
    ///
    /// # Errors
    /// It is no component, needs a feature that no engine here has, or exceeds the limits.
    pub(super) fn compile(&self, job: &CompileJob<'_>) -> Result<Vec<u8>, CompileError> {
        let limits = *self.limits.lock();
        if let Some((then, error)) = self.failed.lock().get(job.name)
            && *then == limits
        {
            return Err(error.clone());
        }
        let mut place = self.places.take(Length::Short);
        let compiled = match run_process(self.command, job, limits, &mut place) {
            Ok(code) => Ok(code),
            Err(NotCompiled::Failed(error)) => Err(error),
            Err(NotCompiled::Long) => {
                drop(place);
                let mut place = self.places.take(Length::Long);
                run_process(self.command, job, limits, &mut place).map_err(NotCompiled::into_error)
            }
        };
        if let Err(error) = &compiled
            && error.is_costly()
        {
            let mut failed = self.failed.lock();
            if failed.len() >= REMEMBERED {
                failed.clear();
            }
            failed.insert(job.name.to_owned(), (limits, error.clone()));
        }
        compiled
    }
}
