//! Processes that a host's children have started, and that have left their group.
//!
//! A process can make itself a session of its own (`setsid`), and outlive its parent: then its
//! group does not tell which host it belongs to. Two things still do. Each child of a host has a
//! variable in its environment that names the host, which its descendants inherit; and a process
//! whose parent lives is found through its parent. Only a process that has neither is not found.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The variable that names the host.
pub(crate) const HOST_VARIABLE: &str = "DORMOUSE_HOST";

/// A process as Linux tells of it.
struct LinuxProcess {
    parent: u32,
    /// Start, in hundredths of a second since the machine was started.
    started: u64,
    /// Whether its environment names the host.
    is_named: bool,
}

/// Returns the processes that belong to a host: those that have its name in their environment, the
/// leaders of these groups, and the descendants of both. Leaves out the process that asks. None
/// where the system does not say.
pub(crate) fn of_host(host: &str, groups: &BTreeSet<u32>) -> BTreeSet<u32> {
    let all = processes(host);
    let mut found = with_descendants(&all, |pid, process| {
        process.is_named || groups.contains(&pid)
    });
    found.remove(&std::process::id());
    found
}

/// Place in the order in which processes are started: two that are started in the same hundredth of
/// a second have ids in that order, save where the ids start anew.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StartOrder {
    /// Time since the machine was started, in hundredths of a second.
    uptime: u64,
    pid: u32,
}

impl StartOrder {
    /// Returns the place of the process that was started last. None where the system does not say.
    pub(crate) fn now() -> Option<Self> {
        // Before the number: one that is started in between counts as started before.
        let text = fs::read_to_string("/proc/uptime").ok()?;
        let (seconds, rest) = text.split_once('.')?;
        let hundredths = rest.get(..2)?.parse::<u64>().ok()?;
        let uptime = seconds.parse::<u64>().ok()? * 100 + hundredths;
        let load = fs::read_to_string("/proc/loadavg").ok()?;
        let pid = load.split_whitespace().last()?.parse().ok()?;
        Some(Self { uptime, pid })
    }
}

/// Whether a process has descendants that were started after `since`.
pub(crate) fn has_started_since(pid: u32, since: StartOrder) -> bool {
    let all = processes("");
    let family = with_descendants(&all, |other, _| other == pid);
    family.iter().any(|pid| {
        let started = all.get(pid).map(|process| StartOrder {
            uptime: process.started,
            pid: *pid,
        });
        started.is_some_and(|started| started > since)
    })
}

/// Returns the processes that are wanted, and their descendants.
fn with_descendants(
    all: &BTreeMap<u32, LinuxProcess>,
    wanted: impl Fn(u32, &LinuxProcess) -> bool,
) -> BTreeSet<u32> {
    let mut found: BTreeSet<u32> = all
        .iter()
        .filter(|(pid, process)| wanted(**pid, process))
        .map(|(pid, _)| *pid)
        .collect();
    // A parent may come after its child in the order of numbers.
    loop {
        let children = all
            .iter()
            .filter(|(pid, process)| !found.contains(pid) && found.contains(&process.parent));
        let children: Vec<u32> = children.map(|(pid, _)| *pid).collect();
        if children.is_empty() {
            return found;
        }
        found.extend(children);
    }
}

/// Returns the processes of this user that can be read, by id.
fn processes(host: &str) -> BTreeMap<u32, LinuxProcess> {
    let variable = format!("{HOST_VARIABLE}={host}");
    let Ok(entries) = fs::read_dir("/proc") else {
        return BTreeMap::new();
    };
    let processes = entries.filter_map(|entry| {
        let name = entry.ok()?.file_name();
        let pid: u32 = name.to_str()?.parse().ok()?;
        // That of another user cannot be read.
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let mut variables = environment.split(|byte| *byte == 0);
        let is_named = !host.is_empty() && variables.any(|found| found == variable.as_bytes());
        let (parent, started) = living(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
        let process = LinuxProcess {
            parent,
            started,
            is_named,
        };
        Some((pid, process))
    });
    processes.collect()
}

/// Reads the parent and the start of a process that has not ended from its `stat`: the second and
/// the twentieth field after its name, which may have anything in it. The unit is what Linux calls
/// `USER_HZ`, a hundredth of a second on all machines that Rust is made for.
fn living(stat: &str) -> Option<(u32, u64)> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    fields.next().filter(|state| !matches!(*state, "Z" | "X"))?;
    let parent = fields.next()?.parse().ok()?;
    Some((parent, fields.nth(17)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_hide_a_parent() {
        let fields = "34 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 567 8 9";
        let stat = format!("12 (a) S 7 (b) R {fields}");
        assert_eq!(living(&stat), Some((34, 567)));
        assert_eq!(living(&format!("12 (a) Z {fields}")), None);
        assert_eq!(living("12 (a) R 34 1"), None);
        assert_eq!(living("12 (a"), None);
    }

    /// Both processes are started within the same hundredth of a second, more often than not.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_started_at_once_counts_and_what_was_there_does_not() {
        for _ in 0..20 {
            let mut there = std::process::Command::new("sleep")
                .arg("60")
                .spawn()
                .unwrap();
            let since = StartOrder::now().unwrap();
            let mut new = std::process::Command::new("sleep")
                .arg("60")
                .spawn()
                .unwrap();
            assert!(!has_started_since(there.id(), since));
            assert!(has_started_since(new.id(), since));
            for child in [&mut there, &mut new] {
                child.kill().unwrap();
                child.wait().unwrap();
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_is_found_by_its_host_and_by_its_parent() {
        let start = |host: &str| {
            std::process::Command::new("sh")
                .args(["-c", "env -i sleep 60 & wait"])
                .env(HOST_VARIABLE, host)
                .spawn()
                .unwrap()
        };
        let (mut ours, mut other) = (start("descendants-one"), start("descendants-two"));
        let found = loop {
            let found = of_host("descendants-one", &BTreeSet::new());
            if found.len() == 2 {
                break found;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        };
        assert!(found.contains(&ours.id()) && !found.contains(&other.id()));
        let group = BTreeSet::from([other.id()]);
        // Its shell may not have come to start anything yet.
        while of_host("", &group).len() < 2 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(of_host("descendants", &BTreeSet::new()).is_empty());
        for pid in of_host("descendants-one", &group) {
            let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        ours.wait().unwrap();
        other.wait().unwrap();
    }
}
