//! More grants of a server in `dormouse.toml`.

use dormouse_policy::Grants;
use toml_edit::{Item, Value};

use dormouse_files::replace::Access;

use super::revoked::{Subjects, revoke_from};
use super::{Editor, grants_table, table_like};

impl Editor {
    /// Grants a server more than it has. A folder that it has already is granted as is said now.
    ///
    /// # Errors
    /// There is no server of that name in this file, or the file cannot be edited.
    pub fn grant(&self, server: &str, more: &Grants) -> anyhow::Result<bool> {
        let Some(table_of_more) = grants_table(more)? else {
            return Ok(false);
        };
        let subjects = Subjects::new(more, &self.file);
        self.edit(Access::Kept, |document| {
            let servers = self.servers(document, server)?;
            let Some(item) = servers.get_mut(server) else {
                return Ok(());
            };
            let table = table_like(item, server)?;
            let Some(grants) = table.get_mut("grants") else {
                table.insert("grants", Item::Table(table_of_more));
                return Ok(());
            };
            let grants = table_like(grants, "grants")?;
            for (key, value) in table_of_more {
                let new = value.as_array();
                let new: Vec<Value> = new.into_iter().flatten().cloned().collect();
                match grants.get_mut(&key) {
                    Some(Item::Value(Value::Array(known))) => {
                        revoke_from(known, |old| subjects.contain(&key, old));
                        new.into_iter().for_each(|new| known.push(new));
                    }
                    Some(Item::ArrayOfTables(known)) => {
                        known.retain(|old| !subjects.contain_folder(old));
                        let new = new.into_iter().filter_map(|new| match new {
                            Value::InlineTable(folder) => Some(folder.into_table()),
                            _ => None,
                        });
                        new.for_each(|new| known.push(new));
                    }
                    _ => {
                        grants.insert(&key, value);
                    }
                }
            }
            Ok(())
        })
    }
}
