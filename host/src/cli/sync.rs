//! `dormouse sync`

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use dormouse_launch::Launch;
use futures::{StreamExt as _, stream};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::Semaphore;

use super::output::{AlignedTable, BAD, DOUBTFUL, FAINT, GOOD, PLAIN, STRONG};
use super::progress::ProgressLine;
use super::{Format, cost, hosts, output, status, tools};
use crate::roster::{Places, Roster, Synced};

/// Most servers that are connected at a time.
const AT_ONCE: usize = 32;

/// Fewest programs that are started at a time.
const MIN_PROGRAMS: usize = 2;

/// Most programs that are started at a time.
const MAX_PROGRAMS: usize = 16;

/// Time without a finished server after which a line says how many are done, where no progress bar
/// is shown.
const SILENCE: Duration = Duration::from_secs(10);

/// Connects servers, fetches what they offer, and disconnects them again.
#[derive(Debug, Args)]
#[command(
    after_help = "From then on their tools are in the list of every session, and they are started \
    when one of these is called. Servers that are plugins need no syncing."
)]
pub(super) struct SyncArgs {
    /// Only these servers; all that have an upstream where none is named.
    servers: Vec<String>,
    #[command(flatten)]
    format: Format,
}

/// Outcome for one server: its name, the numbers of its offers or the error, and the time that it
/// took, in seconds.
pub(super) type SyncOutcome = (String, Result<Synced, String>, f64);

impl SyncArgs {
    /// Makes the command for some servers; for all of them, where none is named.
    pub(super) fn of(servers: &[String]) -> Self {
        Self {
            servers: servers.to_vec(),
            format: Format { json: false },
        }
    }

    pub(super) fn run(self, places: &Places) -> anyhow::Result<ExitCode> {
        let (outcomes, not_shown) = sync(places, &self.servers)?;
        if self.format.json {
            let rows = outcomes.iter().map(|(server, outcome, seconds)| {
                let synced = outcome.as_ref().ok();
                json!({
                    "server": server,
                    "seconds": seconds,
                    "tools": synced.map(|synced| synced.tools),
                    "prompts": synced.map(|synced| synced.prompts),
                    "resources": synced.map(|synced| synced.resources),
                    "changed": synced.map(|synced| synced.changed),
                    "error": outcome.as_ref().err(),
                })
            });
            output::print_json(&rows.collect::<Vec<_>>())?;
        } else {
            output::print(&(told(&outcomes) + &not_shown))?;
        }
        let failed = outcomes.iter().any(|(_, outcome, _)| outcome.is_err());
        Ok(if failed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}

/// Syncs servers, all of them where none is named, and notifies running hosts. Also returns a text
/// for a person on offers that are not shown, with the reasons.
pub(super) fn sync(
    places: &Places,
    servers: &[String],
) -> anyhow::Result<(Vec<SyncOutcome>, String)> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("the threads for the connections could not be started")?;
    let outcomes = runtime.block_on(async {
        let roster = Roster::open(places.clone())?;
        let servers = if servers.is_empty() {
            roster.bridged()
        } else {
            for server in servers {
                tools::known(&roster.snapshot(), server)?;
            }
            servers.to_vec()
        };
        let outcomes = connect_all(&roster, servers).await;
        let status = roster.status();
        let synced = status.servers.iter().filter(|server| {
            let mut outcomes = outcomes.iter();
            outcomes.any(|(name, outcome, _)| *name == server.name && outcome.is_ok())
        });
        let not_shown: String = synced.map(status::not_shown).collect();
        let done = outcomes.iter().filter(|(_, outcome, _)| outcome.is_ok());
        let names: Vec<&str> = done
            .map(|(name, ..)| name.as_str())
            .filter(|name| roster.is_known_here_alone(name))
            .collect();
        tell_known_here_alone(&names);
        roster.close().await;
        cost::count_tokens(&roster);
        anyhow::Ok((outcomes, not_shown))
    })?;
    hosts::reload(&places.config)?;
    Ok(outcomes)
}

/// Prints the servers that are known in this folder alone, and how to change that.
fn tell_known_here_alone(servers: &[&str]) {
    let (what, it) = match servers {
        [] => return,
        [one] => (format!("`{one}` offers"), "it is"),
        [first, others @ ..] => (
            format!("`{first}` and {} more offer", others.len()),
            "they are",
        ),
    };
    output::say(&format!(
        "what {what} is known in this folder alone, which may decide what {it}\n\
         hint: `dormouse sync` in your home folder has it known in all"
    ));
}

/// Returns the most programs that may start at a time: most begin with much work, and a program
/// that has no processor for it runs into its time limit.
fn programs_at_once() -> usize {
    let processors = dormouse_policy::processors();
    processors.clamp(MIN_PROGRAMS, MAX_PROGRAMS)
}

/// Connects several servers at a time, and shows the progress: one that hangs does not delay the
/// others.
pub(super) async fn connect_all(roster: &Arc<Roster>, servers: Vec<String>) -> Vec<SyncOutcome> {
    let total = servers.len();
    let is_moving = io::stderr().is_terminal();
    let progress = is_moving.then(|| ProgressLine::new("connecting"));
    let programs = Semaphore::new(programs_at_once());
    let running: Mutex<BTreeSet<String>> = Mutex::default();
    let waits_for = || {
        let running = running.lock();
        let names: Vec<_> = running.iter().map(String::as_str).collect();
        format!("waiting for {}", names.join(", "))
    };
    let mut synced = stream::iter(servers)
        .map(|server| {
            let (programs, running) = (&programs, &running);
            async move {
                let turn = match is_program(roster, &server) {
                    true => programs.acquire().await.ok(),
                    false => None,
                };
                let known = || running.lock();
                known().insert(server.clone());
                let begun = Instant::now();
                let outcome = roster.sync(&server).await;
                known().remove(&server);
                drop(turn);
                (server, outcome, begun.elapsed().as_secs_f64())
            }
        })
        .buffer_unordered(AT_ONCE);
    let mut outcomes: Vec<SyncOutcome> = Vec::new();
    let mut tick = tokio::time::interval(match is_moving {
        true => Duration::from_millis(200),
        false => SILENCE,
    });
    tick.reset();
    loop {
        let done = outcomes.len();
        if let Some(progress) = &progress {
            #[allow(
                clippy::cast_precision_loss,
                reason = "there are not that many servers"
            )]
            progress.at(done as f64, Some(total as f64), Some(&waits_for()));
        }
        let outcome = tokio::select! {
            outcome = synced.next() => outcome,
            _ = tick.tick() => {
                if !is_moving {
                    output::say(&format!("{done} of {total} done, {}", waits_for()));
                }
                continue;
            }
        };
        let Some(outcome) = outcome else {
            break;
        };
        if !is_moving {
            let (server, result, seconds) = &outcome;
            let state = match result {
                Ok(synced) => output::counted(synced.tools as u64, "tool"),
                Err(_) => "failed".to_owned(),
            };
            output::say(&format!(
                "[{}/{total}] {server}: {state}, {seconds:.1} s",
                done + 1
            ));
            tick.reset();
        }
        outcomes.push(outcome);
    }
    outcomes.sort_by(|(one, ..), (other, ..)| one.cmp(other));
    outcomes
}

/// Checks whether a program is started for a server.
fn is_program(roster: &Roster, server: &str) -> bool {
    let snapshot = roster.snapshot();
    let server = snapshot.servers().get(server);
    let bridge = server.and_then(|server| server.config().bridge());
    bridge.is_some_and(|bridge| matches!(bridge.launch, Launch::Stdio(_)))
}

fn told(outcomes: &[SyncOutcome]) -> String {
    if outcomes.is_empty() {
        return "no servers that could be connected\n".to_owned();
    }
    let mut table = AlignedTable::new(&["NAME", "STATE", "TOOLS", "PROMPTS", "RESOURCES", "TOOK"]);
    let mut notes = String::new();
    for (server, outcome, seconds) in outcomes {
        let (state, counts) = match outcome {
            Ok(synced) if synced.changed > 0 => {
                let changed = output::counted(synced.changed as u64, "item");
                notes.push_str(&format!(
                    "{}: {changed} changed or new since you approved what it offers\n  \
                     hint: `dormouse diff {server}` shows how, and `dormouse approve {server}` allows it\n",
                    output::styled(DOUBTFUL, server)
                ));
                ((DOUBTFUL, "changed"), Some(synced))
            }
            Ok(synced) => ((GOOD, "known"), Some(synced)),
            Err(error) => {
                let error = output::clean(error).replace('\n', "\n  ");
                notes.push_str(&format!("{}: {error}\n", output::styled(BAD, server)));
                ((BAD, "failed"), None)
            }
        };
        let count =
            |of: fn(&Synced) -> usize| counts.map(|c| of(c).to_string()).unwrap_or_default();
        table.row([
            (STRONG, server.clone()),
            (state.0, state.1.to_owned()),
            (PLAIN, count(|synced| synced.tools)),
            (PLAIN, count(|synced| synced.prompts)),
            (PLAIN, count(|synced| synced.resources)),
            (FAINT, format!("{seconds:.1} s")),
        ]);
    }
    table.render() + &notes
}
