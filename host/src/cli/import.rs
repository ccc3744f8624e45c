//! `dormouse import`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use dormouse_config::discovery::{Discovery, SourceState, Surroundings};
use dormouse_config::edit::EditLock;
use dormouse_config::install::backup::Undo;
use dormouse_config::install::{ImportAction, ImportDecision, ImportRequest, backup};
use dormouse_config::{Client, Configured, Fingerprint, Scope, install as files};
use dormouse_text::visible::visible_path;

use super::hosts;
use super::install::{self, Then};
use super::output::{self, STRONG, styled};
use crate::roster::{Places, Roster};
use crate::store::{Store, Trust};

/// Takes over the servers that your clients have, into `dormouse.toml`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dormouse import --dry-run          what would change\n  \
    dormouse import                    the servers of all clients\n  \
    dormouse import cursor --replace   have Cursor load Dormouse instead of its servers\n  \
    dormouse import --undo             put everything back\n\n\
    Your own servers are taken over, not those of projects. Variables stay variables; a value \
    that is written in a client's file is copied as it is, and `dormouse.toml` then is for you \
    alone. Each file that is changed is backed up first.")]
pub(super) struct ImportArgs {
    /// Only the servers of these clients, like `cursor` or `claude-code`; those of all
    /// clients where none is named.
    #[arg(value_name = "CLIENT")]
    clients: Vec<Client>,
    /// Put Dormouse into the clients' own files in place of the servers.
    #[arg(long)]
    replace: bool,
    /// Replace servers in `dormouse.toml` that have the same name. With `--undo`, put
    /// back even what has been edited since; these edits are lost.
    #[arg(long)]
    force: bool,
    /// Put back the files that the last import or installation has changed.
    #[arg(long, conflicts_with_all = ["clients", "replace", "sync", "no_sync"])]
    undo: bool,
    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    then: Then,
}

impl ImportArgs {
    pub(super) fn run(self, places: &Places, named: bool) -> anyhow::Result<ExitCode> {
        if self.undo {
            return self.undo(places);
        }
        // From the first look at any file until all are written.
        let lock = (!self.dry_run).then(EditLock::take).transpose()?;
        let around = install::users_surroundings(places)?;
        let all: Vec<Client> = Client::all().collect();
        let clients = if self.clients.is_empty() {
            all.clone()
        } else {
            self.clients.clone()
        };
        let config = dormouse_config::load(&places.config)?;
        // A project's servers are not taken over.
        let discovery = install::discover_users(&around, &all, &config);
        warn_of_left_out(&discovery, &clients);
        let unread = warn_of_problems(&discovery, &clients);
        let variables = install::variables(&config, &discovery, &around);
        let program = install::program(places, named, variables)?;
        let import = files::import(
            &discovery,
            &around,
            &config,
            &places.config,
            ImportRequest {
                clients: &clients,
                replace: self.replace.then_some(&program),
                force: self.force,
                longest_call: install::longest_call(places, &around)?,
            },
        )?;
        let told_left = || import.left.iter().for_each(|left| output::warn(left));
        if import.decisions.is_empty() {
            told_left();
            if !unread.is_empty() {
                let files: Vec<_> = unread.iter().map(|file| visible_path(file)).collect();
                bail!(
                    "no server is taken over, because not all that is written there can be read: `{}`\n\
                     hint: mend that, and import again",
                    files.join("`, `")
                );
            }
            output::say(
                "your clients have no servers that could be taken over\nhint: `dormouse doctor` shows which files were looked at",
            );
            return Ok(ExitCode::SUCCESS);
        }
        for decision in &import.decisions {
            output::say(&told(decision, &import.decisions, &discovery));
        }
        told_left();
        for sentence in &import.removed {
            output::say(&output::clean(sentence));
        }
        if import.changes.is_empty() {
            output::say("nothing is to be changed");
            return Ok(ExitCode::SUCCESS);
        }
        let Some(lock) = lock else {
            return install::show(&import.changes);
        };
        let before = Spellings::now(places, &around);
        import.check_unchanged()?;
        install::make(
            places,
            &install::command_line("import", &self.words()),
            &import.changes,
            &lock,
        )?;
        drop(lock);
        before.carry_over(places, &around);
        hosts::reload(&places.config)?;
        let ready = import.decisions.iter().filter(|decision| {
            let first = decision.found.first();
            let found = first.and_then(|index| discovery.found.get(*index));
            let is_on = decision
                .said(&discovery.found)
                .is_none_or(|said| said.enabled);
            is_on
                && found.is_some_and(|found| {
                    found.own.missing.is_empty() && found.own.unanswered.is_empty()
                })
        });
        let roster = Roster::open(places.clone())?;
        let snapshot = roster.snapshot();
        // What is known already need not be asked again.
        let is_unknown = |name: &String| {
            let server = snapshot.servers().get(name);
            server.is_none_or(|server| server.is_unknown())
        };
        let names = ready.map(|decision| decision.name.clone());
        let names: Vec<_> = names.filter(is_unknown).collect();
        if names.is_empty() && !self.then.is_wanted() {
            return Ok(ExitCode::SUCCESS);
        }
        self.then.offer_sync(places, &names)
    }

    fn words(&self) -> Vec<String> {
        let clients = self.clients.iter().map(ToString::to_string);
        let replace = self.replace.then(|| "--replace".to_owned());
        clients.chain(replace).collect()
    }

    fn undo(&self, places: &Places) -> anyhow::Result<ExitCode> {
        let lock = (!self.dry_run).then(EditLock::take).transpose()?;
        let Some(mut run) = backup::last(&backup::folder(&places.data)) else {
            output::say("there is nothing to undo");
            return Ok(ExitCode::SUCCESS);
        };
        let around = install::users_surroundings(places)?;
        let steps = run.undo(self.force, &|file, earlier| {
            files::without_earlier_change(earlier, file, &around)
        })?;
        if self.dry_run {
            let changes = steps.iter().filter_map(|step| match step {
                Undo::Back(change) | Undo::Merge(change) | Undo::MergePart(change, _) => {
                    Some(change.clone())
                }
                _ => None,
            });
            install::show(&changes.collect::<Vec<_>>())?;
        }
        let (back, removed) = match self.dry_run {
            true => ("would put back", "would remove"),
            false => ("put back", "removed"),
        };
        let mut edited: Vec<PathBuf> = Vec::new();
        let before = Spellings::now(places, &around);
        for step in &steps {
            if let Some(lock) = &lock {
                step.make_under(lock)?;
            }
            match step {
                Undo::Back(change) => {
                    output::say(&format!("{back} {}", visible_path(&change.file)));
                }
                Undo::Remove(file, _) => output::say(&format!("{removed} {}", visible_path(file))),
                Undo::Nothing => {}
                Undo::Merge(change) => {
                    let file = visible_path(&change.file);
                    output::say(&format!(
                        "{back} what {file} had; what has been written into it since stays"
                    ));
                }
                Undo::MergePart(change, names) => {
                    edited.push(change.file.clone());
                    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                    output::warn(&format!(
                        "{back} what {file} had, but not {}: what has that name there has been \
                         written since, and stays\nhint: what it was is in {}; \
                         `dormouse import --undo --force` puts it back",
                        output::clean(&names.join(", ")),
                        visible_path(run.folder()),
                        file = visible_path(&change.file),
                    ));
                }
                Undo::Needed(file) => {
                    edited.push(file.clone());
                    output::warn(&format!(
                        "`{}` stays: it has servers that are not back in their clients' files",
                        visible_path(file)
                    ));
                }
                Undo::Edited(file) => {
                    edited.push(file.clone());
                    output::warn(&format!(
                        "`{}` has been edited since, and is left as it is\nhint: what it was is in {}; `dormouse import --undo --force` puts it back",
                        visible_path(file),
                        visible_path(run.folder())
                    ));
                }
            }
        }
        if self.dry_run {
            return Ok(ExitCode::SUCCESS);
        }
        run.undone(&edited)?;
        drop(lock);
        before.carry_over(places, &around);
        hosts::reload(&places.config)?;
        if edited.is_empty() {
            output::say(&format!("undone: {}", styled(STRONG, run.command())));
            Ok(ExitCode::SUCCESS)
        } else {
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Fingerprints of the servers of all files, by fingerprints that are the same for every spelling
/// of a server: that of the launch with all values filled in, and that of the launch as
/// `dormouse.toml` spells it. Records of a server are kept by the fingerprint of its own spelling.
struct Spellings(Vec<(Fingerprint, Fingerprint)>);

impl Spellings {
    /// Reads all files. Empty where they cannot be read.
    fn now(places: &Places, around: &Surroundings) -> Self {
        let Ok(config) = dormouse_config::load(&places.config) else {
            return Self(Vec::new());
        };
        let all = Configured::new(config, Some(around), &Trust::new(&places.data));
        let servers = all.servers.values().filter_map(|server| {
            let bridge = server.bridge()?;
            let written = Fingerprint::of(&bridge.written);
            let filled = Fingerprint::of(&bridge.launch);
            Some([filled, written].map(|same| (same, bridge.fingerprint.clone())))
        });
        let found = all.found.found.iter();
        let found = found.filter(|found| found.server.origin.scope == Scope::User);
        let found = found.filter_map(|found| {
            let own = Fingerprint::of(&found.own.launch);
            Some((own, found.server.bridge()?.fingerprint.clone()))
        });
        Self(servers.flatten().chain(found).collect())
    }

    /// Copies the record of each server to its current spelling.
    fn carry_over(self, places: &Places, around: &Surroundings) {
        let store = Store::of(&places.data);
        for (same, to) in Self::now(places, around).0 {
            for (_, from) in self.0.iter().filter(|(old, _)| *old == same) {
                if let Err(error) = store.carry_over(from, &to) {
                    output::warn(&format!("{error:#}"));
                }
            }
        }
    }
}

/// Returns the text for a person on the decision about a server, given all decisions.
fn told(
    decision: &ImportDecision,
    all_decisions: &[ImportDecision],
    discovery: &Discovery,
) -> String {
    let all = decision.found.iter();
    let all: Vec<_> = all
        .filter_map(|index| discovery.found.get(*index))
        .collect();
    let clients = all.iter().filter_map(|found| found.server.origin.client);
    let mut clients: Vec<_> = clients.map(Client::name).collect();
    clients.dedup();
    let (name, from) = (&decision.name, clients.join(", "));
    let mut text = match decision.action {
        ImportAction::Add => format!("`{name}` from {from}"),
        ImportAction::Replace => format!("`{name}` from {from}, in place of another one"),
        ImportAction::Keep => format!("`{name}` from {from} is there already"),
    };
    let Some(first) = all
        .first()
        .filter(|_| decision.action != ImportAction::Keep)
    else {
        return text;
    };
    if first.written_name != *name {
        text.push_str(&format!(
            ", where it is called `{}`",
            first.written_name.escape_debug()
        ));
    }
    let said = decision.said(&discovery.found);
    if said.as_ref().is_some_and(|said| !said.enabled) {
        text.push_str(", switched off as it is there");
    }
    // Until now one of both was shown, and the other one was not.
    let wanted = &first.server.name;
    let has_name = |other: &&ImportDecision| other.name == *wanted && other.name != *name;
    if let Some(other) = all_decisions.iter().find(has_name) {
        let other = other.found.first();
        let other = other.and_then(|index| discovery.found.get(*index));
        let of_client = other.and_then(|other| other.server.origin.client);
        let of_client = of_client.map_or_else(String::new, |client| format!(" of {client}"));
        text.push_str(&format!(
            "\n  it is another server than `{wanted}`{of_client}, which was shown in its place; both \
             are, from now on\n  hint: `dormouse disable {name}` leaves it as it was"
        ));
    }
    let rules = said.map(|said| said.rules.told()).unwrap_or_default();
    for line in rules {
        text.push_str(&format!("\n  {}", output::clean(&line)));
    }
    let own = &first.own;
    for line in own.missing.iter().chain(&own.unanswered).chain(&own.notes) {
        text.push_str(&format!("\n  {}", output::clean(line)));
    }
    text
}

/// Warns of files that clients take for the user's, and that are in the folder of the project.
pub(super) fn warn_of_left_out(discovery: &Discovery, clients: &[Client]) {
    for (client, file) in &discovery.left_out {
        if clients.contains(client) {
            output::warn(&format!(
                "`{}`, which {client} reads, is a file of the project that you are in: no server in \
                 it is taken over\nhint: if it is yours, do this in another folder",
                visible_path(file)
            ));
        }
    }
}

/// Warns of files that are not read as a whole, and so not taken over as a whole. Returns them.
fn warn_of_problems<'d>(discovery: &'d Discovery, clients: &[Client]) -> Vec<&'d Path> {
    let mut files = Vec::new();
    for source in &discovery.sources {
        let SourceState::Read { problems, .. } = &source.state else {
            continue;
        };
        if source.scope == Scope::User && clients.contains(&source.client) {
            for problem in problems {
                output::warn(&problem.to_string());
            }
            let file = source.file.as_path();
            if !problems.is_empty() && !files.contains(&file) {
                files.push(file);
            }
        }
    }
    files
}
