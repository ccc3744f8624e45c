//! More grants of a server in `dormouse.toml`.

use dormouse_policy::Grants;
use toml_edit::{Item, Value};

use dormouse_files::replace::Access;

use super::{Editor, grants_table, table_like};

impl Editor {
    /// Grants a server more than it has. A folder that it has already is granted as is said now.
    ///
    /// # Errors
    /// There is no server of that name in this file, or the file cannot be edited.
    pub fn grant(&self, server: &str, more: &Grants) -> anyhow::Result<bool> {
        let Some(more) = grants_table(more)? else {
            return Ok(false);
        };
        self.edit(Access::Kept, |document| {
            let servers = self.servers(document, server)?;
            let Some(item) = servers.get_mut(server) else {
                return Ok(());
            };
            let table = table_like(item, server)?;
            let Some(grants) = table.get_mut("grants") else {
                table.insert("grants", Item::Table(more));
                return Ok(());
            };
            let grants = table_like(grants, "grants")?;
            for (key, value) in more {
                let Some(new) = value.as_array() else {
                    continue;
                };
                let Some(known) = grants.get_mut(&key).and_then(Item::as_array_mut) else {
                    grants.insert(&key, value);
                    continue;
                };
                known.retain(|old| !new.iter().any(|new| is_of_same(old, new)));
                new.iter().for_each(|new| known.push(new.clone()));
            }
            Ok(())
        })
    }
}

/// Whether two grants are of the same folder, or of the same variable.
fn is_of_same(one: &Value, other: &Value) -> bool {
    let subject = |grant: &Value| match grant.as_inline_table() {
        Some(folder) => folder.get("path")?.as_str().map(str::to_owned),
        None => grant.as_str().map(str::to_owned),
    };
    subject(one).is_some() && subject(one) == subject(other)
}
