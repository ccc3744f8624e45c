//! Grants that are taken away from a server in `dormouse.toml`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dormouse_files::paths;
use dormouse_files::replace::Access;
use dormouse_policy::{Grants, HttpGrant};
use toml_edit::{Array, Decor, Item, Table, TableLike, Value};

use super::{Editor, keep_detached, table_like};

impl Editor {
    /// Takes grants away from a server, and returns whether it had one of them. A folder is the one
    /// of that path, whatever its mode. Comments stay but those above the header of a table.
    ///
    /// # Errors
    /// There is no server of that name in this file, or the file cannot be edited.
    pub fn revoke(&self, server: &str, less: &Grants) -> anyhow::Result<bool> {
        let subjects = Subjects::new(less, &self.file);
        self.edit(Access::Kept, |document| {
            let servers = self.servers(document, server)?;
            let Some(item) = servers.get_mut(server) else {
                return Ok(());
            };
            let table = table_like(item, server)?;
            let Some(grants) = table.get_mut("grants") else {
                return Ok(());
            };
            let removed = revoke_all(table_like(grants, "grants")?, &subjects);
            if is_bare(table, "grants") {
                table.remove("grants");
            }
            for table in &removed {
                keep_detached(document, table);
            }
            Ok(())
        })
    }
}

/// Subjects of grants, as they are compared with what a file says.
pub(super) struct Subjects<'f> {
    folders: BTreeSet<PathBuf>,
    texts: BTreeSet<(&'static str, String)>,
    /// Folder of the file, from which its relative paths count.
    base: &'f Path,
}

impl<'f> Subjects<'f> {
    pub(super) fn new(grants: &Grants, file: &'f Path) -> Self {
        let env = grants.env.iter().map(|name| ("env", name.clone()));
        let http = grants.http.iter().map(|grant| ("http", grant.to_string()));
        Self {
            folders: grants.fs.iter().map(|grant| grant.path.clone()).collect(),
            texts: env.chain(http).collect(),
            base: file.parent().unwrap_or(Path::new("")),
        }
    }

    /// Whether a grant, which stands in the list of this key, is one of them.
    pub(super) fn contain(&self, key: &str, grant: &Value) -> bool {
        let text = match (key, grant) {
            ("fs", Value::InlineTable(folder)) => return self.contain_folder(folder),
            ("env", Value::String(name)) => ("env", name.value().clone()),
            ("http", Value::String(text)) => match text.value().parse::<HttpGrant>() {
                Ok(grant) => ("http", grant.to_string()),
                Err(_) => return false,
            },
            _ => return false,
        };
        self.texts.contains(&text)
    }

    pub(super) fn contain_folder(&self, folder: &dyn TableLike) -> bool {
        let path = folder.get("path").and_then(Item::as_str);
        let path = path.and_then(|path| paths::expand(path, self.base).ok());
        path.is_some_and(|path| self.folders.contains(&path))
    }
}

/// Takes grants out of a table of them, and returns those that were tables with headers.
fn revoke_all(grants: &mut dyn TableLike, subjects: &Subjects<'_>) -> Vec<Table> {
    let mut removed = Vec::new();
    for key in ["fs", "env", "http"] {
        match grants.get_mut(key) {
            Some(Item::Value(Value::Array(list))) => {
                revoke_from(list, |grant| subjects.contain(key, grant));
            }
            Some(Item::ArrayOfTables(tables)) => {
                removed.extend(
                    tables
                        .iter()
                        .filter(|table| subjects.contain_folder(*table))
                        .cloned(),
                );
                tables.retain(|table| !subjects.contain_folder(table));
            }
            _ => continue,
        }
        if is_bare(grants, key) {
            grants.remove(key);
        }
    }
    removed
}

/// Takes grants out of a list, but not the comments beside them.
pub(super) fn revoke_from(list: &mut Array, is_revoked: impl Fn(&Value) -> bool) {
    let mut index = 0;
    while let Some(grant) = list.get(index) {
        if !is_revoked(grant) {
            index += 1;
            continue;
        }
        let removed = list.remove(index);
        let around = text_of(removed.decor());
        let next = list.get(index).map(|next| prefix(next.decor()).to_owned());
        let is_last = next.is_none();
        let end = list.trailing().as_str().unwrap_or_default();
        let after = next.unwrap_or_else(|| end.to_owned());
        let kept = match around.contains('#') {
            true if after.contains('\n') => format!("{}{after}", around.trim_end()),
            true => format!("{}\n{after}", around.trim_end()),
            false if is_last || after.contains('#') => after,
            // What comes next stands where this has stood.
            false => prefix(removed.decor()).to_owned(),
        };
        match list.get_mut(index) {
            Some(next) => next.decor_mut().set_prefix(kept),
            None => list.set_trailing(kept),
        }
    }
    if list.is_empty() {
        list.set_trailing_comma(false);
    }
}

/// Whether an entry is there with nothing in it, not even a comment.
fn is_bare(table: &dyn TableLike, key: &str) -> bool {
    let is_commented = |decor: &Decor| text_of(decor).contains('#');
    if table
        .key(key)
        .is_some_and(|key| is_commented(key.leaf_decor()))
    {
        return false;
    }
    match table.get(key) {
        Some(Item::Value(Value::Array(list))) => {
            let end = list.trailing().as_str().unwrap_or_default();
            list.is_empty() && !end.contains('#') && !is_commented(list.decor())
        }
        Some(Item::Value(Value::InlineTable(table))) => {
            table.is_empty() && !is_commented(table.decor())
        }
        Some(Item::Table(table)) => table.is_empty() && !is_commented(table.decor()),
        Some(Item::ArrayOfTables(tables)) => tables.is_empty(),
        _ => false,
    }
}

fn prefix(decor: &Decor) -> &str {
    decor
        .prefix()
        .and_then(|raw| raw.as_str())
        .unwrap_or_default()
}

/// Returns what stands around something.
fn text_of(decor: &Decor) -> String {
    let suffix = decor.suffix().and_then(|raw| raw.as_str());
    format!("{}{}", prefix(decor), suffix.unwrap_or_default())
}
