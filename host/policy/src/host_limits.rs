//! Limits of a whole host: how much all of its servers may use together.

use std::sync::OnceLock;
use std::time::Duration;

/// The budget for guests' memory where the machine does not tell how much it has, in
/// bytes.
const DEFAULT_MEMORY: u64 = 2 << 30;

/// The caps on one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostLimits {
    /// `memory`: linear memories and tables of all instances of all servers, in bytes. One server
    /// has half of it at most. Half of the machine's memory where it is not set.
    pub memory: Option<u64>,
    /// `compile_time`: longest time for compiling one component, by the clock, and in time of all
    /// processors together.
    pub compile_time: Duration,
    /// `compile_memory`: most address space for compiling one component, in bytes.
    pub compile_memory: u64,
    /// `connections`: most connections to the upstreams of all servers, of which each may be a
    /// process.
    pub connections: usize,
}

impl Default for HostLimits {
    /// Plenty for the largest components that toolchains make: Python's, of 18 MB, takes
    /// 20 s of a processor.
    fn default() -> Self {
        Self {
            memory: None,
            compile_time: Duration::from_secs(300),
            compile_memory: 4 << 30,
            connections: 256,
        }
    }
}

/// Returns the number of processors that this process may use, as it was when this was first asked:
/// the system reads several files to find out.
#[must_use]
pub fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

impl HostLimits {
    /// Returns the memory that all guests together may have, in bytes.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let half = || machine_memory().map_or(DEFAULT_MEMORY, |bytes| bytes / 2);
        self.memory.unwrap_or_else(half)
    }
}

/// Returns the memory of the machine or, where this process is confined to less, that, in bytes: as
/// it was when this was first asked.
fn machine_memory() -> Option<u64> {
    static MEMORY: OnceLock<Option<u64>> = OnceLock::new();
    *MEMORY.get_or_init(read_machine_memory)
}

fn read_machine_memory() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok();
    let machine = machine.as_deref().and_then(total_in_meminfo);
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse().ok());
    [machine, group].into_iter().flatten().min()
}

/// Reads `MemTotal` of Linux' `/proc/meminfo`, in bytes.
fn total_in_meminfo(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_says_how_much_memory_it_has() {
        let text = "MemFree:  1 kB\nMemTotal:       24604716 kB\nSwapTotal: 0 kB\n";
        assert_eq!(total_in_meminfo(text), Some(24_604_716 << 10));
        assert_eq!(total_in_meminfo("MemTotal: lots"), None);
        assert_eq!(total_in_meminfo(""), None);
    }
}
