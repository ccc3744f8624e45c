//! `dormouse list`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::output::{FAINT, STRONG, Table};
use super::{Format, describe, output, status};
use crate::roster::{Places, Roster};

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
        let listing = |name: &str| {
            snapshot
                .servers()
                .get(name)?
                .entry()
                .map(|entry| &entry.listing)
        };
        if self.format.json {
            let rows = servers.iter().map(|server| {
                let listing = listing(&server.name);
                json!({
                    "name": server.name,
                    "enabled": snapshot.servers().get(&server.name).is_some_and(|s| s.config().enabled),
                    "state": server.state,
                    "component": server.component,
                    "tools": server.tools,
                    "title": listing.and_then(|listing| listing.title.as_ref()),
                    "version": listing.and_then(|listing| listing.version.as_ref()),
                    "description": listing.and_then(|listing| listing.description.as_ref()),
                    "error": server.error,
                    "origin": server.origin,
                })
            });
            output::print_json(&rows.collect::<Vec<_>>())?;
            return Ok(ExitCode::SUCCESS);
        }
        if servers.is_empty() {
            output::say("no servers yet; `dormouse add NAME FILE` adds one");
            return Ok(ExitCode::SUCCESS);
        }
        let mut table = Table::new(&["NAME", "STATE", "TOOLS", "PLUGIN", "FILE"]);
        for server in &servers {
            let plugin = listing(&server.name).map(|listing| {
                describe::headline(
                    listing.title.as_ref().or(listing.name.as_ref()),
                    listing.version.as_ref(),
                    listing.description.as_ref(),
                )
            });
            table.row([
                (STRONG, server.name.clone()),
                status::state(server.state),
                (output::PLAIN, server.tools.to_string()),
                (
                    output::PLAIN,
                    output::first_line(&plugin.unwrap_or_default(), 50),
                ),
                (FAINT, server.component.display().to_string()),
            ]);
        }
        output::print(&table.render())?;
        Ok(ExitCode::SUCCESS)
    }
}
