//! Ending what a host leaves behind, however it was ended itself.
//!
//! One small process for each host, started with its first child, knows which
//! process groups live: it reads them from a pipe. The system closes that pipe with
//! the host, be it by `kill -9`, and then the groups are ended. A child that was
//! started in the moment in which its host was killed, and of which the reaper has
//! not heard, still sees its input end.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::peer::lock;

/// How long what is asked to end may take to do so.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// How often it is looked whether it has.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// The host's side of it.
pub(super) struct Reaper {
    /// The program that has the subcommand `reaper`.
    program: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    process: Option<Child>,
    groups: BTreeSet<u32>,
}

/// A process group that the reaper knows of, until it is told to forget it. What is
/// merely dropped, with a host that ends, is still for the reaper to end.
pub(super) struct Watched {
    reaper: Arc<Reaper>,
    group: u32,
}

impl Reaper {
    pub(super) fn new(program: Option<PathBuf>) -> Self {
        Self {
            // Elsewhere the system itself ends what a job leaves behind.
            program: program.filter(|_| cfg!(unix)),
            state: Mutex::default(),
        }
    }

    /// Has it running: before a child is started, so that nothing but the telling
    /// is left to be done afterwards.
    pub(super) fn ready(&self) {
        let mut state = lock(&self.state);
        if state.process.is_none() {
            self.start(&mut state);
        }
    }

    /// Tells it of a process group.
    pub(super) fn watch(self: &Arc<Self>, group: u32) -> Watched {
        let mut state = lock(&self.state);
        state.groups.insert(group);
        self.tell(&mut state, &format!("+{group}\n"));
        drop(state);
        Watched {
            reaper: Arc::clone(self),
            group,
        }
    }

    /// Writes a line to it. If somebody has ended it, another takes over and hears
    /// of everything.
    fn tell(&self, state: &mut State, line: &str) {
        let told = match state.process.as_mut().and_then(|one| one.stdin.as_mut()) {
            Some(pipe) => pipe.write_all(line.as_bytes()),
            None => return,
        };
        if told.is_err() {
            self.start(state);
        }
    }

    fn start(&self, state: &mut State) {
        if let Some(mut old) = state.process.take() {
            // It has ended: its pipe has broken.
            let _ = old.wait();
        }
        let Some(program) = &self.program else { return };
        let mut command = Command::new(program);
        command
            .arg("reaper")
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            // What the terminal sends to the host is not for it, and it keeps no
            // folder from being unmounted.
            command.process_group(0).current_dir("/");
        }
        let known: String = state.groups.iter().map(|one| format!("+{one}\n")).collect();
        let started = command.spawn().and_then(|mut process| {
            if let Some(pipe) = &mut process.stdin {
                pipe.write_all(known.as_bytes())?;
            }
            Ok(process)
        });
        match started {
            Ok(process) => state.process = Some(process),
            Err(error) => tracing::warn!(
                "`{} reaper` cannot be started: {error}; servers outlive this process if it is killed",
                program.display()
            ),
        }
    }
}

impl Watched {
    /// There is nothing left of the group.
    pub(super) fn forget(self) {
        let mut state = lock(&self.reaper.state);
        state.groups.remove(&self.group);
        let line = format!("-{}\n", self.group);
        self.reaper.tell(&mut state, &line);
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // Its end, and so the end of whatever is still watched.
            drop(process.stdin.take());
            if self.groups.is_empty() {
                let _ = process.wait();
            }
        }
    }
}

/// What `dormouse reaper` does: reads which groups live until its input ends, and
/// ends them.
///
/// # Errors
/// Signals cannot be left unheeded.
pub fn run() -> io::Result<()> {
    // Whoever ends all processes of a name means the host; this one ends after it.
    #[cfg(unix)]
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    #[cfg(unix)]
    let _unheeded = {
        use tokio::signal::unix::{SignalKind, signal};
        let _entered = runtime.enter();
        [
            signal(SignalKind::hangup())?,
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
        ]
    };
    let mut groups = BTreeSet::new();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let (known, group) = line.split_at_checked(1).unwrap_or_default();
        match (known, group.parse::<u32>()) {
            ("+", Ok(group)) => drop(groups.insert(group)),
            ("-", Ok(group)) => drop(groups.remove(&group)),
            _ => {}
        }
    }
    end(&groups);
    Ok(())
}

#[cfg(unix)]
fn end(groups: &BTreeSet<u32>) {
    use super::process::group::{lives, signal};
    use rustix::process::Signal;
    groups.iter().for_each(|one| signal(*one, Signal::TERM));
    let end = std::time::Instant::now() + PATIENCE;
    while groups.iter().any(|one| lives(*one)) && std::time::Instant::now() < end {
        std::thread::sleep(LOOK);
    }
    groups.iter().for_each(|one| signal(*one, Signal::KILL));
}

#[cfg(not(unix))]
fn end(_: &BTreeSet<u32>) {}
