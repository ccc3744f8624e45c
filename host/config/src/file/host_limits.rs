//! Limits of a whole host: `[limits]`.

use super::*;

impl DocumentReader<'_> {
    pub(super) fn host_limits(&mut self, item: &Item) -> HostLimits {
        let mut limits = HostLimits::default();
        let Some(table) = self.table(item, "limits") else {
            return limits;
        };
        for (key, item) in table.iter() {
            let here = format!("limits.{key}");
            match key {
                "memory" => {
                    let mut memory = limits.memory();
                    self.set(&mut memory, item, &here, units::size);
                    limits.memory = Some(memory);
                }
                "compile_time" => self.set(&mut limits.compile_time, item, &here, units::duration),
                "compile_memory" => self.set(&mut limits.compile_memory, item, &here, units::size),
                "connections" => {
                    if let Some(connections) = self.count(item, &here) {
                        limits.connections = connections as usize;
                    }
                }
                _ => self.unknown(table, key, "`[limits]`", HOST_LIMITS),
            }
        }
        limits
    }
}
