//! Limits that a process of this program gives itself before it reads what a stranger has made,
//! and that the system holds it to.

use std::fs::File;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

/// Limits of what a process may take.
#[derive(Debug, Clone, Copy)]
pub struct ProcessLimits {
    /// Time of all processors together, in seconds.
    pub seconds: u64,
    /// Address space, in bytes.
    pub memory: u64,
    /// Size of any file that it writes, in bytes.
    pub file: u64,
}

/// Limit that a process has exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// Its time.
    Time,
    /// Its address space.
    Memory,
}

/// Process that is killed when this is dropped.
#[derive(Debug)]
pub struct KilledWhenDropped(pub Child);

impl Drop for KilledWhenDropped {
    fn drop(&mut self) {
        // One that has ended already is no problem.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts this program once more, with a file as its input, and its output to be read.
///
/// # Errors
/// The system does not start it.
pub fn start_with_input(mut command: Command, input: File) -> io::Result<KilledWhenDropped> {
    // Nothing of its environment is of any use to it.
    #[cfg(unix)]
    command.env_clear();
    let child = command
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    Ok(KilledWhenDropped(child))
}

impl ProcessLimits {
    /// Has the system end this process when it takes more. On systems that have no such limits
    /// the clock of whoever has started it alone ends it.
    ///
    /// # Errors
    /// The system refuses.
    #[cfg(unix)]
    pub fn apply(&self) -> io::Result<()> {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let set = |resource, current: u64, maximum: u64| {
            // Nobody may have more than they were given.
            let given = getrlimit(resource);
            let least =
                |wanted: u64, given: Option<u64>| given.map_or(wanted, |given| wanted.min(given));
            let limit = Rlimit {
                current: Some(least(current, given.maximum)),
                maximum: Some(least(maximum, given.maximum)),
            };
            setrlimit(resource, limit).map_err(io::Error::from)
        };
        set(Resource::Core, 0, 0)?;
        set(Resource::Cpu, self.seconds, self.seconds.saturating_add(2))?;
        set(Resource::As, self.memory, self.memory)?;
        set(Resource::Fsize, self.file, self.file)
    }

    /// Does nothing here.
    ///
    /// # Errors
    /// None.
    #[cfg(not(unix))]
    pub fn apply(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Has the system end this process when the thread that has started it ends, or its process. On
/// systems that do not offer that, its limits alone end it.
///
/// # Errors
/// The system refuses.
#[cfg(target_os = "linux")]
pub fn end_with_parent() -> io::Result<()> {
    use rustix::process::{Signal, set_parent_process_death_signal};
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(io::Error::from)
}

/// Does nothing here.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn end_with_parent() -> io::Result<()> {
    Ok(())
}

/// Returns which limit has ended a process that said `stderr`; none if it has ended otherwise.
#[must_use]
pub fn exceeded(status: ExitStatus, stderr: &str) -> Option<Exceeded> {
    if is_out_of_time(status) {
        return Some(Exceeded::Time);
    }
    let no_memory = [
        "memory allocation of",
        "annot allocate memory",
        "os error 12",
        "os error 11",
        // The same, where it stands in a panic: a thread that finds no room.
        "emporarily unavailable",
    ];
    let is_out_of_memory = no_memory.iter().any(|words| stderr.contains(words));
    is_out_of_memory.then_some(Exceeded::Memory)
}

/// Returns the last line of a process's error output that is not blank.
#[must_use]
pub fn last_line(stderr: &str) -> Option<&str> {
    let mut lines = stderr.lines().rev().map(str::trim);
    lines.find(|line| !line.is_empty())
}

/// Checks whether the system has ended a process because it took too long.
#[cfg(unix)]
fn is_out_of_time(status: ExitStatus) -> bool {
    use rustix::process::Signal;
    use std::os::unix::process::ExitStatusExt as _;
    // Of the two limits of that time the first one ends it. A `SIGKILL` is somebody else's,
    // such as the system's when it runs out of memory.
    status.signal() == Some(Signal::XCPU.as_raw())
}

#[cfg(not(unix))]
fn is_out_of_time(_: ExitStatus) -> bool {
    false
}

/// Reads what a process writes, for as long as it writes anything, and keeps the first `most`
/// bytes of it.
pub fn read_output(mut output: impl Read + Send + 'static, most: u64) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut written = Vec::new();
        let _ = (&mut output).take(most).read_to_end(&mut written);
        let _ = io::copy(&mut output, &mut io::sink());
        written
    })
}
