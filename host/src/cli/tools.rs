//! `dormouse tools`

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use dormouse_config::{Client, name};
use serde_json::json;

use super::cost::Cost;
use super::output::{AlignedTable, PLAIN, STRONG};
use super::{Format, describe, output};
use crate::roster::{Places, Roster, Server, ShownTool, Snapshot};

/// Lists the tools that agents see.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dormouse tools          all of them, one a line\n  \
    dormouse tools time     those of `time`, with signatures and descriptions\n  \
    dormouse tools --json   as agents get them\n  \
    dormouse tools --client gemini   what that client is shown\n\n\
    No plugin is run for this: tools are declared in the plugins' files.")]
pub(super) struct ToolsArgs {
    /// Only those of these servers, in detail.
    servers: Vec<String>,
    /// What this client is shown: not what it loads itself, nor what its file forbids.
    #[arg(long, value_name = "CLIENT")]
    client: Option<Client>,
    #[command(flatten)]
    format: Format,
}

impl ToolsArgs {
    pub(super) fn run(self, mut places: Places) -> anyhow::Result<ExitCode> {
        places.client = self.client;
        let roster = Roster::open(places)?;
        roster.save();
        let snapshot = roster.snapshot();
        let servers = &self.servers;
        for server in servers {
            known(&snapshot, server)?;
        }
        let is_wanted = |name: &str| servers.is_empty() || servers.iter().any(|it| it == name);
        let tools: Vec<&ShownTool> = snapshot
            .tools()
            .iter()
            .filter(|tool| is_wanted(tool.server()))
            .collect();
        if self.format.json {
            let tools = tools.iter().filter_map(|tool| {
                Some(json!({
                    "name": tool.name,
                    "server": tool.server(),
                    "tool": tool.declared()?.tool,
                }))
            });
            output::print_json(&tools.collect::<Vec<_>>())?;
            return Ok(ExitCode::SUCCESS);
        }
        let described = tools.iter().filter_map(|tool| {
            let described = describe::ToolDescription::new(&tool.declared()?.tool, &tool.name);
            Some((tool, described))
        });
        if !servers.is_empty() {
            let long: Vec<_> = described.map(|(_, tool)| tool.long()).collect();
            output::print(&long.join("\n"))?;
            if !long.is_empty() {
                let cost = Cost::of(&snapshot, &roster.token_counts(), is_wanted);
                output::say(&format!("they cost an agent {cost}"));
            }
            say_hidden(&snapshot, is_wanted);
            return Ok(ExitCode::SUCCESS);
        }
        if tools.is_empty() && say_hidden(&snapshot, is_wanted) {
            output::say("agents see no tools\nhint: see `[exposure]` in dormouse.toml");
            return Ok(ExitCode::SUCCESS);
        }
        if tools.is_empty() {
            output::say(
                "agents see no tools yet\n\
                 hint: `dormouse doctor` shows which files were looked at and what was found in them",
            );
            return Ok(ExitCode::SUCCESS);
        }
        let mut table = AlignedTable::new(&["TOOL", "WHAT IT DOES"]);
        for (tool, described) in described {
            table.row([
                (STRONG, tool.name.clone()),
                (PLAIN, output::first_line(&described.description, 80)),
            ]);
        }
        output::print(&table.render())?;
        let cost = Cost::of(&snapshot, &roster.token_counts(), is_wanted);
        if cost.bytes > 0 {
            let tools = output::counted(tools.len() as u64, "tool");
            output::say(&format!(
                "{tools} of {cost}, for an agent that reads them all"
            ));
        }
        say_hidden(&snapshot, is_wanted);
        Ok(ExitCode::SUCCESS)
    }
}

/// Says which tools of these servers rules of exposure hide, and whether there are any.
pub(super) fn say_hidden(snapshot: &Snapshot, is_wanted: impl Fn(&str) -> bool) -> bool {
    let mut hidden = snapshot.hidden_tools();
    hidden.retain(|hidden| is_wanted(&hidden.server));
    for hidden in &hidden {
        output::say(&format!("`{}`: {hidden}", hidden.server));
    }
    !hidden.is_empty()
}

/// Returns the server of a name.
pub(super) fn exists<'s>(snapshot: &'s Snapshot, server: &str) -> anyhow::Result<&'s Arc<Server>> {
    snapshot.servers().get(server).ok_or_else(|| {
        let names = snapshot.servers().keys().map(String::as_str);
        let unknown = name::Unknown::new(server, names);
        match snapshot.untrusted() {
            Some(project) => anyhow::anyhow!("{unknown}\n{}", project.hint()),
            None => unknown.into(),
        }
    })
}

/// Checks that a server is configured, and warns if agents see nothing of it.
pub(super) fn known(snapshot: &Snapshot, server: &str) -> anyhow::Result<()> {
    if let Some(state) = exists(snapshot, server)?.switched_off() {
        output::warn(&format!("`{server}` is {state}"));
    }
    Ok(())
}
