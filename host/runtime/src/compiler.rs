//! Compiling of components, each in a process of its own.
//!
//! The time and memory of a compile are up to the author of the component: a few hundred kilobytes
//! can be made to take minutes and gigabytes, and nothing inside of a process can stop that. So
//! this program is started once more for each compile, gives itself limits that the system
//! enforces, and is ended when its time is over. It ends by itself when its host has gone.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead as _, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use dormouse_files::process_limits::{self, Exceeded, KilledWhenDropped, ProcessLimits};
use dormouse_policy::{HostLimits, processors};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::compile_places::{CompilePlace, CompilePlaces, Length};
use super::engine::{Kind, Machine, Origin};

/// Most bytes of compiled code: a base for any component, and a number for each byte of the
/// component. Components of known toolchains become four times as large.
const CODE_BYTES: (u64, u64) = (64 << 20, 100);

/// Largest compiled code of any component, in bytes.
const MAX_CODE_BYTES: u64 = 1 << 30;

/// Most bytes that are read of the error output of a failed compile.
const MAX_STDERR_BYTES: u64 = 16 << 10;

/// Most bytes of it that are shown.
const SHOWN_STDERR_BYTES: usize = 600;

/// Longest first line that the process reads, in bytes.
const MAX_ORDER_BYTES: u64 = 64 << 10;

/// Most globals and items of passive element segments that a core module may declare. Each takes 16
/// bytes of every instance, which no limit on memories or tables counts; modules of known
/// toolchains have some thousands at most.
const MAX_MODULE_ITEMS: u64 = 1 << 16;

/// Divisor of a compile's time limit that gives the time after which the compile is a long one, and
/// leaves its place to another. Components of known toolchains take less on an idle machine.
const LONG_PART: u32 = 20;

/// Interval at which a process is checked for its end.
const POLL: Duration = Duration::from_millis(2);

/// Most components that are remembered as exceeding the limits.
const REMEMBERED: usize = 256;

/// Order to the process, as one line of JSON; the component follows.
#[derive(Debug, Serialize, Deserialize)]
struct CompilationRequest {
    /// Whether the code is for the engine with the component model's concurrency.
    concurrent: bool,
    /// Length of the component, in bytes.
    length: u64,
    /// Most time of all processors together, in seconds.
    seconds: u64,
    /// Most address space, in bytes.
    memory: u64,
}

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
pub(super) struct Job<'a> {
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
    pub(super) fn compile(&self, job: &Job<'_>) -> Result<Vec<u8>, CompileError> {
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

/// Reason for which a process has not compiled a component.
enum NotCompiled {
    Failed(CompileError),
    /// It takes long, and there was no place for long compiles.
    Long,
}

impl NotCompiled {
    fn into_error(self) -> CompileError {
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
fn run_process(
    command: CompileCommand,
    job: &Job<'_>,
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

/// Returns the largest size of the code of a component of so many bytes, in bytes.
fn max_code_bytes(component: u64) -> u64 {
    let (any, times) = CODE_BYTES;
    component
        .saturating_mul(times)
        .saturating_add(any)
        .min(MAX_CODE_BYTES)
}

/// Reads the output of a process: the code, and then its length. Code of more than `most` bytes is
/// not read.
fn read_code(mut output: File, most: u64) -> io::Result<Vec<u8>> {
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

/// Exit code of a process whose component cannot be compiled.
const REFUSED: u8 = 1;

/// Runs such a process: limits it, reads an order and a component from its input, and writes
/// compiled code and its length to its output.
///
/// # Errors
/// The component cannot be compiled, or the code cannot be written.
pub fn run() -> anyhow::Result<()> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    (&mut input)
        .take(MAX_ORDER_BYTES)
        .read_until(b'\n', &mut line)?;
    let order: CompilationRequest = serde_json::from_slice(&line)?;
    // The length stands after the code.
    let file = max_code_bytes(order.length).saturating_add(4096);
    let limits = ProcessLimits {
        seconds: order.seconds,
        memory: order.memory,
        file,
    };
    limits.apply()?;
    let mut component = Vec::new();
    (&mut input)
        .take(order.length)
        .read_to_end(&mut component)?;
    drop(input);
    end_with_host()?;
    let items = dormouse_catalog::max_module_items(&component);
    anyhow::ensure!(
        items <= MAX_MODULE_ITEMS,
        "a core module of it has `{items}` globals and items of passive element segments, more than the {MAX_MODULE_ITEMS} that one may have"
    );
    let kind = Kind {
        origin: Origin::Demand,
        concurrent: order.concurrent,
    };
    let engine = Machine::engine(kind).map_err(|error| anyhow::anyhow!("{error:#}"))?;
    let code = match dormouse_catalog::with_epoch_checks(&component) {
        Ok(component) => engine.precompile_component(&component),
        // Bytes that cannot be read are no component for the engine either, and its error says
        // more.
        Err(error) => match engine.precompile_component(&component) {
            Ok(_) => Err(error.into()),
            refused => refused,
        },
    };
    let code = code.map_err(|error| anyhow::anyhow!("{error:#}"))?;
    let mut output = io::stdout().lock();
    output.write_all(&code)?;
    output.write_all(&(code.len() as u64).to_le_bytes())?;
    output.flush()?;
    Ok(())
}

/// Ends this process when its input does: then its host has gone.
fn end_with_host() -> io::Result<()> {
    let wait = || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(i32::from(REFUSED));
    };
    let thread = std::thread::Builder::new().name("host".into());
    thread.spawn(wait).map(drop)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns the program of the unit tests, which has a test in place of the subcommand.
    pub(crate) fn command() -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--exact", "compiler::tests::compile_process"]);
        command.args(["--ignored", "--nocapture"]);
        Ok(command)
    }

    /// The process that the other tests here compile in: only they start it.
    #[test]
    #[ignore = "the process that the other tests compile in"]
    fn compile_process() {
        let code = match run() {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("{error:#}");
                i32::from(REFUSED)
            }
        };
        std::process::exit(code);
    }

    fn compile(compiler: &Compiler, wat: &str) -> Result<Vec<u8>, CompileError> {
        compiler.compile(&Job {
            name: "it",
            component: &wat::parse_str(wat).unwrap(),
            concurrent: false,
            folder: Path::new("/none"),
        })
    }

    fn limits(time: Duration, memory: u64) -> Compiler {
        let limits = HostLimits {
            compile_time: time,
            compile_memory: memory,
            ..HostLimits::default()
        };
        Compiler::new(&limits, command)
    }

    /// Returns a component of one module with that many functions, each with long chains of
    /// additions between many locals, which take a compiler much time and memory.
    fn bomb(functions: usize) -> String {
        let body = (0..20_000).map(|at| {
            let (to, from) = (at % 500, (at * 7 + 3) % 500);
            format!("(local.set {to} (i64.add (local.get {to}) (local.get {from})))\n")
        });
        let body: String = body.collect();
        let locals = " i64".repeat(500);
        let function =
            format!("(func (local{locals}) (loop {body} (br_if 0 (i64.eqz (local.get 1)))))\n");
        format!("(component (core module {}))", function.repeat(functions))
    }

    #[test]
    fn what_is_small_compiles_and_what_is_none_says_why() {
        let compiler = Compiler::new(&HostLimits::default(), command);
        assert!(compile(&compiler, "(component)").unwrap().len() > 100);
        let module = compile(&compiler, "(module)").unwrap_err();
        assert!(matches!(&module, CompileError::Refused(_)), "{module}");
    }

    /// Two bytes far apart make no image of all bytes between them.
    #[test]
    fn code_is_not_much_larger_than_its_component() {
        let compiler = Compiler::new(&HostLimits::default(), command);
        let module = r#"(core module (memory 256) (data (i32.const 0) "a") (data (i32.const 16699999) "b"))"#;
        let code = compile(&compiler, &format!("(component {})", module.repeat(4))).unwrap();
        assert!(code.len() < 8 << 20, "{}", code.len());
    }

    #[test]
    fn only_code_in_proportion_to_its_component_is_read() {
        let written = |code: u64| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(b"said before").unwrap();
            file.write_all(&vec![7; code as usize]).unwrap();
            file.write_all(&code.to_le_bytes()).unwrap();
            file
        };
        assert_eq!(read_code(written(1000), 1000).unwrap(), [7; 1000]);
        let error = read_code(written(1001), 1000).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(read_code(tempfile::tempfile().unwrap(), 1000).is_err());
        assert_eq!(max_code_bytes(1000), (64 << 20) + 100_000);
        assert_eq!(max_code_bytes(u64::MAX), MAX_CODE_BYTES);
    }

    #[test]
    fn a_compile_ends_in_its_time_and_is_not_tried_again() {
        let compiler = limits(Duration::from_secs(1), 4 << 30);
        let bomb = bomb(40);
        let error = compile(&compiler, &bomb).unwrap_err();
        assert_eq!(error, CompileError::Time(Duration::from_secs(1)));
        // Not a second one.
        let started = cpu_of_children();
        assert_eq!(compile(&compiler, &bomb).unwrap_err(), error);
        assert_eq!(started, cpu_of_children());
        assert!(compile(&limits(Duration::from_secs(60), 4 << 30), "(component)").is_ok());
    }

    #[test]
    fn a_compile_ends_in_its_memory() {
        let compiler = limits(Duration::from_secs(300), 200 << 20);
        let error = compile(&compiler, &bomb(40)).unwrap_err();
        assert_eq!(error, CompileError::Memory(200 << 20), "{error}");
    }

    /// Returns the processor time of this process's children that have ended, in ticks.
    fn cpu_of_children() -> u64 {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let fields: Vec<_> = stat
            .rsplit_once(')')
            .unwrap()
            .1
            .split_whitespace()
            .collect();
        fields[13].parse::<u64>().unwrap() + fields[14].parse::<u64>().unwrap()
    }
}
