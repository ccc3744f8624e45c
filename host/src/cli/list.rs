//! `dormouse list`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::output::{FAINT, PLAIN, STRONG, Table};
use super::{Format, describe, output, status};
use crate::roster::{Places, Roster};

/// How many of something a server has.
type Count<'a> = &'a dyn Fn(&str) -> usize;

/// Lists the configured servers.
#[derive(Debug, Args)]
#[command(after_help = "For what they are doing in running hosts: `dormouse status`.")]
pub(super) struct List {
    #[command(flatten)]
    format: Format,
}

impl List {
    pub(super) fn run(self, places: Places) -> anyhow::Result<ExitCode> {
        let roster = Roster::open(places)?;
        roster.save();
        let snapshot = roster.snapshot();
        let servers = roster.status().servers;
        let listing = |name: &str| snapshot.servers().get(name)?.listing();
        if self.format.json {
            let rows = servers.iter().map(|server| {
                let listing = listing(&server.name);
                json!({
                    "name": server.name,
                    "enabled": snapshot.servers().get(&server.name).is_some_and(|s| s.config().enabled),
                    "state": server.state,
                    "component": server.component,
                    "upstream": server.upstream,
                    "tools": server.tools,
                    "prompts": listing.map_or(0, |listing| listing.prompts.len()),
                    "resources": listing.map_or(0, |listing| listing.resources.len()),
                    "templates": listing.map_or(0, |listing| listing.templates.len()),
                    "title": listing.and_then(|listing| listing.title.as_ref()),
                    "version": listing.and_then(|listing| listing.version.as_ref()),
                    "description": listing.and_then(|listing| listing.description.as_ref()),
                    "waiting": server.waiting,
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
        if servers.is_empty() {
            output::say("no servers yet; `dormouse add NAME FILE` adds one");
            return Ok(ExitCode::SUCCESS);
        }
        // Few plugins have any, so the columns are there only where one does.
        let prompts = |name: &str| listing(name).map_or(0, |listing| listing.prompts.len());
        let resources = |name: &str| {
            listing(name).map_or(0, |listing| {
                listing.resources.len() + listing.templates.len()
            })
        };
        let counts: [(_, Count<'_>); 2] = [("PROMPTS", &prompts), ("RESOURCES", &resources)];
        let counts: Vec<_> = counts
            .into_iter()
            .filter(|(_, count)| servers.iter().any(|server| count(&server.name) > 0))
            .collect();
        let mut headings = vec!["NAME", "STATE", "TOOLS"];
        headings.extend(counts.iter().map(|(heading, _)| heading));
        headings.extend(["PLUGIN", "FILE"]);
        let mut table = Table::new(&headings);
        for server in &servers {
            let plugin = listing(&server.name).map(|listing| {
                describe::headline(
                    listing.title.as_ref().or(listing.name.as_ref()),
                    listing.version.as_ref(),
                    listing.description.as_ref(),
                )
            });
            let mut row = vec![
                (STRONG, server.name.clone()),
                status::state(server.state),
                (PLAIN, server.tools.to_string()),
            ];
            let counts = counts.iter();
            row.extend(counts.map(|(_, count)| (PLAIN, count(&server.name).to_string())));
            row.extend([
                (PLAIN, output::first_line(&plugin.unwrap_or_default(), 50)),
                (FAINT, server.runs()),
            ]);
            table.row(row);
        }
        let notes = servers.iter();
        let mut notes: String = notes
            .map(|server| status::waiting(server) + &status::not_shown(server))
            .collect();
        for (name, server) in snapshot.servers() {
            let rules = server.config().bridge().map(|bridge| bridge.rules.told());
            for told in rules.unwrap_or_default() {
                notes.push_str(&format!(
                    "{}: {}\n",
                    output::styled(STRONG, name),
                    output::clean(&told)
                ));
            }
        }
        output::print(&(table.render() + &notes))?;
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
