//! The process that compiles one component, as its host sees it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use dormouse_files::process_limits::{self, Exceeded, KilledWhenDropped};

use super::compile_places::CompilePlace;
use super::compile_subcommand::{CompilationRequest, REFUSED, max_code_bytes};
use super::{CompileCommand, CompileError, CompileJob, CompileLimits};

/// Most bytes that are read of the error output of a failed compile.
const MAX_STDERR_BYTES: u64 = 16 << 10;

/// Most bytes of it that are shown.
const SHOWN_STDERR_BYTES: usize = 600;

/// Divisor of a compile's time limit that gives the time after which the compile is a long one, and
/// leaves its place to another. Components of known toolchains take less on an idle machine.
const LONG_PART: u32 = 20;

/// Interval at which a process is checked for its end.
const POLL: Duration = Duration::from_millis(2);

/// Reason for which a process has not compiled a component.
pub(super) enum NotCompiled {
    Failed(CompileError),
    /// It takes long, and there was no place for long compiles.
    Long,
}

impl NotCompiled {
    pub(super) fn into_error(self) -> CompileError {
        match self {
            Self::Failed(error) => error,
            Self::Long => CompileError::Failed("has lost its place".to_owned()),
        }
    }
}

impl From<CompileError> for NotCompiled {
    fn from(error: CompileError) -> Self {
        Self::Failed(error)
    }
}

/// Compiles in a process, which is ended where it takes long and there is no place for that.
pub(super) fn run_process(
    command: CompileCommand,
    job: &CompileJob<'_>,
    limits: CompileLimits,
    place: &mut CompilePlace<'_>,
) -> Result<Vec<u8>, NotCompiled> {
    let cannot = |what: &str, error: io::Error| CompileError::Failed(format!("{what}: {error}"));
    // A file without a name: code that is loaded must not be reached by anybody else, whoever
    // may write to the folder.
    let output = tempfile::tempfile()
        .or_else(|_| tempfile::tempfile_in(job.folder))
        .map_err(|error| cannot("has nowhere to write to", error))?;
    let order = CompilationRequest {
        concurrent: job.concurrent,
        length: job.component.len() as u64,
        seconds: limits.time.as_secs().max(1),
        memory: limits.memory,
    };
    let mut process = CompileProcess::start(command, &output)
        .map_err(|error| cannot("cannot be started", error))?;
    let sent = process.send(&order, job.component);
    let stderr = process.child.0.stderr.take();
    let stderr = stderr.map(|stderr| process_limits::read_output(stderr, MAX_STDERR_BYTES));
    let start = Instant::now();
    let status = loop {
        let status = process.child.0.try_wait();
        if let Some(status) = status.map_err(|error| cannot("cannot be waited for", error))? {
            break status;
        }
        let time = start.elapsed();
        if time >= limits.time {
            return Err(CompileError::Time(limits.time).into());
        }
        if time >= limits.time / LONG_PART && place.is_short() && !place.leave_for_long() {
            return Err(NotCompiled::Long);
        }
        std::thread::sleep(POLL);
    };
    let said = stderr.and_then(|thread| thread.join().ok());
    let said = said.unwrap_or_default();
    if !status.success() {
        let said = String::from_utf8_lossy(&said);
        return Err(failure(status, said.trim(), limits).into());
    }
    sent.map_err(|error| cannot("did not read the component", error))?;
    let code = read_code(output, max_code_bytes(order.length));
    Ok(code.map_err(|error| cannot("has not written all of the code", error))?)
}

/// Reads the output of a process: the code, and then its length. Code of more than `most` bytes is
/// not read.
pub(super) fn read_code(mut output: File, most: u64) -> io::Result<Vec<u8>> {
    const LENGTH: u64 = size_of::<u64>() as u64;
    let cut = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let end = output
        .metadata()?
        .len()
        .checked_sub(LENGTH)
        .ok_or_else(cut)?;
    output.seek(SeekFrom::Start(end))?;
    let mut length = [0; LENGTH as usize];
    output.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let start = end.checked_sub(length).ok_or_else(cut)?;
    if length > most {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!(
                "it has {length} bytes, more than the {most} that a component of its size may have"
            ),
        ));
    }
    output.seek(SeekFrom::Start(start))?;
    let mut code = Vec::new();
    code.try_reserve_exact(usize::try_from(length).map_err(|_| cut())?)?;
    output.take(length).read_to_end(&mut code)?;
    match code.len() as u64 == length {
        true => Ok(code),
        false => Err(cut()),
    }
}

/// Returns the reason for which a process has failed.
fn failure(status: ExitStatus, said: &str, limits: CompileLimits) -> CompileError {
    if status.code() == Some(i32::from(REFUSED)) {
        let said = said.strip_prefix("dormouse: ").unwrap_or(said);
        return CompileError::Refused(cut(said).to_owned());
    }
    match process_limits::exceeded(status, said) {
        Some(Exceeded::Time) => return CompileError::Time(limits.time),
        Some(Exceeded::Memory) => return CompileError::Memory(limits.memory),
        None => {}
    }
    let last = process_limits::last_line(said);
    let last = last.map(|line| format!("; it said: {}", cut(line)));
    CompileError::Failed(format!("has failed ({status}){}", last.unwrap_or_default()))
}

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(SHOWN_STDERR_BYTES))
        .unwrap_or(text)
}

/// A process that compiles, and is killed when this is dropped.
struct CompileProcess {
    child: KilledWhenDropped,
}

impl CompileProcess {
    fn start(command: CompileCommand, output: &File) -> io::Result<Self> {
        let mut command = command()?;
        // Nothing of its environment is of any use to it.
        #[cfg(unix)]
        command.env_clear();
        let child = command
            .stdin(Stdio::piped())
            .stdout(output.try_clone()?)
            .stderr(Stdio::piped())
            .spawn()?;
        let child = KilledWhenDropped(child);
        Ok(Self { child })
    }

    /// Sends the process its order. Its input stays open: the process ends when the input does.
    fn send(&mut self, order: &CompilationRequest, component: &[u8]) -> io::Result<()> {
        let Some(stdin) = &mut self.child.0.stdin else {
            return Err(io::Error::other("it has no input"));
        };
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        stdin.write_all(&line)?;
        stdin.write_all(component)?;
        stdin.flush()
    }
}
