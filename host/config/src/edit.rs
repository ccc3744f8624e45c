//! Changing `dormouse.toml` in place of its user, who finds every comment and
//! every blank line where they left it.

mod granted;
mod overlaid;
mod plugin_inputs;
mod revoked;
mod server_table;
mod taken_over;

use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dormouse_files::paths;
use dormouse_files::replace::{Access, replace_if};
use dormouse_text::visible::visible_path;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

use self::taken_over::changed;
pub use self::taken_over::{ServerTableChange, with_servers};
use crate::discovery::places::Syntax;
use crate::naming::name;
use crate::reading::settled;
use crate::{Client, ClientRules, ConfigProblem, file};

pub use plugin_inputs::{PluginInputs, requested_secret_table};
pub use server_table::{component_table, grants_table, launch_table, upstream_table};
pub(super) use server_table::{launch_keys, list, secret_table};

/// The lock that all edits of configuration files wait for. Whoever moves servers between files holds
/// it from before the first is read until the last is written: of two that do so at once, each would
/// count on what the other one takes away.
#[derive(Debug)]
pub struct EditLock {
    _file: File,
}

impl EditLock {
    /// Takes the lock, until this is dropped.
    ///
    /// # Errors
    /// The user has no home folder, or the lock cannot be taken.
    pub fn take() -> anyhow::Result<Self> {
        Ok(Self {
            _file: paths::lock(&lock_file()?)?,
        })
    }
}

fn lock_file() -> anyhow::Result<PathBuf> {
    Ok(paths::runtime_dir()?.join("edit.lock"))
}

/// Edits one configuration file. Edits of several processes wait for each other,
/// and a reader sees the file before or after one, never in between.
#[derive(Debug)]
pub struct Editor {
    file: PathBuf,
    /// Held while the file is read and written. Not the file itself: each edit replaces that one,
    /// and with it would go the lock.
    lock: PathBuf,
}

impl Editor {
    /// Makes an editor of a configuration file, which need not exist yet.
    ///
    /// # Errors
    /// The user has no home folder.
    pub fn new(file: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            file: file.to_owned(),
            lock: lock_file()?,
        })
    }

    /// Adds a server with this table.
    ///
    /// # Errors
    /// The name is taken, unless it is to be replaced: then everything that was configured for the
    /// old one goes, since what was granted to one plugin was not granted to another. Or the name
    /// is not allowed, the table says what no server can be, or the file cannot be edited.
    pub fn add(&self, server: &str, table: Table, replace: bool) -> anyhow::Result<()> {
        name::check(server).map_err(|bad| anyhow::anyhow!("{bad}\nhint: {}", bad.hint()))?;
        // Any of these values may be a secret, also in an argument or a URL.
        const VALUES: [&str; 5] = ["env", "headers", "command", "url", "settings"];
        let has_values = VALUES.iter().any(|key| table.contains_key(key));
        let access = match has_values {
            true => Access::Private,
            false => Access::Kept,
        };
        check(&self.file, server, &table)?;
        self.edit(access, |document| insert(document, server, table, replace))?;
        Ok(())
    }

    /// Removes a server.
    ///
    /// # Errors
    /// There is no server of that name, or the file cannot be edited.
    pub fn remove(&self, server: &str) -> anyhow::Result<()> {
        self.edit(Access::Kept, |document| {
            let servers = self.servers(document, server)?;
            let removed = servers.remove(server);
            if let Some(table) = removed.as_ref().and_then(Item::as_table) {
                keep_detached(document, table);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Switches a server on or off, and returns whether that changed anything. A server that is
    /// configured `elsewhere`, in a client's file, gets a table here that says no more than this:
    /// that file is its client's.
    ///
    /// # Errors
    /// There is no server of that name, or the file cannot be edited.
    pub fn set_enabled(
        &self,
        server: &str,
        enabled: bool,
        elsewhere: bool,
    ) -> anyhow::Result<bool> {
        self.edit(Access::Kept, |document| {
            let here = document.get("servers").and_then(Item::as_table_like);
            if elsewhere && !here.is_some_and(|servers| servers.contains_key(server)) {
                let mut table = Table::new();
                table.insert("enabled", Item::Value(enabled.into()));
                return append(document, server, table);
            }
            let servers = self.servers(document, server)?;
            let Some(item) = servers.get_mut(server) else {
                return Ok(());
            };
            let table = table_like(item, server)?;
            match table.get_mut("enabled") {
                Some(Item::Value(value)) if value.as_bool() == Some(enabled) => {}
                Some(Item::Value(value)) => {
                    // The comment behind a value is part of it.
                    let decor = value.decor().clone();
                    *value = Value::from(enabled);
                    *value.decor_mut() = decor;
                }
                // On is what it is where nothing is said.
                None if enabled && !elsewhere => {}
                _ => {
                    table.insert("enabled", Item::Value(enabled.into()));
                }
            }
            Ok(())
        })
    }

    /// Returns the table of servers, which has one of this name.
    fn servers<'d>(
        &self,
        document: &'d mut DocumentMut,
        server: &str,
    ) -> anyhow::Result<&'d mut dyn TableLike> {
        let names: Vec<String> = document
            .get("servers")
            .and_then(Item::as_table_like)
            .map(|servers| servers.iter().map(|(name, _)| name.to_owned()).collect())
            .unwrap_or_default();
        if !names.iter().any(|name| name == server) {
            return Err(name::Unknown::new(server, names.iter().map(String::as_str)).into());
        }
        match document.get_mut("servers") {
            Some(servers) => table_like(servers, "servers"),
            None => bail!("`{}` has no servers", visible_path(&self.file)),
        }
    }

    /// Changes the file under the lock, all or nothing, and returns whether its text has changed.
    ///
    /// # Errors
    /// The file cannot be edited, or would have something wrong in it that it has not now.
    fn edit(
        &self,
        access: Access,
        change: impl FnOnce(&mut DocumentMut) -> anyhow::Result<()>,
    ) -> anyhow::Result<bool> {
        let _lock = paths::lock(&self.lock)?;
        let before = settled::read(&self.file, Syntax::Toml)?;
        let text = before.as_deref().unwrap_or_default();
        let after = changed(&self.file, text, change)?;
        if before.as_deref() == Some(after.as_str()) {
            return Ok(false);
        }
        let problems = new_problems(&self.file, text, &after);
        if !problems.is_empty() {
            bail!("nothing is changed: {}", told(&problems));
        }
        self.write(before.as_deref(), &after, access)?;
        Ok(true)
    }

    /// Replaces the text `before` by one that was made from it.
    ///
    /// # Errors
    /// The file is another one by now, or cannot be written.
    pub fn put(
        &self,
        before: Option<&str>,
        after: &str,
        access: Access,
        _: &EditLock,
    ) -> anyhow::Result<()> {
        self.write(before, after, access)
    }

    fn write(&self, before: Option<&str>, after: &str, access: Access) -> anyhow::Result<()> {
        let is_unchanged = |path: &Path| Ok(file::read(path)?.as_deref() == before);
        let shown = visible_path(&self.file);
        let replaced = replace_if(&self.file, after.as_bytes(), access, is_unchanged)
            .with_context(|| format!("the configuration file `{shown}` cannot be written"))?;
        if !replaced {
            bail!("`{shown}` has been changed by somebody else meanwhile\nhint: try again");
        }
        Ok(())
    }
}

/// Checks a server's table by itself: a file that holds it is read no more if it is wrong.
fn check(file: &Path, server: &str, table: &Table) -> anyhow::Result<()> {
    let mut alone = DocumentMut::new();
    insert(&mut alone, server, table.clone(), false)?;
    let (_, problems) = file::parse(file, &alone.to_string());
    match problems.is_empty() {
        true => Ok(()),
        false => bail!("server `{server}` is not added: {}", told(&problems)),
    }
}

/// Returns what is wrong with a file's text, and was not with the text before.
fn new_problems(file: &Path, before: &str, after: &str) -> Vec<ConfigProblem> {
    let (_, mut problems) = file::parse(file, after);
    if !problems.is_empty() {
        let (_, known) = file::parse(file, before);
        problems.retain(|one| known.iter().all(|known| known.message != one.message));
    }
    problems
}

/// Returns the text on problems, with their hints.
fn told(problems: &[ConfigProblem]) -> String {
    let told = problems.iter().map(|problem| match &problem.hint {
        Some(hint) => format!("{}\nhint: {hint}", problem.message),
        None => problem.message.clone(),
    });
    told.collect::<Vec<_>>().join("\n")
}

/// Adds a server's table, or replaces another by it, if that is wanted.
fn insert(
    document: &mut DocumentMut,
    server: &str,
    mut table: Table,
    replace: bool,
) -> anyhow::Result<()> {
    let servers = all_servers(document)?;
    match servers.get(server) {
        Some(_) if !replace => bail!(
            "there is a server `{server}` already\nhint: choose another name, or replace it with `--force`"
        ),
        Some(old) => {
            if let Some(old) = old.as_table() {
                table.set_position(old.position());
                *table.decor_mut() = old.decor().clone();
            }
            servers.insert(server, Item::Table(table));
            Ok(())
        }
        None => append(document, server, table),
    }
}

/// Returns the table of servers, made if there is none.
fn all_servers(document: &mut DocumentMut) -> anyhow::Result<&mut dyn TableLike> {
    let servers = document.entry("servers").or_insert_with(|| {
        let mut servers = Table::new();
        servers.set_implicit(true);
        Item::Table(servers)
    });
    table_like(servers, "servers")
}

/// Adds a server at the end of a file that has none of that name.
fn append(document: &mut DocumentMut, server: &str, mut table: Table) -> anyhow::Result<()> {
    // Comments at the end of the file stay above what comes now.
    let end = document.trailing().as_str().unwrap_or_default().to_owned();
    let own = table.decor().prefix().and_then(|raw| raw.as_str());
    let own = own.unwrap_or_default().trim_start().to_owned();
    if !end.trim().is_empty() {
        let prefix = format!("{}\n\n{own}", end.trim_end());
        table.decor_mut().set_prefix(prefix);
    } else if document.as_table().is_empty() {
        table.decor_mut().set_prefix(own);
    }
    all_servers(document)?.insert(server, Item::Table(table));
    document.set_trailing("");
    Ok(())
}

fn table_like<'i>(item: &'i mut Item, key: &str) -> anyhow::Result<&'i mut dyn TableLike> {
    item.as_table_like_mut()
        .with_context(|| format!("`{key}` is no table\nhint: `dormouse doctor` says where"))
}

/// Keeps comments above a removed table's header that a blank line separates from it: before the
/// next table, or at the end of the file. Comments directly above the header go with it.
fn keep_detached(document: &mut DocumentMut, removed: &Table) {
    let prefix = removed.decor().prefix().and_then(|raw| raw.as_str());
    let Some((detached, _)) = prefix.unwrap_or_default().rsplit_once("\n\n") else {
        return;
    };
    if detached.trim().is_empty() {
        return;
    }
    let detached = format!("{}\n", detached.trim_end());
    let after = removed.position().unwrap_or(isize::MAX);
    let mut next = None;
    each_table(document.as_table_mut(), &mut |table| {
        next = table
            .position()
            .filter(|position| *position > after && next.is_none_or(|next| *position < next))
            .or(next);
    });
    let Some(next) = next else {
        let rest = document.trailing().as_str().unwrap_or_default();
        document.set_trailing(format!("{detached}{rest}"));
        return;
    };
    each_table(document.as_table_mut(), &mut |table| {
        if table.position() == Some(next) {
            let own = table.decor().prefix().and_then(|raw| raw.as_str());
            let prefix = format!("{detached}{}", own.unwrap_or_default());
            table.decor_mut().set_prefix(prefix);
        }
    });
}

/// Visits every table that has a header of its own.
fn each_table(table: &mut Table, visit: &mut dyn FnMut(&mut Table)) {
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(table) => {
                if !table.is_implicit() && !table.is_dotted() {
                    visit(table);
                }
                each_table(table, visit);
            }
            Item::ArrayOfTables(tables) => {
                for table in tables.iter_mut() {
                    visit(table);
                    each_table(table, visit);
                }
            }
            Item::None | Item::Value(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
