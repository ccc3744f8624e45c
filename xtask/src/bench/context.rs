//! Tokens that an agent's context has of real servers' tools: all of them in its list, or by tools of
//! Dormouse's own. What counts is what a model reads: names, descriptions and input schemas of a
//! list, arguments and texts of calls.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use dormouse_tests::captured_tools::{self, CapturedServer};
use dormouse_tests::{Client, Home, client};
use dormouse_tokens::{TOKENIZER, Tokenizer};
use serde_json::{Map, Value, json};

use super::report::Report;

/// Steps of the scripted session: words by which the tool is searched, the server, its tool, the
/// arguments.
const STEPS: [(&str, &str, &str, &str); 5] = [
    (
        "open an issue in a repository",
        "github",
        "issue_write",
        r#"{"method": "create", "owner": "octo", "repo": "burrow", "title": "It sleeps"}"#,
    ),
    (
        "post a message to a Slack channel",
        "slack-legacy",
        "slack_post_message",
        r#"{"channel_id": "C0123456789", "text": "The issue is there."}"#,
    ),
    (
        "convert a time between time zones",
        "time",
        "convert_time",
        r#"{"source_timezone": "Europe/Paris", "time": "16:30", "target_timezone": "Asia/Tokyo"}"#,
    ),
    (
        "open a web page in the browser",
        "playwright",
        "browser_navigate",
        r#"{"url": "https://example.com"}"#,
    ),
    (
        "run a SQL query in Postgres",
        "postgres",
        "query",
        r#"{"sql": "select count(*) from burrows"}"#,
    ),
];

/// Name by which a client shakes hands that lists again, and is otherwise unknown.
const LISTS_AGAIN: &str = "Cline";

/// Tools of all servers in a home, with the tokenizer.
struct Context {
    home: Home,
    tokenizer: Tokenizer,
}

/// Measures over the captures in a folder, or over those of the project.
pub(super) fn measure(report: &mut Report, folder: Option<&Path>) -> Result<()> {
    let folder = folder.map_or_else(captured_tools::folder, Path::to_owned);
    let servers = captured_tools::read(&folder)?;
    let context = Context {
        home: Home::new()?,
        tokenizer: Tokenizer::load()?,
    };
    // How tools are shown is said on the command line; where that is `auto`, nothing is within the budget.
    std::fs::write(context.home.config(), "[exposure]\nbudget = 1\n\n")?;
    captured_tools::add(&context.home, &servers)?;
    let tools: usize = servers.iter().map(|server| server.tools.len()).sum();
    println!(
        "\nContext: {} servers, {tools} tools, in tokens of {TOKENIZER}",
        servers.len()
    );

    let (direct, _) = context.start(&["--expose", "direct"], LISTS_AGAIN)?;
    report.value("session start, direct", direct, "tokens");
    for (mode, most) in [("index", 0.08), ("search", 0.03)] {
        let (start, client) = context.start(&["--expose", mode], LISTS_AGAIN)?;
        report.value(&format!("session start, {mode}"), start, "tokens");
        let share = start / direct;
        report.target(&format!("session start, {mode} ÷ direct"), share, most, "");
        let used = start + context.session(client, mode)?;
        report.value(&format!("session of 5 tools, {mode}"), used, "tokens");
        let share = used / direct;
        report.target(
            &format!("session of 5 tools, {mode} ÷ direct"),
            share,
            0.1,
            "",
        );
    }
    context.single_servers(report, &servers)
}

impl Context {
    fn count(&self, text: &str) -> f64 {
        self.tokenizer.count(text) as f64
    }

    /// Returns the tokens of what a model reads of a list.
    fn listed(&self, tools: &[Value]) -> f64 {
        let mapped = |tool: &Value| {
            let members = ["name", "description", "inputSchema"].into_iter();
            let members =
                members.filter_map(|name| Some((name.to_owned(), tool.get(name)?.clone())));
            self.count(&Value::Object(members.collect::<Map<_, _>>()).to_string())
        };
        tools.iter().map(mapped).sum()
    }

    /// Starts a session as that client, and returns the tokens of its instructions and its list.
    fn start(&self, options: &[&str], name: &str) -> Result<(f64, Client)> {
        let words = [&["serve"], options].concat();
        let mut client = Client::start_as(&mut self.home.command(&words), name)?;
        let said = client.hello.get("instructions").and_then(Value::as_str);
        let said = self.count(said.unwrap_or_default());
        Ok((said + self.listed(&client.tools()?), client))
    }

    /// Uses the tools of all steps, each found first, and returns the tokens of all that is said and
    /// of what joins the list.
    fn session(&self, mut client: Client, mode: &str) -> Result<f64> {
        let mut used = 0.0;
        for (words, server, tool, arguments) in STEPS {
            let name = format!("{server}__{tool}");
            let arguments: Value = serde_json::from_str(arguments)?;
            let found = if mode == "search" {
                self.call(
                    &mut client,
                    &mut used,
                    "search_tools",
                    json!({ "query": words }),
                )?
            } else {
                let before = self.listed(&client.tools()?);
                let named = json!({ "server": server, "names": [tool] });
                let found = self.call(&mut client, &mut used, "load_tools", named)?;
                used += self.listed(&client.tools()?) - before;
                found
            };
            let line = found
                .lines()
                .find(|line| line.starts_with(&format!("{name}(")));
            let line = line.with_context(|| format!("`{name}` is not in the reply: {found}"))?;
            let by = line
                .rsplit_once('[')
                .and_then(|(_, by)| by.strip_suffix(']'));
            let by = by.with_context(|| format!("nothing says how to call it: {line}"))?;
            if mode == "index" {
                self.call(&mut client, &mut used, &name, arguments)?;
                continue;
            }
            if line.contains('…') {
                let names = json!({ "names": [name] });
                self.call(&mut client, &mut used, "describe_tool", names)?;
            }
            let inner = json!({ "name": name, "arguments": arguments });
            self.call(&mut client, &mut used, by, inner)?;
        }
        Ok(used)
    }

    /// Calls a tool, adds the tokens of its name, its arguments and its result, and returns the text.
    fn call(
        &self,
        client: &mut Client,
        used: &mut f64,
        tool: &str,
        arguments: Value,
    ) -> Result<String> {
        *used += self.count(tool) + self.count(&arguments.to_string());
        let result = client.call(tool, arguments)?;
        ensure!(
            result.get("isError") != Some(&Value::Bool(true)),
            "`{tool}` failed: {result}"
        );
        let text = client::text(&result).unwrap_or_default().to_owned();
        *used += self.count(&text);
        Ok(text)
    }

    /// Compares what `auto` lists of each server alone with listing all of its tools.
    fn single_servers(&self, report: &mut Report, servers: &[CapturedServer]) -> Result<()> {
        for (kind, client) in [("lists again", LISTS_AGAIN), ("is unknown", "nobody")] {
            let (mut worst, mut deferred) = (0.0_f64, 0.0);
            for server in servers {
                let one = ["--server", &server.name, "--expose"];
                let tokens = |mode| {
                    let (_, mut client) = self.start(&[&one[..], &[mode]].concat(), client)?;
                    Ok::<_, anyhow::Error>(self.listed(&client.tools()?))
                };
                let (auto, direct) = (tokens("auto")?, tokens("direct")?);
                if auto > direct {
                    println!("  {}: {auto} tokens, and {direct} in the list", server.name);
                }
                worst = worst.max(auto / direct);
                deferred += f64::from(u8::from(auto < direct));
            }
            let name = format!("one server, auto ÷ direct, most; client {kind}");
            report.target(&name, worst, 1.0, "");
            let name = format!("servers of which deferring is cheaper; client {kind}");
            report.value(&name, deferred, "");
        }
        Ok(())
    }
}
