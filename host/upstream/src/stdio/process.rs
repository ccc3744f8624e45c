//! A child process with all that it starts, as far as the system can tell.

use std::io;
use std::process::{ExitStatus, Stdio};

use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

/// A child and its descendants.
pub(super) struct ChildProcess {
    #[cfg(unix)]
    child: tokio::process::Child,
    #[cfg(windows)]
    child: Box<dyn process_wrap::tokio::ChildWrapper>,
    id: u32,
}

/// Standard input, output and error of a child.
pub(super) type ChildStreams = (ChildStdin, ChildStdout, ChildStderr);

impl ChildProcess {
    /// Starts a program, with pipes for all of its streams.
    pub(super) fn spawn(mut command: Command) -> io::Result<(Self, ChildStreams)> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        let mut child = command.process_group(0).kill_on_drop(true).spawn()?;
        #[cfg(unix)]
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // The job ends with its last handle, and this process has the only one:
        // nothing in it outlives this process, however that ends.
        #[cfg(windows)]
        let mut child = process_wrap::tokio::CommandWrap::from(command)
            .wrap(process_wrap::tokio::KillOnDrop)
            .wrap(process_wrap::tokio::JobObject)
            .spawn()?;
        #[cfg(windows)]
        let streams = (
            child.stdin().take(),
            child.stdout().take(),
            child.stderr().take(),
        );
        let gone = || io::Error::other("it has no id or no streams");
        let id = child.id().ok_or_else(gone)?;
        #[cfg(target_os = "linux")]
        dormouse_files::open_files::restore_limit_of(id);
        match streams {
            (Some(stdin), Some(stdout), Some(stderr)) => {
                Ok((Self { child, id }, (stdin, stdout, stderr)))
            }
            _ => Err(gone()),
        }
    }

    /// Returns the id of the child, which is that of its group, too, where there are groups.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Waits until the child has ended. Processes that it has started may live on.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Asks the child and its group to end, where there are groups.
    pub(super) fn terminate(&self) {
        #[cfg(unix)]
        group::signal(self.id, rustix::process::Signal::TERM);
    }

    /// Kills the child and its group or job.
    pub(super) fn kill(&mut self) {
        #[cfg(unix)]
        group::signal(self.id, rustix::process::Signal::KILL);
        // A process that has ended already is no problem.
        let _ = self.child.start_kill();
    }

    /// Whether anything of its group is left; false where there are no groups.
    pub(super) fn lives(&self) -> bool {
        #[cfg(unix)]
        return group::lives(self.id);
        #[cfg(not(unix))]
        false
    }
}

/// Process groups by number.
#[cfg(unix)]
pub(crate) mod group {
    use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

    fn pid(group: u32) -> Option<Pid> {
        // 0 would be the group of whoever asks, and 1 is nobody's to end.
        let group = i32::try_from(group).ok().filter(|group| *group > 1)?;
        Pid::from_raw(group)
    }

    /// Sends a signal to all of a group. A group that has gone needs none.
    pub(crate) fn signal(group: u32, signal: Signal) {
        if let Some(pid) = pid(group) {
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Whether a group has any process.
    pub(crate) fn lives(group: u32) -> bool {
        pid(group).is_some_and(|pid| test_kill_process_group(pid).is_ok())
    }
}
