//! Ending the processes that a host leaves behind, however the host has ended.
//!
//! One small process for each host, the reaper, is started with the host's first child and reads
//! from a pipe which process groups live. The system closes that pipe with the host, be it by
//! `kill -9`, and then the groups are ended. A child that was started in the moment in which its
//! host was killed, and of which the reaper has not heard, still sees its input end. A process that
//! has left its group is found as one of the host's [`descendants`](crate::stdio::descendants), where the
//! system tells of these.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write as _};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;

use dormouse_text::visible::visible_path;
use parking_lot::Mutex;

/// Time that processes which are asked to end may take to do so.
pub(super) const TERMINATION_TIMEOUT: Duration = Duration::from_secs(2);

/// Interval at which it is checked whether they have ended.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// Most checks whether the reaper has ended when there is nothing left to end.
const REAPER_LOOKS: usize = 15;

/// Most rounds of killing what is left: it may start more meanwhile.
#[cfg(unix)]
const KILL_ROUNDS: usize = 10;

/// Reaper, as its host sees it.
pub(super) struct Reaper {
    /// The program that has the subcommand `reaper`.
    program: Option<PathBuf>,
    /// Value of the variable that the children of this host have in their environment.
    host: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    process: Option<Child>,
    groups: BTreeSet<u32>,
}

/// Process group that the reaper knows of, until [`WatchedGroup::forget`]. The group of one that is
/// merely dropped, with a host that ends, is still ended by the reaper.
pub(super) struct WatchedGroup {
    reaper: Arc<Reaper>,
    group: u32,
}

impl Reaper {
    pub(super) fn new(program: Option<PathBuf>) -> Self {
        Self {
            // Elsewhere the system itself ends what a job leaves behind.
            program: program.filter(|_| cfg!(unix)),
            host: host_name(),
            state: Mutex::default(),
        }
    }

    /// Returns the variable of a child by which all that it starts can be found.
    #[cfg(unix)]
    pub(super) fn variable(&self) -> (&'static str, &str) {
        (crate::stdio::descendants::HOST_VARIABLE, &self.host)
    }

    /// Starts the reaper, unless it runs: before a child is started, so that nothing but the
    /// telling is left to be done afterwards.
    pub(super) fn ready(&self) {
        let mut state = self.state.lock();
        if state.process.is_none() {
            self.start(&mut state);
        }
    }

    /// Tells the reaper of a process group.
    pub(super) fn watch(self: &Arc<Self>, group: u32) -> WatchedGroup {
        let mut state = self.state.lock();
        state.groups.insert(group);
        self.tell(&mut state, &format!("+{group}\n"));
        drop(state);
        WatchedGroup {
            reaper: Arc::clone(self),
            group,
        }
    }

    /// Writes a line to the reaper. If somebody has ended it, another one is started and told of
    /// all groups.
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
        let mut command = dormouse_files::own_program::command(program);
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
        let groups = state.groups.iter().map(|one| format!("+{one}\n"));
        let known: String = std::iter::once(format!("={}\n", self.host))
            .chain(groups)
            .collect();
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
                visible_path(program)
            ),
        }
    }
}

impl WatchedGroup {
    /// Tells the reaper that nothing is left of the group.
    pub(super) fn forget(self) {
        let mut state = self.reaper.state.lock();
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
            // It may have to wait for what has left its group: not as long as that.
            for _ in 0..REAPER_LOOKS {
                if !self.groups.is_empty() || !matches!(process.try_wait(), Ok(None)) {
                    break;
                }
                std::thread::sleep(LOOK);
            }
        }
    }
}

/// Runs `dormouse reaper`: reads which groups live until stdin ends, and then ends them.
///
/// # Errors
/// The runtime, or the handlers of signals, cannot be set up.
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
    let mut host = String::new();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let (known, group) = line.split_at_checked(1).unwrap_or_default();
        if known == "=" {
            host = group.to_owned();
        }
        match (known, group.parse::<u32>()) {
            ("+", Ok(group)) => drop(groups.insert(group)),
            ("-", Ok(group)) => drop(groups.remove(&group)),
            _ => {}
        }
    }
    end(&host, &groups);
    Ok(())
}

/// Ends the groups, and all processes of the host. These are looked for again before they are
/// killed: in between they may have started more.
#[cfg(unix)]
fn end(host: &str, groups: &BTreeSet<u32>) {
    use crate::stdio::descendants::of_host;
    use crate::stdio::process::group::{lives, signal};
    use rustix::process::{Pid, Signal, kill_process};
    let to_all = |found: &BTreeSet<u32>, name: Signal| {
        groups.iter().for_each(|one| signal(*one, name));
        let found = found.iter().filter_map(|pid| i32::try_from(*pid).ok());
        for pid in found.filter_map(Pid::from_raw) {
            // One that has gone needs no signal.
            let _ = kill_process(pid, name);
        }
    };
    to_all(&of_host(host, groups), Signal::TERM);
    let end = std::time::Instant::now() + TERMINATION_TIMEOUT;
    while std::time::Instant::now() < end {
        if !groups.iter().any(|one| lives(*one)) && of_host(host, groups).is_empty() {
            return;
        }
        std::thread::sleep(LOOK);
    }
    for _ in 0..KILL_ROUNDS {
        let found = of_host(host, groups);
        to_all(&found, Signal::KILL);
        if found.is_empty() {
            return;
        }
        std::thread::sleep(LOOK);
    }
}

#[cfg(not(unix))]
fn end(_: &str, _: &BTreeSet<u32>) {}

/// Returns a name for this host that no other one has.
fn host_name() -> String {
    let mut random = [0; 16];
    // Without random numbers there is no name, and groups alone are ended.
    match getrandom::fill(&mut random) {
        Ok(()) => format!("{:032x}", u128::from_le_bytes(random)),
        Err(_) => String::new(),
    }
}
