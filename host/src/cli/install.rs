//! `dormouse install`, and the parts that `dormouse import` has in common with it.

mod client_program;
mod each;
mod over_http;

use std::io::{self, IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _};
use dormouse_config::discovery::{Discovery, FillPolicy, Surroundings, discover};
use dormouse_config::edit::EditLock;
use dormouse_config::install::diff::Kind;
use dormouse_config::install::{ClientReach, FileChange, InstallPlan as Planned, backup, diff};
use dormouse_config::{Client, Config, Configured, Scope, install as files};
use dormouse_policy::Limits;
use dormouse_text::visible::visible_path;

use super::import::warn_of_left_out;
use super::output::{self, BAD, FAINT, GOOD, PLAIN, STRONG};
use super::stdin;
use super::sync::SyncArgs;
use crate::roster::Places;
use crate::store::Trust;
pub(super) use client_program::{not_passed, program, variables};
use each::servers_of_each;
use over_http::{address, over_http};

/// Adds Dormouse to the servers that one of your clients loads.
#[derive(Debug, Args)]
#[command(
    after_help = "It is added as `dormouse serve --client CLIENT`: servers that the client loads \
    itself are not shown to it a second time. To have it load Dormouse instead of them: \
    `dormouse import CLIENT --replace`. `dormouse uninstall CLIENT` takes it out again.\n\n\
    With `--http` the client shares a host that you run: `dormouse serve --http ADDR:PORT`. Its \
    entry has the host's token, so the file is made readable by you alone. Such a host shows the \
    same to all clients, also what one of them loads itself: `dormouse import CLIENT --replace` \
    first takes that out of the client's file.\n\n\
    With `--each` the client has an entry for each server, under the server's name, in place of one \
    for all: for clients with rules, switches and names by server. Each is a process of its own. \
    Servers that you add later get theirs when you run this again; those that are gone or off lose \
    theirs. What you have written yourself stays as it is, and so does a switch in an entry.\n\n\
    `dormouse import --undo` puts back what the last installation has changed."
)]
pub(super) struct InstallArgs {
    /// The client, like `cursor` or `claude-code`.
    client: Client,
    /// Have it share the host at ADDR:PORT, instead of starting its own.
    #[arg(long, value_name = "ADDR:PORT", value_parser = address)]
    http: Option<SocketAddr>,
    /// The file with that host's token, if it is neither the one that is made once for you nor
    /// in the environment variable `DORMOUSE_TOKEN`.
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// Give each server an entry of its own.
    #[arg(long, conflicts_with = "http")]
    each: bool,
    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Is not there: says where it is.
    #[arg(long, hide = true)]
    undo: bool,
    #[command(flatten)]
    then: Then,
}

/// Options of what is done at last.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Then {
    /// Connect the servers now, so that the first session has all of their tools.
    #[arg(long)]
    sync: bool,
    /// Connect nothing, and do not ask either.
    #[arg(long, conflicts_with = "sync")]
    no_sync: bool,
}

impl InstallArgs {
    pub(super) fn run(self, places: &Places, named: bool) -> anyhow::Result<ExitCode> {
        let client = self.client;
        if self.undo {
            let message = format!(
                "`install` has no `--undo`\nhint: `dormouse import --undo` puts back what the last \
                 import or installation has changed, `dormouse uninstall {client}` takes Dormouse out \
                 of {client}'s file"
            );
            let kind = ErrorKind::UnknownArgument;
            return Err(super::Cli::command().error(kind, message).into());
        }
        let around = users_surroundings(places)?;
        let reach = match self.http {
            None => {
                let config = dormouse_config::load(&places.config)?;
                let all: Vec<Client> = Client::all().collect();
                let discovery = discover_users(&around, &all, &config);
                warn_of_left_out(&discovery, &all);
                let variables = variables(&config, &discovery, &around);
                ClientReach::Program(program(places, named, variables)?)
            }
            Some(address) => over_http(places, address, self.token_file.as_deref(), self.dry_run)?,
        };
        let lock = (!self.dry_run).then(EditLock::take).transpose()?;
        let longest = longest_call(places, &around)?;
        let (change, entries, removed, warnings) = match (&reach, self.each) {
            (ClientReach::Program(program), true) => {
                let servers = servers_of_each(places, client, &around)?;
                let each = files::install_each(client, &around, program, &servers, longest)?;
                (each.change, each.entries, each.removed, each.left_out)
            }
            _ => {
                let options = client_program::options(places, named)?;
                let Planned {
                    change,
                    removed,
                    lost,
                } = files::install(client, &around, &reach, &options, longest)?;
                (change, Vec::new(), removed, lost.into_iter().collect())
            }
        };
        for sentence in &warnings {
            output::warn(&output::clean(sentence));
        }
        for sentence in &removed {
            output::say(&output::clean(sentence));
        }
        let what = match self.each {
            true if entries.is_empty() => "no server by an entry of Dormouse's".to_owned(),
            true => format!(
                "`{}` from Dormouse, each by its own entry",
                entries.join("`, `")
            ),
            false => "Dormouse".to_owned(),
        };
        let shown = visible_path(&change.file);
        if !change.is_any() {
            output::say(&format!("{client} loads {what} already, from {shown}"));
            return Ok(ExitCode::SUCCESS);
        }
        let changes = [change];
        let Some(lock) = lock else {
            return show(&changes);
        };
        let mut words = vec![client.to_string()];
        words.extend(self.each.then(|| "--each".to_owned()));
        make(places, &command_line("install", &words), &changes, &lock)?;
        drop(lock);
        output::say(&format!("{client} loads {what} from its next start on"));
        if let Some(address) = self.http {
            say_what_is_shown_twice(places, client, &around)?;
            output::say(&format!(
                "hint: it finds the host while `dormouse serve --http {address}` runs; start that \
                 before the client, best as a service of yours: the client sends the token to \
                 whoever has the port"
            ));
        }
        self.then.offer_sync(places, &[])
    }
}

/// Returns the surroundings of the user's own servers: of what is looked at, nothing is a file in
/// the folder of the project that this process works in.
///
/// # Errors
/// The surroundings of this process are not known.
pub(super) fn users_surroundings(places: &Places) -> anyhow::Result<Surroundings> {
    let around = places.around.as_ref();
    let around = around.context("it is not known where your clients' files are")?;
    Ok(around.of_users_servers())
}

/// Returns the time that the longest call of any of the user's servers may take.
pub(super) fn longest_call(places: &Places, around: &Surroundings) -> anyhow::Result<Duration> {
    let config = dormouse_config::load(&places.config)?;
    let all = Configured::new(config, Some(around), &Trust::new(&places.data));
    let timeouts = all.servers.values().map(|server| server.limits.timeout);
    Ok(timeouts.fold(Limits::of_upstream().timeout, Duration::max))
}

/// Prints the servers that a client loads itself and is shown by a shared host as well.
fn say_what_is_shown_twice(
    places: &Places,
    client: Client,
    around: &Surroundings,
) -> anyhow::Result<()> {
    let config = dormouse_config::load(&places.config)?;
    let discovery = discover_users(around, &[client], &config);
    let found = discovery.found.iter();
    let found =
        found.filter(|found| found.server.enabled && found.server.origin.scope == Scope::User);
    let names: Vec<_> = found
        .map(|found| format!("`{}`", found.server.name))
        .collect();
    if !names.is_empty() {
        output::warn(&format!(
            "{client} loads {} itself, and is shown what they have a second time by the host\n\
             hint: `dormouse import {client} --replace`, and then this again",
            output::clean(&names.join(", "))
        ));
    }
    Ok(())
}

impl Then {
    /// Checks whether servers are to be connected without a question.
    pub(super) fn is_wanted(self) -> bool {
        self.sync
    }

    /// Connects servers, or asks whether to, or prints how to. All of them, where none is named.
    pub(super) fn offer_sync(self, places: &Places, names: &[String]) -> anyhow::Result<ExitCode> {
        let whose = match names.len() {
            0 => "all servers".to_owned(),
            count => output::counted(count as u64, "server"),
        };
        let wanted = if self.sync {
            true
        } else if self.no_sync {
            false
        } else if io::stdin().is_terminal() && io::stderr().is_terminal() {
            asked(&format!("fetch the tools of {whose} now? [Y/n] "))?
        } else {
            let words = names.join(" ");
            output::say(&format!(
                "hint: `{}` fetches the tools of {whose}, so that the first session has them",
                format!("dormouse sync {words}").trim_end()
            ));
            false
        };
        if wanted {
            let synced = SyncArgs::of(names).run(places)?;
            // What was asked for by name is a part of what is to be done; else all is done.
            return Ok(if self.sync { synced } else { ExitCode::SUCCESS });
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Asks a question that is answered with yes by default.
fn asked(question: &str) -> anyhow::Result<bool> {
    stdin::forget_typed_ahead();
    let mut stderr = io::stderr();
    stderr.write_all(question.as_bytes())?;
    stderr.flush()?;
    let mut answer = String::new();
    // At the end of the input nobody has said yes.
    if io::stdin().read_line(&mut answer)? == 0 {
        return Ok(false);
    }
    Ok(matches!(
        answer.trim().to_ascii_lowercase().as_str(),
        "" | "y" | "yes"
    ))
}

/// Searches the files of clients for the user's own servers: nothing of a project's is filled in.
pub(super) fn discover_users(
    around: &Surroundings,
    clients: &[Client],
    config: &Config,
) -> Discovery {
    discover(
        around,
        clients,
        &FillPolicy {
            inputs: &config.discovery.inputs,
            may_fill: &|_, _| false,
            may_follow: &|_| false,
            max_bytes: config.discovery.filled_in,
        },
    )
}

/// Shows the new contents of files.
pub(super) fn show(changes: &[FileChange]) -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    for line in changes.iter().flat_map(diff::lines) {
        let style = match line.kind {
            Kind::Heading if line.text.starts_with("@@") => FAINT,
            Kind::Heading => STRONG,
            Kind::Added => GOOD,
            Kind::Removed => BAD,
            Kind::Kept => PLAIN,
        };
        text.push_str(&output::styled(style, output::clean(&line.text)));
        text.push('\n');
    }
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Changes files under the lock of all edits, after a backup of each of them.
pub(super) fn make(
    places: &Places,
    command: &str,
    changes: &[FileChange],
    lock: &EditLock,
) -> anyhow::Result<()> {
    let all: Vec<_> = changes.iter().collect();
    let kept = backup::keep(&backup::folder(&places.data), command, &all)?;
    for (done, change) in changes.iter().enumerate() {
        change.make_under(lock).with_context(|| match done {
            0 => "nothing has been changed".to_owned(),
            _ => "some files have been changed, and others not\nhint: `dormouse import --undo` puts them back".to_owned(),
        })?;
        output::say(&format!("changed {}", visible_path(&change.file)));
    }
    output::say(&format!(
        "what they were is in {}; `dormouse import --undo` puts it back",
        visible_path(&kept)
    ));
    Ok(())
}

/// Returns a command as a user would write it.
pub(super) fn command_line(name: &str, words: &[String]) -> String {
    let words = std::iter::once(name).chain(words.iter().map(String::as_str));
    format!("dormouse {}", words.collect::<Vec<_>>().join(" "))
}
