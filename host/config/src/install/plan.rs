//! Plans of files' new texts of an import.

use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use dormouse_files::replace::Access;
use dormouse_launch::Secret;

use super::decision::{ImportAction, ImportDecision, decide};
use super::leaving::Leaving;
use super::questions::{take_out_shared, take_out_waiting};
use super::seen::{Seen, changed_meanwhile};
use super::staying::{staying, take_out_behind_unusable, take_out_unread};
use super::{FileChange, server};
use crate::discovery::places::Syntax;
use crate::discovery::{Discovery, FoundServer, Surroundings};
use crate::edit::{ServerTableChange, with_servers};
use crate::reading::settled;
use crate::{Client, Config, Scope, file};

/// Program with which a client is to start Dormouse.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program: a path, or a name that `PATH` leads to.
    pub command: String,
    /// Arguments before `serve`.
    pub options: Vec<String>,
    /// Names of variables of the environment that the program needs.
    pub variables: Vec<String>,
}

/// Way in which a client is to reach Dormouse.
#[derive(Debug, Clone)]
pub enum ClientReach {
    /// The client starts a host of its own.
    Program(Program),
    /// The client shares a host that runs already (`dormouse serve --http`).
    Http {
        /// The host's URL.
        url: String,
        /// Token that the client sends to be let in.
        token: Secret,
    },
}

/// An import that is planned, and not done yet.
#[derive(Debug)]
pub struct ImportPlan {
    /// Decision on each server.
    pub decisions: Vec<ImportDecision>,
    /// Changes of files; one of Dormouse's own file is the first.
    pub changes: Vec<FileChange>,
    /// Servers that stay in a client's file although they were wanted, as sentences.
    pub left: Vec<String>,
    /// Entries of Dormouse's own that go from clients' files, as sentences.
    pub removed: Vec<String>,
    seen: Seen,
}

impl ImportPlan {
    /// Checks that the files are what they were when the import was planned, also those that it does
    /// not change: the settings of clients that servers leave, and Dormouse's own file.
    ///
    /// # Errors
    /// A file has been changed meanwhile, or cannot be read.
    pub fn check_unchanged(&self) -> anyhow::Result<()> {
        self.seen.check()
    }
}

/// Request for an import.
#[derive(Debug, Clone, Copy)]
pub struct ImportRequest<'a> {
    /// The clients whose servers are taken over.
    pub clients: &'a [Client],
    /// Program that replaces the servers in their clients' files, if they are replaced.
    pub replace: Option<&'a Program>,
    /// Whether a server of a name that is taken replaces the one that has the name.
    pub force: bool,
    /// Longest time for a call of any server that is not taken over.
    pub longest_call: Duration,
}

/// Plans an import. `config` is the content of the configuration's `file`.
///
/// # Errors
/// A file cannot be read, or cannot be edited.
pub fn import(
    discovery: &Discovery,
    around: &Surroundings,
    config: &Config,
    file: &Path,
    wanted: ImportRequest<'_>,
) -> anyhow::Result<ImportPlan> {
    let mut decisions = decide(&discovery.found, wanted.clients, config, wanted.force);
    let unread = take_out_unread(&mut decisions, discovery);
    let behind = take_out_behind_unusable(&mut decisions, discovery);
    let waiting = take_out_waiting(&mut decisions, &discovery.found);
    let shared = take_out_shared(&mut decisions, &discovery.found, config);
    let taken = decisions.iter().flat_map(|decision| &decision.found);
    let taken = taken.filter_map(|index| discovery.found.get(*index));
    let timeouts = taken.map(|found| found.server.limits.timeout);
    let mut leaving = Leaving {
        longest_call: timeouts.fold(wanted.longest_call, Duration::max),
        staying: staying(&decisions, discovery, config),
        ..Leaving::default()
    };
    if let Some(program) = wanted.replace {
        for client in wanted.clients {
            leaving.client(*client, &decisions, discovery, around, program)?;
        }
        leaving.check(around, program)?;
    }
    // Taking over what a policy denies would be a way around it.
    let denied = discovery.found.iter().filter_map(|found| {
        let (origin, why) = (&found.server.origin, found.server.denied.as_ref()?);
        let wanted = origin
            .client
            .is_some_and(|client| wanted.clients.contains(&client));
        (wanted && origin.scope == Scope::User).then(|| {
            let name = found.written_name.escape_debug();
            format!("`{name}` of {origin} is not taken over: a policy denies it: {why}")
        })
    });
    leaving.left.extend(denied);
    leaving.left.extend(unread);
    leaving.left.extend(behind);
    leaving.left.extend(waiting);
    leaving.left.extend(shared);
    let own = own(&decisions, &discovery.found, config, file, &leaving)?;
    let left_by: Vec<Client> = leaving.replaced.iter().map(|(client, _)| *client).collect();
    let mut seen = Seen::of_clients(&left_by, discovery);
    seen.add(&own.file, own.before.as_deref());
    let mut changes = vec![own];
    changes.extend(leaving.changes.into_values());
    changes.retain(FileChange::is_any);
    Ok(ImportPlan {
        decisions,
        changes,
        left: leaving.left,
        removed: leaving.removed,
        seen,
    })
}

/// Plans the change of Dormouse's own configuration.
fn own(
    decisions: &[ImportDecision],
    found: &[FoundServer],
    config: &Config,
    path: &Path,
    leaving: &Leaving,
) -> anyhow::Result<FileChange> {
    let before = settled::read(path, Syntax::Toml)?;
    if let Some(text) = &before
        && file::parse_usable(path, text)? != *config
    {
        // Its beginning may have been read, while somebody wrote it.
        bail!("{}", changed_meanwhile(path));
    }
    let mut access = Access::Kept;
    let mut changes = Vec::new();
    for decision in decisions {
        let all = decision.found.iter();
        let mut from: Vec<Client> = all
            .clone()
            .filter(|index| !leaving.gone.contains(index))
            .filter_map(|index| found.get(*index)?.server.origin.client)
            .collect();
        let first = all.clone().find_map(|index| found.get(*index));
        from.sort_unstable();
        from.dedup();
        let change = match (decision.action, first) {
            (ImportAction::Add | ImportAction::Replace, Some(first)) => {
                // Values are copied as they are, and any of them may be a secret.
                access = Access::Private;
                let usual = first.server.limits.timeout;
                let taken = server::CombinedClientFiles {
                    said: decision.said(found),
                    call_timeout: decision.call_timeout(found).unwrap_or(usual),
                };
                let table = server::table(first, &from, &taken);
                ServerTableChange::Table(Box::new(table))
            }
            _ => {
                let known = config.servers.get(&decision.name);
                if let Some(known) = known {
                    let rules = decision.more_rules(found, known);
                    if !rules.is_empty() {
                        changes.push((decision.name.clone(), ServerTableChange::Rules(rules)));
                    }
                }
                let known = known
                    .map(|server| server.from.as_slice())
                    .unwrap_or_default();
                let gone: Vec<_> = all
                    .filter(|index| leaving.gone.contains(index))
                    .filter_map(|index| found.get(*index)?.server.origin.client)
                    .collect();
                for client in known.iter().filter(|client| !gone.contains(client)) {
                    if !from.contains(client) {
                        from.push(*client);
                    }
                }
                from.sort_unstable();
                if from == known {
                    continue;
                }
                ServerTableChange::From(from)
            }
        };
        changes.push((decision.name.clone(), change));
    }
    let text = before.as_deref().unwrap_or_default();
    let after = match changes.is_empty() {
        true => text.to_owned(),
        false => with_servers(path, text, changes)?,
    };
    Ok(FileChange {
        file: path.to_owned(),
        syntax: Syntax::Toml,
        before,
        after,
        access,
        own: true,
    })
}
