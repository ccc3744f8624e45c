//! Answers of `search_tools` and `describe_tool`.

use std::fmt::Write as _;

use dormouse_policy::exposure::ShownMode;
use dormouse_text::visible::{line_beginning, visible_json};
use serde_json::{Map, Value};

use super::index_of_names::{known_server, servers};
use super::{MAX_REPEATED_CHARS, hint_at, names_argument, text_argument};
use crate::roster::{AFTER_FOUND_TOOLS, Snapshot, names};

/// Hits of a search that names no limit.
const USUAL_HITS: usize = 10;

/// Most hits of a search.
const MAX_HITS: usize = 25;

/// Most tools that are described at once.
const MAX_DESCRIBED: usize = 5;

/// Most bytes of descriptions in one reply.
const MAX_DESCRIBED_BYTES: usize = 256 << 10;

/// Stands for a declaration that is not told even by itself.
const TOO_LONG: &str = "(its declaration is longer than 256 KiB, and is not told)";

/// Answers a call of `search_tools`.
///
/// # Errors
/// The arguments are none of it: a sentence for the model.
pub(super) fn search(
    arguments: &Map<String, Value>,
    snapshot: &Snapshot,
) -> Result<String, String> {
    let server = text_argument(arguments, "server")?;
    // The tools of one server may be asked for without saying what is to be done.
    let query = match (text_argument(arguments, "query")?, server) {
        (Some(query), _) if !query.trim().is_empty() => query,
        (_, Some(_)) => "",
        (_, None) => {
            return Err(
                "`search_tools` needs a `query` that is not empty: what is to be done, or a name\n\
                 hint: give it `{\"query\": \"…\"}`, or the `server` whose tools are wanted"
                    .to_owned(),
            );
        }
    };
    let limit = match arguments.get("limit") {
        None | Some(Value::Null) => USUAL_HITS,
        Some(limit) => {
            let number = limit.as_u64().filter(|limit| *limit > 0);
            let number = number.ok_or_else(|| {
                format!("`limit` cannot be `{limit:.20}`\nhint: use a number from 1 to {MAX_HITS}")
            })?;
            usize::try_from(number).unwrap_or(MAX_HITS).min(MAX_HITS)
        }
    };
    if let Some(server) = server {
        known_server(server, snapshot)?;
    }
    let mut text = String::new();
    match server.filter(|_| query.is_empty()) {
        Some(server) => {
            let tools = snapshot.tools_for_models();
            let tools = tools.filter(|tool| tool.server() == server);
            tools
                .take(limit)
                .for_each(|tool| text.push_str(&tool.as_found()));
        }
        None => {
            let found = snapshot.search(query, server, limit);
            found.for_each(|(tool, _)| text.push_str(&tool.as_found()));
        }
    }
    if text.is_empty() {
        let about = servers(snapshot, ShownMode::Search, None);
        return Ok(format!(
            "No tool was found.\nhint: use other words for what is to be done. {about}"
        ));
    }
    text.push_str(AFTER_FOUND_TOOLS);
    Ok(text)
}

/// Answers a call of `describe_tool`.
///
/// # Errors
/// The arguments are none of it, or name no tool: a sentence for the model.
pub(super) fn describe(
    arguments: &Map<String, Value>,
    snapshot: &Snapshot,
) -> Result<String, String> {
    let wanted = names_argument(arguments, "names")?;
    if wanted.is_empty() || wanted.len() > MAX_DESCRIBED {
        return Err(format!(
            "`describe_tool` needs from 1 to {MAX_DESCRIBED} `names` of tools, and there are {}",
            wanted.len()
        ));
    }
    let is_alone = wanted.len() == 1;
    let mut text = String::new();
    let mut is_any_known = false;
    for name in wanted {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        let found = snapshot.find(name).filter(|tool| tool.is_for_models());
        let Some(tool) = found else {
            text.push_str(&unknown(name, snapshot));
            continue;
        };
        is_any_known = true;
        let call = tool.access().call_tool();
        let object = tool.declared().map_or("{}", |declared| declared.tool.get());
        let object = visible_json(object);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "`{}`, called by `{call}`:", tool.name);
        match text.len() + object.len() <= MAX_DESCRIBED_BYTES {
            true => text.push_str(&object),
            false if is_alone => text.push_str(TOO_LONG),
            false => text.push_str("(too long to be told with the others: ask for it alone)"),
        }
    }
    match is_any_known {
        true => Ok(text),
        false => Err(text),
    }
}

fn unknown(name: &str, snapshot: &Snapshot) -> String {
    let known = snapshot.tools_for_models();
    let near = names::nearest(name, known.map(|tool| tool.name.as_str()));
    let hint = hint_at(near, || {
        "`search_tools` finds tools by what they do".to_owned()
    });
    let name = line_beginning(name, MAX_REPEATED_CHARS);
    format!("Unknown tool: `{name}`\nhint: {hint}")
}
