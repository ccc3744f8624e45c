//! `dormouse search`

use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::Args;
use dormouse_config::Client;
use serde::Deserialize;
use serde_json::json;

use super::output::{AlignedTable, FAINT, PLAIN, STRONG};
use super::tools::{known, say_hidden};
use super::{Format, output};
use crate::roster::{Places, Roster, ShownTool};

/// Finds tools by what they do, or by their names.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dormouse search read a spreadsheet         the tools that fit, best first\n  \
    dormouse search get_curr                   those whose names begin so\n  \
    dormouse search --server time convert      of one server alone\n\n\
    Only tools that agents see are found. No plugin is run for this.")]
pub(super) struct SearchArgs {
    /// What is to be done, or a name or its beginning.
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Only tools of this server.
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Most tools.
    #[arg(long, value_name = "N", default_value = "10")]
    limit: NonZeroUsize,
    /// Only what this client is shown.
    #[arg(long, value_name = "CLIENT")]
    client: Option<Client>,
    #[command(flatten)]
    format: Format,
}

/// Texts of a tool's declaration that are shown.
#[derive(Default, Deserialize)]
struct Described {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
}

impl SearchArgs {
    pub(super) fn run(self, mut places: Places) -> anyhow::Result<ExitCode> {
        places.client = self.client;
        let roster = Roster::open(places)?;
        roster.save();
        let snapshot = roster.snapshot();
        if let Some(server) = &self.server {
            known(&snapshot, server)?;
        }
        let query = self.query.join(" ");
        let hits = snapshot.search(&query, self.server.as_deref(), self.limit.get());
        let rows = hits.map(|(tool, score)| {
            let object = tool.declared().map_or("{}", |declared| declared.tool.get());
            let said: Described = serde_json::from_str(object).unwrap_or_default();
            (
                tool,
                said.description.or(said.title).unwrap_or_default(),
                score,
            )
        });
        let rows: Vec<(&ShownTool, String, f32)> = rows.collect();
        if self.format.json {
            let rows = rows.iter().map(|(tool, description, score)| {
                json!({
                    "name": tool.name,
                    "server": tool.server(),
                    "description": description,
                    "score": score,
                })
            });
            output::print_json(&rows.collect::<Vec<_>>())?;
            return Ok(ExitCode::SUCCESS);
        }
        if rows.is_empty() {
            let server = self.server.as_deref();
            say_hidden(&snapshot, |name| server.is_none_or(|server| server == name));
            output::say(
                "no tool that agents see fits this\n\
                 hint: `dormouse tools` lists them all",
            );
            return Ok(ExitCode::SUCCESS);
        }
        let mut table = AlignedTable::new(&["TOOL", "SERVER", "WHAT IT DOES"]);
        for (tool, description, _) in rows {
            table.row([
                (STRONG, tool.name.clone()),
                (FAINT, tool.server().to_owned()),
                (PLAIN, output::first_line(&description, 80)),
            ]);
        }
        output::print(&table.render())?;
        Ok(ExitCode::SUCCESS)
    }
}
