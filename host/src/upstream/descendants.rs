//! Processes that a host's children have started, and that have left their group.
//!
//! A process can make itself a session of its own (`setsid`), and outlive its parent: then
//! its group tells nobody whose it is. Two things still do. Each child of a host has a
//! variable in its environment that names the host, which all that it starts inherit; and
//! those whose parents live are found through them. Only a process that has done away with
//! both is not found.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The variable that names the host.
pub(super) const HOST_VARIABLE: &str = "DORMOUSE_HOST";

/// A process as Linux tells of it.
struct Process {
    parent: u32,
    /// Whether it is of the host.
    is_named: bool,
}

/// The processes that belong to a host: those that have its name in their environment,
/// the members of these groups, and all that these have started. Not the one that asks.
/// None where the system does not say.
pub(super) fn of_host(host: &str, groups: &BTreeSet<u32>) -> BTreeSet<u32> {
    let all = processes(host);
    let is_own = |pid: &u32, process: &Process| process.is_named || groups.contains(pid);
    let mut found: BTreeSet<u32> = all
        .iter()
        .filter(|(pid, process)| is_own(pid, process))
        .map(|(pid, _)| *pid)
        .collect();
    // A parent may come after its child in the order of numbers.
    loop {
        let children = all
            .iter()
            .filter(|(pid, process)| !found.contains(pid) && found.contains(&process.parent));
        let children: Vec<u32> = children.map(|(pid, _)| *pid).collect();
        if children.is_empty() {
            break;
        }
        found.extend(children);
    }
    found.remove(&std::process::id());
    found
}

/// The processes of this user that can be looked at, by their numbers.
fn processes(host: &str) -> BTreeMap<u32, Process> {
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
        let parent = living(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
        Some((pid, Process { parent, is_named }))
    });
    processes.collect()
}

/// The parent of a process that has not ended, in its `stat`: the second field after its
/// name, which may have anything in it.
fn living(stat: &str) -> Option<u32> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    fields.next().filter(|state| !matches!(*state, "Z" | "X"))?;
    fields.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_hide_a_parent() {
        assert_eq!(living("12 (a) S 7 (b) R 34 1 1"), Some(34));
        assert_eq!(living("12 (a) Z 34 1 1"), None);
        assert_eq!(living("12 (a"), None);
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
