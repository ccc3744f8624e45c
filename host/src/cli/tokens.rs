//! `dormouse tokens`

use std::process::ExitCode;

use clap::Args;
use clap::builder::styling::Style;
use dormouse_config::Client;
use dormouse_text::visible::visible_line;
use dormouse_tokens::TOKENIZER;
use serde_json::{Value, json};

use super::output::{AlignedTable, FAINT, PLAIN, STRONG};
use super::tools::known;
use super::{Format, output};
use crate::mcp::{self, CostsForClient};
use crate::roster::status::TokenCosts;
use crate::roster::{Places, Roster, ShownTool};

/// Shows what the tools of your servers cost a model, in tokens.
#[derive(Debug, Args)]
#[command(
    after_help = "MAPPED is what a model reads of all tools of a server: names, descriptions and input \
    schemas. RAW is all that the server says of them. LISTED is what of MAPPED is in an agent's list \
    now: that depends on `[exposure]`, and with `mode = \"auto\"` on the client.\n\n\
    Examples:\n  \
    dormouse tokens                        each server, for clients without a session\n  \
    dormouse tokens --client claude-code   as that client is shown them\n  \
    dormouse tokens github                 each tool of `github`\n\n\
    No server is started for this. Models count in different ways; the tokenizer is named."
)]
pub(super) struct TokensArgs {
    /// Only these servers, each tool of them by itself.
    servers: Vec<String>,
    /// Each tool by itself.
    #[arg(long)]
    tools: bool,
    /// As this client is shown them: by its name here, or as it calls itself in `initialize`.
    #[arg(long, value_name = "NAME", value_parser = ClientArg::parse)]
    client: Option<ClientArg>,
    #[command(flatten)]
    format: Format,
}

/// Client that is named on the command line.
#[derive(Debug, Clone)]
struct ClientArg {
    /// The client, where it is one whose files are read.
    ours: Option<Client>,
    /// Name that it gives itself in its handshake.
    announced: String,
}

impl ClientArg {
    fn parse(name: &str) -> Result<Self, String> {
        Ok(Self {
            announced: mcp::announced_name(name)?,
            ours: name.parse().ok(),
        })
    }
}

/// A line: a server or a tool, the number of its tools, and its costs.
type TokensRow = (String, usize, TokenCosts);

impl TokensArgs {
    pub(super) fn run(self, mut places: Places) -> anyhow::Result<ExitCode> {
        places.client = self.client.as_ref().and_then(|client| client.ours);
        let client = self.client.as_ref();
        let client = client.map(|client| client.announced.as_str());
        let roster = Roster::open(places)?;
        roster.save();
        let snapshot = roster.snapshot();
        for server in &self.servers {
            known(&snapshot, server)?;
        }
        let texts = CostsForClient::texts(&snapshot, client);
        let counts = roster.count_tokens(texts).unwrap_or_else(|error| {
            output::warn(&format!("the numbers are estimates: {error:#}"));
            roster.token_counts()
        });
        // How tools are shown is decided by what has just been counted.
        let snapshot = roster.snapshot_anew();
        let costs = CostsForClient::of(&snapshot, client, &counts);
        let is_wanted = |name: &str| {
            self.servers.is_empty() || self.servers.iter().any(|server| server == name)
        };
        let servers: Vec<TokensRow> = costs
            .by_server(&snapshot)
            .into_iter()
            .filter(|(name, _)| is_wanted(name))
            .map(|(name, costs)| {
                let tools = snapshot.tools().iter();
                let tools = tools.filter(|tool| tool.server() == name).count();
                (name.to_owned(), tools, costs)
            })
            .collect();
        let tools: Vec<(&ShownTool, TokenCosts)> = snapshot
            .tools()
            .iter()
            .zip(costs.tools.iter().copied())
            .filter(|(tool, _)| is_wanted(tool.server()))
            .collect();
        let mut total = TokenCosts::default();
        for (_, _, costs) in &servers {
            total.add(*costs);
        }
        let has_tools = self.tools || !self.servers.is_empty();
        if self.format.json {
            let tools = has_tools.then(|| tools.iter().map(of_tool).collect::<Vec<_>>());
            output::print_json(&json!({
                "tokenizer": TOKENIZER,
                "client": client,
                "mode": costs.decision.mode.word(),
                "why": costs.decision.reason.to_string(),
                "own": costs.own.tokens,
                "own_is_estimate": costs.own.is_estimate,
                "servers": servers.iter().map(of_server).collect::<Vec<_>>(),
                "tools": tools,
                "total": total,
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut table = AlignedTable::new(&["NAME", "TOOLS", "MAPPED", "RAW", "LISTED"]);
        for (name, count, costs) in servers {
            table.row(cells(STRONG, &name, Some(count), costs));
            let tools = tools
                .iter()
                .filter(|(tool, _)| has_tools && tool.server() == name);
            for (tool, costs) in tools {
                table.row(cells(PLAIN, &format!("  {}", tool.name), None, *costs));
            }
        }
        table.row(cells(STRONG, "all", Some(tools.len()), total));
        output::print(&table.render())?;
        let who = match client {
            Some(name) => format!("`{}`", visible_line(name)),
            None => "a client without a session".to_owned(),
        };
        let (mode, why) = (costs.decision.mode.word(), costs.decision.reason);
        output::say(&format!(
            "tokens of {TOKENIZER}; {who} is shown tools in mode `{mode}`: {why}"
        ));
        if costs.own.tokens > 0 {
            output::say(&format!(
                "and tools of Dormouse's own, which find and call the others: {} tokens",
                costs.own
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn cells(
    style: Style,
    name: &str,
    tools: Option<usize>,
    costs: TokenCosts,
) -> Vec<(Style, String)> {
    let roughly = if costs.is_estimate { "~" } else { "" };
    let mut cells = vec![
        (style, name.to_owned()),
        (
            FAINT,
            tools.map(|tools| tools.to_string()).unwrap_or_default(),
        ),
    ];
    let counts = [costs.mapped, costs.raw, costs.listed];
    cells.extend(counts.map(|count| (PLAIN, format!("{roughly}{count}"))));
    cells
}

fn of_server((name, tools, costs): &TokensRow) -> Value {
    json!({ "name": name, "tools": tools, "tokens": costs })
}

fn of_tool((tool, costs): &(&ShownTool, TokenCosts)) -> Value {
    json!({ "name": tool.name, "server": tool.server(), "tokens": costs })
}
