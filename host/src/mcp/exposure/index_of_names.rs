//! Index of the servers and of the names of their tools, as it stands in descriptions and replies. It
//! names nothing that agents cannot call, or that is not for models.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dormouse_policy::exposure::ShownMode;
use dormouse_text::visible::short_name;
use serde_json::{Map, Value};

use super::{hint_at, text_argument};
use crate::roster::{ShownTool, Snapshot};

/// Most bytes of an index in a description, for clients that are not known to cut it.
const MAX_BYTES: usize = 24 << 10;

/// Most bytes of a reply.
const MAX_REPLY_BYTES: usize = 32 << 10;

/// Returns the tools that models can call and `is_meant` holds for, by their servers.
fn by_server(
    snapshot: &Snapshot,
    is_meant: impl Fn(&ShownTool) -> bool,
) -> BTreeMap<&str, Vec<&ShownTool>> {
    let mut servers: BTreeMap<&str, Vec<&ShownTool>> = BTreeMap::new();
    for tool in snapshot.tools_for_models().filter(|tool| is_meant(tool)) {
        servers.entry(tool.server()).or_default().push(tool);
    }
    servers
}

/// Returns a sentence on the servers whose tools are not listed, in at most so many bytes.
pub(super) fn servers(snapshot: &Snapshot, mode: ShownMode, most: Option<usize>) -> String {
    let most = most.unwrap_or(MAX_BYTES);
    let servers = by_server(snapshot, |tool| !snapshot.is_listed(tool, mode));
    let counted = |with_numbers: bool| {
        let names = servers.iter().map(|(name, tools)| match with_numbers {
            true => format!("{name} ({})", tools.len()),
            false => (*name).to_owned(),
        });
        let names: Vec<_> = names.collect();
        format!("Servers: {}.", names.join(", "))
    };
    let texts = [counted(true), counted(false)];
    let fitting = texts.into_iter().find(|text| text.len() <= most);
    fitting.unwrap_or_else(|| format!("There are {} servers.", servers.len()))
}

/// Returns the names of the tools that are not listed, by their servers, in at most so many bytes:
/// where they take more, the names of the servers alone.
pub(super) fn names(snapshot: &Snapshot, mode: ShownMode, most: Option<usize>) -> String {
    let mut text = "Servers and their tools:".to_owned();
    for (server, tools) in by_server(snapshot, |tool| !snapshot.is_listed(tool, mode)) {
        text.push('\n');
        text.push_str(&line(server, &tools));
    }
    match text.len() <= most.unwrap_or(MAX_BYTES) {
        true => text,
        false => {
            let servers = servers(snapshot, mode, most);
            format!("{servers} `list_servers` lists their tools.")
        }
    }
}

/// Returns the name by which a tool is loaded: as agents see it, without its server's in front. It is
/// the whole name where that begins with anything else.
pub(super) fn own_name(tool: &ShownTool) -> &str {
    let own = tool.name.strip_prefix(tool.server());
    let own = own.and_then(|own| own.strip_prefix(dormouse_config::name::SEPARATOR));
    own.unwrap_or(&tool.name)
}

/// Returns the name of a server and those of its tools.
fn line(server: &str, tools: &[&ShownTool]) -> String {
    let names: Vec<_> = tools.iter().map(|tool| own_name(tool)).collect();
    if names.iter().zip(tools).all(|(own, tool)| *own != tool.name) {
        return format!("{server}: {}", names.join(", "));
    }
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    format!("{server} (whole names): {}", names.join(", "))
}

/// Answers a call of `list_servers`.
///
/// # Errors
/// The arguments are none of it, or no such server has tools.
pub(super) fn list_servers(
    arguments: &Map<String, Value>,
    snapshot: &Snapshot,
) -> Result<String, String> {
    let wanted = text_argument(arguments, "server")?;
    if let Some(server) = wanted {
        known_server(server, snapshot)?;
    }
    let is_meant = |tool: &ShownTool| wanted.is_none_or(|wanted| tool.server() == wanted);
    let servers = by_server(snapshot, is_meant);
    let mut text = String::new();
    let mut left_out = Vec::new();
    for (server, tools) in servers {
        let line = line(server, &tools);
        match text.len() + line.len() < MAX_REPLY_BYTES || wanted.is_some() {
            true => text.extend([line.as_str(), "\n"]),
            false => left_out.push(format!("{server} ({})", tools.len())),
        }
    }
    if !left_out.is_empty() {
        let left_out = left_out.join(", ");
        let _ = writeln!(text, "And, if named as `server`: {left_out}");
    }
    if text.is_empty() {
        return Ok("There are no tools.".to_owned());
    }
    text.push_str("\nTheir whole names are `SERVER__TOOL`, where nothing else is said.");
    Ok(text)
}

/// Checks that a server has tools that models can call.
pub(super) fn known_server(server: &str, snapshot: &Snapshot) -> Result<(), String> {
    let names: std::collections::BTreeSet<_> =
        snapshot.tools_for_models().map(ShownTool::server).collect();
    if names.contains(server) {
        return Ok(());
    }
    let near = dormouse_text::nearest::nearest(server, names.iter().copied());
    let hint = hint_at(near, || {
        let names: Vec<_> = names.into_iter().take(100).collect();
        format!("there are `{}`", names.join("`, `"))
    });
    let server = short_name(server);
    Err(format!("no server is called `{server}`\nhint: {hint}"))
}
