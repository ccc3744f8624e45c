//! Running processes and their open sockets, as the kernel tells of them. Linux only.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::wait;

/// Process, as it was when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// The process that has started it, or that it was handed to since.
    pub parent: u32,
    /// Its process group.
    pub group: u32,
    /// Start, in ticks since the machine was started: together with the id, no later process has
    /// the same.
    start: u64,
    /// Its command line, for a person to read.
    pub line: String,
    /// Its program, if that may be seen.
    pub program: Option<PathBuf>,
}

impl Process {
    /// Returns a process by its id; none where it has ended. One that is dead and only waits to be
    /// asked how it died has ended.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
        // The program's name, in brackets, may have spaces. After it come the
        // fields from the third on.
        let (_, fields) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = fields.split(' ').collect();
        let field = |number: usize| fields.get(number - 3).copied();
        if matches!(field(3)?, "Z" | "X") {
            return None;
        }
        let line = std::fs::read(folder.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        Some(Self {
            pid,
            parent: field(4)?.parse().ok()?,
            group: field(5)?.parse().ok()?,
            start: field(22)?.parse().ok()?,
            line: line.trim_end().to_owned(),
            program: std::fs::read_link(folder.join("exe")).ok(),
        })
    }

    /// Whether the process still runs.
    #[must_use]
    pub fn runs(&self) -> bool {
        Self::of(self.pid).is_some_and(|now| now.start == self.start)
    }

    /// Returns the memory that the process really has, in KiB; none where it has ended.
    #[must_use]
    pub fn memory(&self) -> Option<u64> {
        memory(self.pid).ok()
    }
}

/// Memory that a process may keep of what it took for a while, in KiB: memory in many small pieces
/// goes back late.
pub const KEPT_KIB: u64 = 64 << 10;

/// Returns the memory that a process has now, in KiB.
///
/// # Errors
/// It has ended, or this system does not tell.
pub fn memory(pid: u32) -> Result<u64> {
    kibibytes(pid, "VmRSS:")
}

/// Returns the most memory that a process has ever had, in KiB.
///
/// # Errors
/// It has ended, or this system does not tell.
pub fn most_memory(pid: u32) -> Result<u64> {
    kibibytes(pid, "VmHWM:")
}

/// Makes [`most_memory`] of a process begin again with what it has now.
///
/// # Errors
/// It has ended, or this system does not do that.
pub fn forget_most_memory(pid: u32) -> Result<()> {
    Ok(std::fs::write(format!("/proc/{pid}/clear_refs"), "5")?)
}

fn kibibytes(pid: u32, name: &str) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let line = line.with_context(|| format!("no `{name}` in the status"))?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// Waits until a process has given back the memory that it took since it had `before` KiB, but for
/// [`KEPT_KIB`].
///
/// # Errors
/// It keeps more.
pub fn gives_back(pid: u32, before: u64) -> Result<()> {
    wait::until_within(Duration::from_secs(5), "its memory comes back", || {
        let now = memory(pid)?;
        ensure!(now <= before + KEPT_KIB, "{before} KiB became {now} KiB");
        Ok(())
    })
}

/// Returns all processes.
///
/// # Errors
/// This system does not tell.
pub fn all() -> Result<Vec<Process>> {
    let entries = std::fs::read_dir("/proc").context("this system does not tell what runs")?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    Ok(pids.filter_map(Process::of).collect())
}

/// Returns the descendants of a process.
///
/// # Errors
/// This system does not tell.
pub fn descendants(of: u32) -> Result<Vec<Process>> {
    let all = all()?;
    let mut known = BTreeSet::from([of]);
    // One that is older than its parent has been handed to it, so one pass in the
    // order of the ids would miss some.
    loop {
        let before = known.len();
        let children = all.iter().filter(|one| known.contains(&one.parent));
        let children: Vec<u32> = children.map(|one| one.pid).collect();
        known.extend(children);
        if known.len() == before {
            break;
        }
    }
    known.remove(&of);
    let mut found: Vec<_> = all
        .into_iter()
        .filter(|one| known.contains(&one.pid))
        .collect();
    found.sort();
    Ok(found)
}

/// Returns the connections over TCP and UDP that a process holds, with their ends as the kernel
/// writes them, and the ports at which it listens.
///
/// # Errors
/// It has ended, or it is another user's.
pub fn sockets(of: u32) -> Result<Vec<String>> {
    let sockets = network(of)?.into_iter();
    Ok(sockets
        .map(|socket| format!("{} → {}", socket.local, socket.remote))
        .collect())
}

/// Returns the TCP ports at which a process listens.
///
/// # Errors
/// It has ended, or it is another user's.
pub fn listening(of: u32) -> Result<Vec<u16>> {
    let sockets = network(of)?.into_iter();
    let sockets = sockets.filter(|socket| socket.state == LISTENING);
    Ok(sockets
        .filter_map(|socket| {
            let (_, port) = socket.local.rsplit_once(':')?;
            u16::from_str_radix(port, 16).ok()
        })
        .collect())
}

/// `TCP_LISTEN`, as the kernel writes it.
const LISTENING: &str = "0A";

/// Line of the kernel's tables of sockets.
struct Socket {
    local: String,
    remote: String,
    state: String,
}

fn network(of: u32) -> Result<Vec<Socket>> {
    let folder = PathBuf::from(format!("/proc/{of}"));
    let files = std::fs::read_dir(folder.join("fd"))
        .with_context(|| format!("cannot see what process {of} has open"))?;
    let links = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    let inodes: BTreeSet<String> = links
        .filter_map(|link| {
            let link = link.to_string_lossy().into_owned();
            Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
        })
        .collect();
    let mut sockets = Vec::new();
    for kind in ["tcp", "tcp6", "udp", "udp6"] {
        let table = std::fs::read_to_string(folder.join("net").join(kind)).unwrap_or_default();
        sockets.extend(table.lines().skip(1).filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let field = |number: usize| fields.get(number).copied();
            let (local, remote) = (field(1)?.to_owned(), field(2)?.to_owned());
            let state = field(3)?.to_owned();
            let socket = Socket {
                local,
                remote,
                state,
            };
            inodes.contains(field(9)?).then_some(socket)
        }));
    }
    Ok(sockets)
}

/// Waits until all of these processes have ended.
///
/// # Errors
/// Some have not: these.
pub fn gone(processes: &[Process]) -> Result<()> {
    wait::until("processes that have to end", || {
        let left: Vec<_> = processes.iter().filter(|one| one.runs()).collect();
        ensure!(left.is_empty(), "still there: {left:#?}");
        Ok(())
    })
}

/// Whether a process is that program.
#[must_use]
pub fn is(process: &Process, program: &Path) -> bool {
    let program = program.canonicalize();
    program.is_ok_and(|program| process.program.as_deref() == Some(&program))
}
