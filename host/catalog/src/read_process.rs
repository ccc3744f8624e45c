//! Reading a component in a process of its own.
//!
//! Reading takes as much as whoever wrote the component wants: types that are made of one another a
//! few hundred times, in a file of some kilobytes, can be made to take minutes and gigabytes. Much
//! of that is counted beforehand (`dormouse_wit`), but what is counted stands for what libraries do,
//! which is more than anybody foresees. So only what is read in proportion to its length is
//! read in this process: a small declaration in the front of a packed component. All else is read
//! by this program, started once more with limits that the system enforces.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use dormouse_files::process_limits::{self, ProcessLimits};
use dormouse_wit::Finding;
use serde::de::DeserializeOwned;

use crate::check::check;
use crate::component::listing;
use crate::component_file::{self, LIMIT};
use crate::error::{Problem, ReadError, words};
use crate::inspect::{Inspection, inspect};
use crate::round::ReadRound;

/// Tasks of such a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadTask {
    /// Reads what a component declares. A host waits for that before it answers anybody.
    Listing,
    /// Finds what is wrong with a component.
    Findings,
    /// Describes a component by all of its bytes.
    Inspection,
}

/// Function that makes the command by which this program is started once more, to [read](run).
pub type ReadCommand = fn(ReadTask) -> io::Result<Command>;

/// Longest duration by the clock, for systems without limits or with much else to do, in multiples
/// of the processor time that is allowed.
const CLOCK_FACTOR: u64 = 10;

/// Most address space of a process, in bytes. The largest component is read whole.
const MAX_MEMORY_BYTES: u64 = 2 << 30;

/// Longest result, as JSON, in bytes.
const MAX_FOUND_BYTES: u64 = 64 << 20;

/// Longest listing of the smallest component, as JSON, in bytes. A host and its index keep it: a
/// small file must not take much of either.
const MIN_LISTING_BYTES: u64 = 8 << 20;

/// Most bytes of a listing for each byte of its component. An item may be kept in two forms.
const LISTING_FACTOR: u64 = 2;

/// Most bytes that are read of a process's error output.
const MAX_STDERR_BYTES: u64 = 16 << 10;

/// Pause between two checks whether a process has ended.
const POLL: Duration = Duration::from_millis(1);

/// Bytes of the length that follows what a process has written.
const LENGTH_BYTES: usize = size_of::<u64>();

impl ReadTask {
    /// All tasks.
    pub const ALL: [Self; 3] = [Self::Listing, Self::Findings, Self::Inspection];

    /// Returns the word by which a command names the task.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Listing => "listing",
            Self::Findings => "findings",
            Self::Inspection => "inspection",
        }
    }

    /// Returns the processor time that is allowed, in seconds. Components of today's toolchains take
    /// a tenth of that at most.
    fn seconds(self) -> u64 {
        match self {
            Self::Listing => 3,
            // These look at the code too.
            Self::Findings | Self::Inspection => 30,
        }
    }

    /// Returns the longest result for a component of that many bytes.
    fn max_found(self, component: u64) -> u64 {
        match self {
            Self::Listing => {
                let most = component.saturating_mul(LISTING_FACTOR);
                MAX_FOUND_BYTES.min(most.saturating_add(MIN_LISTING_BYTES))
            }
            Self::Findings | Self::Inspection => MAX_FOUND_BYTES,
        }
    }

    fn costly(self) -> Problem {
        Problem::Costly {
            seconds: self.seconds(),
            memory: MAX_MEMORY_BYTES,
        }
    }
}

/// Returns everything that is wrong with the component in a file; nothing where all is well.
///
/// # Errors
/// It is no file, or takes too much.
pub fn check_file(path: &Path, command: ReadCommand) -> Result<Vec<Finding>, ReadError> {
    of_file(path, command, ReadTask::Findings)
}

/// Returns everything that the bytes of the component in a file tell about it.
///
/// # Errors
/// It is no component, its declaration is damaged, or it takes too much.
pub fn inspect_file(path: &Path, command: ReadCommand) -> Result<Inspection, ReadError> {
    of_file(path, command, ReadTask::Inspection)
}

fn of_file<T: DeserializeOwned>(
    path: &Path,
    command: ReadCommand,
    task: ReadTask,
) -> Result<T, ReadError> {
    let found = component_file::open(path).and_then(|file| in_process(command, task, file, None));
    found.map_err(|problem| ReadError {
        path: path.to_owned(),
        problem,
    })
}

/// Finds something out about the component in an open file, in a process, which has the time that is
/// left of a round.
pub(crate) fn in_process<T: DeserializeOwned>(
    command: ReadCommand,
    task: ReadTask,
    mut file: File,
    round: Option<ReadRound>,
) -> Result<T, Problem> {
    round.map_or(Ok(()), |round| round.may_start())?;
    file.rewind()?;
    let failed = |what: &str, error: io::Error| Problem::NoProcess {
        message: format!("{what}: {error}"),
    };
    let cannot_start = |error| failed("cannot be started", error);
    let started = command(task).and_then(|command| process_limits::start_with_input(command, file));
    let mut process = started.map_err(cannot_start)?;
    let stdout = process.0.stdout.take();
    let most = MAX_FOUND_BYTES + LENGTH_BYTES as u64;
    let stdout = stdout.map(|stdout| process_limits::read_output(stdout, most));
    let stderr = process.0.stderr.take();
    let stderr = stderr.map(|stderr| process_limits::read_output(stderr, MAX_STDERR_BYTES));
    let started = Instant::now();
    let clock = Duration::from_secs(task.seconds() * CLOCK_FACTOR);
    let status = loop {
        let status = process.0.try_wait();
        if let Some(status) = status.map_err(|error| failed("cannot be waited for", error))? {
            break status;
        }
        round.map_or(Ok(()), |round| round.may_go_on())?;
        if started.elapsed() >= clock {
            return Err(Problem::Slow {
                seconds: clock.as_secs(),
            });
        }
        std::thread::sleep(POLL);
    };
    let output = |thread: Option<std::thread::JoinHandle<Vec<u8>>>| {
        thread
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default()
    };
    if !status.success() {
        return Err(failure(
            task,
            status,
            &String::from_utf8_lossy(&output(stderr)),
        ));
    }
    written(&output(stdout))
}

/// Reads the output of a process.
fn written<T: DeserializeOwned>(output: &[u8]) -> Result<T, Problem> {
    let found = || {
        let (found, length) = output.split_last_chunk::<LENGTH_BYTES>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        found.get(found.len().checked_sub(length)?..)
    };
    let found = found().ok_or(Problem::Process {
        message: format!("has not written what it has found in {MAX_FOUND_BYTES} bytes"),
    })?;
    serde_json::from_slice::<Result<T, Problem>>(found).unwrap_or_else(|error| {
        let message = format!("has written what cannot be read: {error}");
        Err(Problem::Process { message })
    })
}

/// Returns the reason for which a process has failed.
fn failure(task: ReadTask, status: ExitStatus, said: &str) -> Problem {
    if process_limits::exceeded(status, said).is_some() {
        return task.costly();
    }
    let last = process_limits::last_line(said);
    let last = last.map(|line| format!("; it said: {}", words(line)));
    Problem::Process {
        message: format!("has failed ({status}){}", last.unwrap_or_default()),
    }
}

/// Limits this process, has it end with the one that has started it, reads a component from its
/// input, and writes the result of the task, or why there is none, and the length of that to its
/// output.
///
/// # Errors
/// The component cannot be read to its end, or nothing can be written.
pub fn run(task: ReadTask) -> io::Result<()> {
    let limits = ProcessLimits {
        seconds: task.seconds(),
        memory: MAX_MEMORY_BYTES,
        file: 0,
    };
    process_limits::end_with_parent()?;
    limits.apply()?;
    let mut component = Vec::new();
    io::stdin().lock().take(LIMIT).read_to_end(&mut component)?;
    let found = match task {
        ReadTask::Listing => serde_json::to_vec(&listing::component(&component)),
        ReadTask::Findings => serde_json::to_vec(&Ok::<_, Problem>(check(&component))),
        ReadTask::Inspection => serde_json::to_vec(&inspect(&component)),
    }?;
    let found = within(task.max_found(component.len() as u64), found)?;
    let mut output = io::stdout().lock();
    output.write_all(&found)?;
    output.write_all(&(found.len() as u64).to_le_bytes())?;
    output.flush()
}

/// Returns a result, or in its place that it is too long.
fn within(limit: u64, found: Vec<u8>) -> io::Result<Vec<u8>> {
    let bytes = found.len() as u64;
    if bytes <= limit {
        return Ok(found);
    }
    let problem = Problem::Excessive { bytes, limit };
    Ok(serde_json::to_vec(&Err::<(), _>(problem))?)
}

#[cfg(test)]
pub(crate) mod tests;
