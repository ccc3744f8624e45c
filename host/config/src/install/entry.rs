//! Dormouse's own entry in each client's file.

use std::time::Duration;

use dormouse_launch::Secret;
use serde_json::{Value as Json, json};

use super::Program;
use super::start_args::StartArgs;
use crate::Client;
use crate::discovery::call_timeout_entry;

/// The name of Dormouse's entry.
pub const NAME: &str = "dormouse";

/// Longest time for the start of a server beside a call of it, where the first call starts it.
const START: Duration = Duration::from_secs(60);

/// Description of Dormouse's entry, in files that have one.
const DESCRIPTION: &str = "All your MCP servers, asleep until first use";

/// Most characters of the name of a server that is an entry of its own. Clients put it before the
/// names of its tools, and most of them leave out tools whose names have more than 60 characters
/// then.
const MAX_NAME_CHARACTERS: usize = 40;

/// Returns the reason why no entry in a client's file can have that name, which a server has.
pub(super) fn why_no_name(client: Client, name: &str) -> Option<String> {
    // Its documentation of MCP: the name is its own, and such an entry is skipped.
    if client == Client::ClaudeCode && name == "workspace" {
        return Some(format!("{client} has that name for itself"));
    }
    (client != Client::ClaudeCode && name.len() > MAX_NAME_CHARACTERS).then(|| {
        format!(
            "its name has more than {MAX_NAME_CHARACTERS} characters, which {client} puts before the \
             names of its tools and counts with them"
        )
    })
}

/// Returns the entry with which a client starts Dormouse: for all servers, or for the one of that
/// name.
#[must_use]
pub fn of(client: Client, program: &Program, server: Option<&str>) -> Json {
    let Program {
        command,
        options,
        variables,
    } = program;
    let args = StartArgs {
        options,
        client: Some(client),
        server,
    };
    let args = args.words();
    let typed = |kind: &str| json!({ "type": kind, "command": command, "args": args });
    match client {
        Client::ClaudeCode | Client::VsCode | Client::Cursor | Client::Continue => typed("stdio"),
        Client::Copilot => {
            json!({ "type": "local", "command": command, "args": args, TOOLS: ["*"] })
        }
        Client::OpenCode => {
            let line: Vec<_> = std::iter::once(command.clone()).chain(args).collect();
            json!({ "type": "local", "command": line, "enabled": true })
        }
        Client::Goose => json!({
            "name": server.unwrap_or(NAME),
            "description": match server {
                Some(name) => format!("The MCP server {name}, asleep until first use"),
                None => DESCRIPTION.to_owned(),
            },
            "type": "stdio",
            "cmd": command,
            "args": args,
            "enabled": true,
        }),
        Client::Codex if !variables.is_empty() => {
            json!({ "command": command, "args": args, VARIABLES: variables })
        }
        Client::ClaudeDesktop
        | Client::Codex
        | Client::Gemini
        | Client::Zed
        | Client::Windsurf
        | Client::Amp
        | Client::Forge
        | Client::ChatMd => json!({ "command": command, "args": args }),
    }
}

/// Returns the entry with which a client reaches Dormouse over HTTP, with the token as a header.
/// None for clients that start programs only.
#[must_use]
pub fn over_http(client: Client, url: &str, token: &Secret) -> Option<Json> {
    let headers = json!({ "Authorization": format!("Bearer {}", token.expose()) });
    let typed = json!({ "type": "http", "url": url, "headers": headers });
    let plain = json!({ "url": url, "headers": headers });
    Some(match client {
        Client::ClaudeCode | Client::VsCode => typed,
        Client::Copilot => {
            json!({ "type": "http", "url": url, "headers": headers, TOOLS: ["*"] })
        }
        Client::Cursor | Client::Zed | Client::Amp | Client::Forge => plain,
        Client::OpenCode => {
            json!({ "type": "remote", "url": url, "headers": headers, "enabled": true })
        }
        Client::Codex => json!({ "url": url, "http_headers": headers }),
        Client::Gemini => json!({ "httpUrl": url, "headers": headers }),
        Client::Windsurf => json!({ "serverUrl": url, "headers": headers }),
        Client::Continue => json!({
            "type": "streamable-http",
            "url": url,
            "requestOptions": { "headers": headers },
        }),
        Client::Goose => json!({
            "name": NAME,
            "description": DESCRIPTION,
            "type": "streamable_http",
            "uri": url,
            "headers": headers,
            "enabled": true,
        }),
        Client::ClaudeDesktop | Client::ChatMd => return None,
    })
}

/// Makes a client that knows such a key wait as long for Dormouse's answer as the call of a server
/// may take. A longer time that its user has written stays, and with `is_kept` a shorter one, too.
pub fn wait(
    client: Client,
    entry: &mut Json,
    old: Option<&Json>,
    longest: Duration,
    is_kept: bool,
) {
    let Some((key, value)) = call_timeout_entry(client, longest.saturating_add(START)) else {
        return;
    };
    let written = old.and_then(|old| old.get(key)).and_then(Json::as_f64);
    #[allow(clippy::cast_precision_loss, reason = "no time is that long")]
    let stays = written.is_some_and(|written| is_kept || written >= value as f64);
    if let (false, Json::Object(entry)) = (stays, entry) {
        entry.insert(key.to_owned(), value.into());
    }
}

/// Key of the variables that a client passes to a server (Codex).
pub(super) const VARIABLES: &str = "env_vars";

/// Key of the tools that a client takes of a server.
pub(super) const TOOLS: &str = "tools";

/// Returns the text that a file needs before any server in it counts; empty for most clients.
#[must_use]
pub fn preamble(client: Client) -> &'static str {
    match client {
        Client::Continue => "name: Local Assistant\nversion: 1.0.0\nschema: v1\n",
        _ => "",
    }
}
