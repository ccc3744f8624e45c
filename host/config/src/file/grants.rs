//! Grants of servers, and limits of the host.

use super::*;

impl Reader<'_> {
    pub(super) fn grants(&mut self, item: &Item, at: &str) -> Grants {
        let mut grants = Grants::default();
        let Some(table) = self.table(item, at) else {
            return grants;
        };
        for (key, item) in table.iter() {
            let here = within(at, key);
            match key {
                "fs" => {
                    for (index, item) in self.items(item, &here).into_iter().enumerate() {
                        grants
                            .fs
                            .extend(self.fs(&item, &format!("{here}[{index}]")));
                    }
                }
                "env" => {
                    for (index, item) in self.items(item, &here).into_iter().enumerate() {
                        grants
                            .env
                            .extend(self.variable(&item, &format!("{here}[{index}]")));
                    }
                }
                _ => self.unknown(table, key, &format!("`[{at}]`"), GRANTS),
            }
        }
        grants
    }

    pub(super) fn fs(&mut self, item: &Item, at: &str) -> Option<FsGrant> {
        let table = self.table(item, at)?;
        let mut path = None;
        // Whoever says nothing of writing has not granted it.
        let mut mode = Some(FsMode::ReadOnly);
        for (key, item) in table.iter() {
            let here = within(at, key);
            match key {
                "path" => path = self.path(item, &here),
                "mode" => {
                    mode = self.choice(
                        item,
                        &here,
                        &[("ro", FsMode::ReadOnly), ("rw", FsMode::ReadWrite)],
                    );
                }
                _ => self.unknown(table, key, &format!("`{at}`"), FS),
            }
        }
        if !table.contains_key("path") {
            self.problem(
                item.span(),
                format!("`{at}` has no `path`"),
                Some("name the folder: `{ path = \"~/notes\", mode = \"ro\" }`".to_owned()),
            );
        }
        Some(FsGrant {
            path: path?,
            real: None,
            mode: mode?,
        })
    }

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
