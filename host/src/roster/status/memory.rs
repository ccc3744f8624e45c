//! Memory use of child processes.

/// Returns the resident memory of all processes in these process groups, in bytes: of the children
/// and their descendants. None where there are none, and on systems without `/proc`.
pub(super) fn of_groups(groups: &[u32]) -> Option<u64> {
    if groups.is_empty() {
        return None;
    }
    let processes = std::fs::read_dir("/proc").ok()?;
    let members = processes.filter_map(|process| {
        let process = process.ok()?.path();
        let stat = std::fs::read_to_string(process.join("stat")).ok()?;
        groups.contains(&group(&stat)?).then_some(process)
    });
    let sizes = members.filter_map(|process| {
        let status = std::fs::read_to_string(process.join("status")).ok()?;
        resident(&status)
    });
    Some(sizes.sum())
}

/// Returns the process group in the text of `/proc/PID/stat`, where the program's name precedes the
/// numbers, in parentheses and with any characters.
fn group(stat: &str) -> Option<u32> {
    let (_, numbers) = stat.rsplit_once(')')?;
    numbers.split_whitespace().nth(2)?.parse().ok()
}

/// Returns the resident memory in the text of `/proc/PID/status`, in bytes.
fn resident(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_read() {
        assert_eq!(group("12 (a) b) S 1 34 34 0"), Some(34));
        assert_eq!(group("12"), None);
        assert_eq!(
            resident("Name:\tx\nVmRSS:\t    8 kB\nThreads:\t1\n"),
            Some(8192)
        );
        assert_eq!(resident("Name:\tx\n"), None);
        assert_eq!(of_groups(&[]), None);
    }
}
