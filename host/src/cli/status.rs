//! `dormouse status`

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::Args;
use clap::builder::styling::Style;
use dormouse_text::visible::{visible_line, visible_path};
use serde_json::Value;

use super::output::{AlignedTable, BAD, DOUBTFUL, FAINT, GOOD, PLAIN, STRONG};
use super::{Format, hosts, output};
use crate::control;
use crate::mcp;
use crate::roster::status::{ShownTo, span};
use crate::roster::{Places, Roster, ServerState, ServerStatus, Status, gone_told};

/// Shows the running hosts and what their servers are doing.
#[derive(Debug, Args)]
#[command(
    after_help = "A host is a `dormouse serve` that some agent has started. Without one, the \
    configuration alone is shown.\n\n\
    With --json: an array of hosts. `pid` is null where none is running; `engines` is 0 for as \
    long as a host has not run any plugin."
)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    format: Format,
}

impl StatusArgs {
    pub(super) fn run(self, places: Places) -> anyhow::Result<ExitCode> {
        let mut reports = Vec::new();
        let mut failed = false;
        for answer in hosts::block_on(control::ask_all("status", Value::Null))? {
            let report = answer
                .outcome
                .and_then(|value| Ok(serde_json::from_value::<Status>(value)?));
            match report {
                Ok(report) => reports.push(report),
                Err(error) => {
                    failed = true;
                    output::warn(&format!("the running host {}: {error}", answer.pid));
                }
            }
        }
        if reports.is_empty() && !failed {
            reports.push(configured(places)?);
        }
        if self.format.json {
            output::print_json(&reports)?;
        } else {
            let texts: Vec<_> = reports.iter().map(text).collect();
            output::print(&texts.join("\n"))?;
        }
        Ok(if failed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}

/// Returns the report on the servers that a host would serve if it started now.
fn configured(places: Places) -> anyhow::Result<Status> {
    let roster = Roster::open(places)?;
    roster.save();
    let mut status = roster.status();
    mcp::add_token_costs(&roster, &mut status);
    Ok(status.without_host())
}

fn text(report: &Status) -> String {
    let mut text = match report.pid {
        None if report.config.exists() => format!(
            "no host is running; configured in {} and your clients' files:\n",
            visible_path(&report.config)
        ),
        None => format!(
            "no host is running; configured in your clients' files (there is no {}):\n",
            visible_path(&report.config)
        ),
        Some(pid) => {
            let up = report
                .started
                .map(|started| format!(", up {}", since(started)));
            format!(
                "{} {}{}, {}, {}\n{}\n",
                output::styled(STRONG, format!("host {pid}")),
                report.version,
                up.unwrap_or_default(),
                output::counted(report.sessions, "session"),
                visible_path(&report.config),
                output::styled(
                    FAINT,
                    format!(
                        "{}, {} compiled, {} from the cache",
                        output::counted(report.engines, "engine"),
                        report.compiled,
                        report.cache_hits
                    )
                ),
            )
        }
    };
    for shown in &report.shown_to {
        text.push_str(&shown_to(shown));
    }
    let live = report.pid.is_some();
    let mut headings = vec!["NAME", "STATE", "TOOLS"];
    if live {
        headings.extend(["SINCE", "CALLS", "RUNNING", "INSTANCES"]);
    }
    let mut table = AlignedTable::new(&headings);
    for server in &report.servers {
        let mut cells = vec![
            (STRONG, server.name.clone()),
            state(server.state),
            tools(server),
        ];
        if live {
            cells.push((FAINT, server.since.map(since).unwrap_or_default()));
            let counts = [server.calls, server.running, server.instances];
            cells.extend(counts.map(|count| (PLAIN, count.to_string())));
        }
        table.row(cells);
    }
    text.push_str(&table.render());
    for problem in &report.problems {
        let problem = output::clean(problem).replace('\n', "\n  ");
        text.push_str(&format!(
            "{}: {problem}\n",
            output::styled(BAD, "configuration")
        ));
    }
    if let Some(project) = &report.untrusted {
        text.push_str(&format!("{project}\n").replace("\nhint", "\n  hint"));
    }
    for server in &report.servers {
        if let Some(error) = &server.error {
            let error = output::clean(error).replace('\n', "\n  ");
            text.push_str(&format!("{}: {error}\n", output::styled(BAD, &server.name)));
        }
        text.push_str(&waiting(server));
        text.push_str(&not_shown(server));
    }
    text
}

/// Returns a line on how tools are shown to a client.
pub(super) fn shown_to(shown: &ShownTo) -> String {
    let client = match &shown.client {
        Some(name) if name.is_empty() => "a client without a name".to_owned(),
        Some(name) => visible_line(name).into_owned(),
        None => "clients without a session".to_owned(),
    };
    let profile = shown.profile.as_ref();
    let profile = profile.map_or_else(String::new, |profile| {
        format!(" of profile `{}`", visible_line(profile))
    });
    format!("{client}{profile}: {}, {}\n", shown.mode, shown.why)
}

/// Returns the text on the pending items of a server, and on those that are gone.
pub(super) fn waiting(server: &ServerStatus) -> String {
    let waiting = server.waiting.as_ref().map(ToString::to_string);
    let gone = (!server.gone.is_empty()).then(|| gone_told(&server.name, &server.gone));
    let told = waiting.into_iter().chain(gone);
    let lines = told.map(|told| {
        let told = output::clean(&told).replace('\n', "\n  ");
        format!("{}: {told}\n", output::styled(DOUBTFUL, &server.name))
    });
    lines.collect()
}

/// Returns the text on the offered items that agents are not shown: the first few, for a careless
/// author makes one mistake in all of them.
pub(super) fn not_shown(server: &ServerStatus) -> String {
    const FEW: usize = 3;
    let name = output::styled(DOUBTFUL, &server.name);
    let mut text = String::new();
    for odd in server.not_shown.iter().take(FEW) {
        let odd = output::clean(odd).replace('\n', "\n  ");
        text.push_str(&format!("{name}: {odd}\n"));
    }
    let more = server.not_shown.len().saturating_sub(FEW);
    if more > 0 {
        text.push_str(&format!(
            "{name}: and {more} more; `dormouse doctor` tells all\n"
        ));
    }
    text
}

/// Returns a state in its colour.
pub(super) fn state(state: ServerState) -> (Style, String) {
    let style = match state {
        ServerState::Ready => GOOD,
        ServerState::Configured | ServerState::Known | ServerState::Idle => PLAIN,
        ServerState::Starting | ServerState::NeedsAuth | ServerState::Quarantined => DOUBTFUL,
        ServerState::NeedsConfig | ServerState::Failed => BAD,
        ServerState::Disabled => FAINT,
    };
    (style, state.in_words().to_owned())
}

/// Returns the number of a server's tools in words, as far as it is known, and its style.
pub(super) fn tools(server: &ServerStatus) -> (Style, String) {
    let style = if server.never_asked { FAINT } else { PLAIN };
    (style, server.tools_in_words())
}

/// Returns the time since a moment, in words; the moment is given in seconds since the Unix epoch.
fn since(moment: u64) -> String {
    let moment = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(moment));
    let passed = moment
        .and_then(|moment| moment.elapsed().ok())
        .unwrap_or_default();
    span(passed.as_secs())
}
