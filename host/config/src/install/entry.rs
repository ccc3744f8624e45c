//! Dormouse's own entry in each client's file.

use std::time::Duration;

use dormouse_launch::Secret;
use serde_json::{Map, Value as Json, json};

use super::Program;
use crate::Client;
use crate::discovery::call_timeout_entry;

/// The name of Dormouse's entry.
pub const NAME: &str = "dormouse";

/// Longest time for the start of a server beside a call of it, where the first call starts it.
const START: Duration = Duration::from_secs(60);

/// Description of Dormouse's entry, in files that have one.
const DESCRIPTION: &str = "All your MCP servers, asleep until first use";

/// Options with which Dormouse serves one server alone, in place of which the client starts it.
pub(super) const SERVER: &str = "--server";
const OWN_NAMES: &str = "--own-names";

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
    let words = ["serve", "--client", client.name()].into_iter();
    // The client has the server's name before the names of tools already.
    let one = server.map(|name| [SERVER, name, OWN_NAMES]);
    let words = words.chain(one.into_iter().flatten()).map(str::to_owned);
    let args: Vec<String> = options.iter().cloned().chain(words).collect();
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

/// Keys of an entry that say how a server is reached.
const REACHED_BY: [&str; 16] = [
    "args",
    "cmd",
    "command",
    "cwd",
    "env",
    VARIABLES,
    "environment",
    "envs",
    "headers",
    "httpUrl",
    "http_headers",
    "requestOptions",
    "serverUrl",
    "type",
    "uri",
    "url",
];

/// Keys that belong to a program, whatever else is in its entry.
const PROGRAM: [&str; 2] = ["cmd", "command"];

/// Key of the tools that a client takes of a server.
const TOOLS: &str = "tools";

/// Keys that switch an entry off, each with the value that does.
const SWITCHES: [(&str, bool); 2] = [("disabled", true), ("enabled", false)];

/// Merges a new entry into one that is there already: what the user has added to it (a timeout,
/// tools that need no confirmation) stays, but for a switch with which nothing of it would be
/// loaded.
#[must_use]
pub fn over(old: Option<&Json>, new: Json) -> Json {
    let (Some(Json::Object(old)), Json::Object(new)) = (old, &new) else {
        return new;
    };
    let is_program = |entry: &Map<String, Json>| PROGRAM.iter().any(|key| entry.contains_key(*key));
    let mut merged: Map<String, Json> = old.clone();
    // Of a program's variables a URL has no use, and the other way around.
    if is_program(old) != is_program(new) {
        merged.retain(|key, _| !REACHED_BY.contains(&key.as_str()));
    }
    for (key, off) in SWITCHES {
        if merged.get(key) == Some(&Json::Bool(off)) {
            merged.shift_remove(key);
        }
    }
    merged.extend(new.clone());
    // All tools are a beginning, of which its user may have chosen some.
    let tools = old.get(TOOLS);
    let is_none = |tools: &Json| tools.as_array().is_some_and(Vec::is_empty);
    if let Some(tools) = tools.filter(|tools| !is_none(tools)) {
        merged.insert(TOOLS.to_owned(), tools.clone());
    }
    // Variables that its user has it pass, it goes on passing.
    let passed = |entry: &Map<String, Json>| entry.get(VARIABLES).and_then(Json::as_array).cloned();
    if let (Some(mut all), Some(own)) = (passed(new), passed(old)) {
        let more = own.into_iter().filter(|name| !all.contains(name));
        let more: Vec<_> = more.collect();
        all.extend(more);
        merged.insert(VARIABLES.to_owned(), all.into());
    }
    Json::Object(merged)
}

/// Returns the text that a file needs before any server in it counts; empty for most clients.
#[must_use]
pub fn preamble(client: Client) -> &'static str {
    match client {
        Client::Continue => "name: Local Assistant\nversion: 1.0.0\nschema: v1\n",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_is_put_in_is_loaded_and_keeps_what_its_user_has_added() {
        let program = Program {
            command: "dormouse".to_owned(),
            options: Vec::new(),
            variables: Vec::new(),
        };
        for (client, old, loaded) in [
            (Client::Cursor, json!({ "disabled": true }), None),
            (Client::Codex, json!({ "enabled": false }), None),
            (
                Client::OpenCode,
                json!({ "enabled": false }),
                Some(("enabled", json!(true))),
            ),
            (
                Client::Cursor,
                json!({ "disabled": false }),
                Some(("disabled", json!(false))),
            ),
            (
                Client::Copilot,
                json!({ "tools": ["gh__read"] }),
                Some(("tools", json!(["gh__read"]))),
            ),
            (
                Client::Copilot,
                json!({ "tools": [] }),
                Some(("tools", json!(["*"]))),
            ),
        ] {
            let merged = over(Some(&old), of(client, &program, None));
            for key in ["disabled", "enabled", "tools"] {
                let expected = loaded.as_ref().filter(|(name, _)| *name == key);
                let expected = expected.map(|(_, value)| value);
                assert_eq!(merged.get(key), expected, "{client} {old}");
            }
        }
    }
}
