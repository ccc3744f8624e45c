//! `dormouse list`

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::Args;
use dormouse_config::{Filter, ServerConfig};
use dormouse_text::visible::visible_path;
use serde_json::json;

use super::cost::Cost;
use super::output::{AlignedTable, BAD, DOUBTFUL, FAINT, PLAIN, STRONG};
use super::{Format, output, status};
use crate::roster::{Places, Roster, ServerState, ServerStatus};

/// Function that returns the number of items of one kind that a server has.
type ItemCount<'a> = &'a dyn Fn(&str) -> usize;

/// Lists the configured servers.
#[derive(Debug, Args)]
#[command(
    after_help = "COST is what their tools cost an agent that reads them all: bytes of JSON, and tokens \
    of what a model reads of them (MAPPED of `dormouse tokens`); `~` marks an estimate, which \
    `dormouse tokens` counts. For what servers are doing in running hosts: `dormouse status`."
)]
pub(super) struct ListArgs {
    #[command(flatten)]
    format: Format,
}

impl ListArgs {
    pub(super) fn run(self, places: Places) -> anyhow::Result<ExitCode> {
        let roster = Roster::open(places.clone())?;
        roster.save();
        let snapshot = roster.snapshot();
        let status = roster.status();
        let servers = status.servers;
        let listing = |name: &str| snapshot.servers().get(name)?.listing();
        let counts = roster.token_counts();
        let cost = |name: &str| Cost::of(&snapshot, &counts, |server| server == name);
        let clients = |name: &str| {
            let server = snapshot.servers().get(name).map(|server| server.config());
            server.map(clients).unwrap_or_default()
        };
        if self.format.json {
            let hidden_tools = snapshot.hidden_tools();
            let hidden = |name: &str| -> usize {
                let of_server = hidden_tools.iter().filter(|hidden| hidden.server == name);
                of_server.map(|hidden| hidden.number).sum()
            };
            let rows = servers.iter().map(|server| {
                let listing = listing(&server.name);
                let cost = cost(&server.name);
                json!({
                    "name": server.name,
                    "enabled": snapshot.servers().get(&server.name).is_some_and(|s| s.config().enabled),
                    "state": server.state,
                    "component": server.component,
                    "upstream": server.upstream,
                    "tools": server.tools,
                    "bytes": cost.bytes,
                    "tokens": cost.tokens.tokens,
                    "is_estimate": cost.tokens.is_estimate,
                    "hidden": hidden(&server.name),
                    "from": clients(&server.name),
                    "prompts": listing.map_or(0, |listing| listing.prompts.len()),
                    "resources": listing.map_or(0, |listing| listing.resources.len()),
                    "templates": listing.map_or(0, |listing| listing.templates.len()),
                    "title": listing.and_then(|listing| listing.title.as_ref()),
                    "version": listing.and_then(|listing| listing.version.as_ref()),
                    "description": listing.and_then(|listing| listing.description.as_ref()),
                    "waiting": server.waiting,
                    "gone": server.gone,
                    "not_shown": server.not_shown,
                    "error": server.error,
                    "origin": server.origin,
                })
            });
            output::print_json(&rows.collect::<Vec<_>>())?;
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(project) = snapshot.untrusted() {
            output::warn(&project.to_string());
        }
        if servers.is_empty() && !status.problems.is_empty() {
            output::say(&format!(
                "no servers are there, and something is wrong in {}: `dormouse doctor` says what",
                visible_path(&places.config)
            ));
            return Ok(ExitCode::FAILURE);
        }
        if servers.is_empty() {
            output::say(
                "no servers yet; `dormouse add NAME FILE`, `dormouse add NAME URL` or `dormouse add \
                 NAME -- COMMAND` adds one\nhint: those in the files of your clients are found there; \
                 `dormouse doctor` lists the files",
            );
            return Ok(ExitCode::SUCCESS);
        }
        // Few plugins have any, so the columns are there only where one does.
        let prompts = |name: &str| listing(name).map_or(0, |listing| listing.prompts.len());
        let resources = |name: &str| {
            listing(name).map_or(0, |listing| {
                listing.resources.len() + listing.templates.len()
            })
        };
        let columns: [(_, ItemCount<'_>); 2] = [("PROMPTS", &prompts), ("RESOURCES", &resources)];
        let columns: Vec<_> = columns
            .into_iter()
            .filter(|(_, count)| servers.iter().any(|server| count(&server.name) > 0))
            .collect();
        let mut headings = vec!["NAME", "STATE", "TOOLS"];
        headings.extend(columns.iter().map(|(heading, _)| heading));
        headings.extend(["COST", "FROM", "RUNS"]);
        let mut table = AlignedTable::new(&headings);
        for server in &servers {
            let mut row = vec![
                (STRONG, server.name.clone()),
                status::state(server.state),
                status::tools(server),
            ];
            let columns = columns.iter();
            row.extend(columns.map(|(_, count)| (PLAIN, count(&server.name).to_string())));
            row.extend([
                (PLAIN, cost(&server.name).to_string()),
                (PLAIN, clients(&server.name).join(", ")),
                (FAINT, server.runs()),
            ]);
            table.row(row);
        }
        output::print(&(table.render() + &told(&roster, &servers)))?;
        output::say(&format!(
            "all tools together: {}, for an agent that reads them all",
            Cost::of(&snapshot, &counts, |_| true)
        ));
        // Whoever misses a server wants to hear who took it.
        for server in snapshot.servers().values() {
            if let Some(why) = &server.config().denied {
                output::say(&format!(
                    "`{}`: a policy denies it: {why}",
                    server.config().name
                ));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the clients in whose files a server is; `dormouse.toml` where it is in none.
fn clients(server: &ServerConfig) -> Vec<String> {
    let clients = server.origin.client.iter().chain(&server.from);
    let mut names: Vec<_> = clients.map(ToString::to_string).collect();
    if server.origin.client.is_none() {
        names.insert(0, "dormouse.toml".to_owned());
    }
    let mut told = BTreeSet::new();
    names.retain(|name| told.insert(name.clone()));
    names
}

/// Returns the first line of a text, and its last ones where it has many: a program's last words may be a
/// page long, and what it ends with says most.
fn shortened(text: &str) -> String {
    const LAST: usize = 4;
    let lines: Vec<&str> = text.lines().collect();
    match (lines.first(), lines.len().checked_sub(LAST + 1)) {
        (Some(first), Some(left_out @ 2..)) => {
            let last = lines.get(lines.len() - LAST..).unwrap_or_default();
            format!(
                "{first}\n… ({left_out} lines; `dormouse doctor` shows them)\n{}",
                last.join("\n")
            )
        }
        _ => text.to_owned(),
    }
}

/// Returns the text on the servers below the table, a line for each remark.
fn told(roster: &Roster, servers: &[ServerStatus]) -> String {
    const FEW: usize = 3;
    let snapshot = roster.snapshot();
    let mut text = String::new();
    let mut line = |style, about: &str, what: &str| {
        let what = output::clean(what).replace('\n', "\n  ");
        text.push_str(&format!("{}: {what}\n", output::styled(style, about)));
    };
    for problem in roster.problems_of_files().iter().take(FEW) {
        line(BAD, "a client's file", &problem.to_string());
    }
    for server in servers {
        let is_wrong = matches!(
            server.state,
            ServerState::NeedsConfig | ServerState::NeedsAuth | ServerState::Failed
        );
        if let Some(error) = server.error.as_deref().filter(|_| is_wrong) {
            line(BAD, &server.name, &shortened(error));
        }
    }
    let unknown = servers
        .iter()
        .filter(|server| server.state == ServerState::Configured);
    let unknown: Vec<_> = unknown.map(|server| server.name.as_str()).collect();
    if !unknown.is_empty() {
        let what = match unknown.as_slice() {
            [one] => format!("what it has is not known yet\nhint: `dormouse sync {one}` finds out"),
            _ => "what they have is not known yet\nhint: `dormouse sync` finds out".to_owned(),
        };
        line(DOUBTFUL, &unknown.join(", "), &what);
    }
    let collisions = snapshot.collisions();
    for collision in collisions.iter().take(FEW) {
        line(BAD, "names", &collision.to_string());
    }
    if let Some(more @ 1..) = collisions.len().checked_sub(FEW) {
        line(
            BAD,
            "names",
            &format!("and {more} more; `dormouse doctor` tells all"),
        );
    }
    // Whoever wonders why a server is off hears which file says so.
    let is_off = |name: &str| {
        let mut servers = servers.iter();
        servers.any(|server| server.name == name && server.state == ServerState::Disabled)
    };
    for (name, note) in roster.notes() {
        if is_off(&name) {
            line(STRONG, &name, &note);
        }
    }
    for (other, taken) in roster.merged() {
        let what = format!("it is reached in the same way as `{taken}`, and is that one");
        line(STRONG, &other, &what);
    }
    // Of those that are off, this is one of the notes.
    for (name, told) in roster.names_of_two() {
        if !is_off(&name) {
            line(DOUBTFUL, &name, &told);
        }
    }
    for (name, server) in snapshot.servers() {
        let Some(bridge) = server.config().bridge() else {
            continue;
        };
        let all = server.known().map_or(0, |known| known.listing.tools.len());
        let shown = server.listed().map_or(all, |listing| listing.tools.len());
        if let Some(hidden @ 1..) = all.checked_sub(shown)
            && bridge.filter != Filter::default()
            && server.config().component().is_none()
        {
            line(
                STRONG,
                name,
                &format!("{hidden} of its {all} tools are not shown, as its filters say"),
            );
        }
        // Of one that is off, no client has anything.
        let rules = server.config().enabled.then(|| bridge.rules.told());
        for told in rules.unwrap_or_default() {
            line(STRONG, name, &told);
        }
    }
    for hidden in snapshot.hidden_tools() {
        line(STRONG, &hidden.server, &hidden.to_string());
    }
    for server in servers {
        text.push_str(&status::waiting(server));
        text.push_str(&status::not_shown(server));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_errors_are_told_by_their_begin_and_their_end() {
        let lines = |count: usize| {
            let lines: Vec<String> = (0..count).map(|line| line.to_string()).collect();
            lines.join("\n")
        };
        for count in [0, 1, 6] {
            assert_eq!(shortened(&lines(count)), lines(count));
        }
        let told = "0\n… (2 lines; `dormouse doctor` shows them)\n3\n4\n5\n6";
        assert_eq!(shortened(&lines(7)), told);
    }
}
