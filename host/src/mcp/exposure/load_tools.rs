//! Answers of `load_tools`.

use std::collections::HashSet;
use std::fmt::Write as _;

use dormouse_protocol::{Era, ListKind};
use dormouse_text::visible::line_beginning;
use dormouse_upstream::without_blocking;
use serde_json::{Map, Value};

use super::index_of_names::{known_server, own_name};
use super::meta_tools::MAX_LOADED_AT_ONCE;
use super::{MAX_REPEATED_CHARS, hint_at, names_argument, text_argument};
use crate::mcp::client::client_connection::Notification;
use crate::mcp::messages::request_context::RequestContext;
use crate::mcp::server::Host;
use crate::roster::{ShownTool, Snapshot, names};

/// Most unknown names for which similar ones are looked for among all of their server's.
const MAX_LIKENED: usize = 5;

/// Tools that are to be loaded, each once, and the text on them for the model.
struct ToolsToLoad<'s> {
    tools: Vec<&'s ShownTool>,
    text: String,
}

impl Host {
    /// Answers a call of `load_tools`: the tools join the list of this session alone, whose client is
    /// told so. Nothing is started for it.
    ///
    /// # Errors
    /// The arguments are none of it, or name no tool: a sentence for the model.
    pub(super) async fn load_tools(
        &self,
        arguments: &Map<String, Value>,
        snapshot: &Snapshot,
        context: &RequestContext<'_>,
    ) -> Result<String, String> {
        let has_session = context.era() == Era::Handshake && self.session.is_some();
        let (mut text, is_changed) = without_blocking(usize::MAX, || {
            let ToolsToLoad { tools, text } = tools_to_load(arguments, snapshot)?;
            let is_changed = has_session && {
                let mode = self.exposure(context.era(), snapshot).mode;
                let room = self.room_for_loaded(snapshot, mode);
                let names = tools.iter().map(|tool| tool.name.as_str());
                self.loaded.add(names, room)
            };
            Ok::<_, String>((text, is_changed))
        })?;
        if is_changed {
            // A client that is gone needs no list.
            let _ = context
                .connection
                .notify(Notification::list_changed(ListKind::Tools))
                .await;
        }
        text.push_str(match has_session {
            true => {
                "\nThey are in your list of tools now. Where they are not, each is called by the tool \
                 in brackets."
            }
            false => "\nEach is called by the tool in brackets.",
        });
        Ok(text)
    }
}

/// Returns the tools that a call of `load_tools` is for.
///
/// # Errors
/// The arguments are none of it, or name no tool: a sentence for the model.
fn tools_to_load<'s>(
    arguments: &Map<String, Value>,
    snapshot: &'s Snapshot,
) -> Result<ToolsToLoad<'s>, String> {
    let server = text_argument(arguments, "server")?;
    let server = server.ok_or("`load_tools` needs the name of a `server`")?;
    let wanted = names_argument(arguments, "names")?;
    known_server(server, snapshot)?;
    if wanted.len() > MAX_LOADED_AT_ONCE {
        return Err(format!(
            "`load_tools` loads {MAX_LOADED_AT_ONCE} tools at once, and `names` has {}",
            wanted.len()
        ));
    }
    let of_server: Vec<&ShownTool> = snapshot
        .tools_for_models()
        .filter(|tool| tool.server() == server)
        .collect();
    if wanted.is_empty() && of_server.len() > MAX_LOADED_AT_ONCE {
        return Err(format!(
            "server `{server}` has {} tools, which are too many to load at once\n\
             hint: name those that are needed in `names`; `list_servers` lists them",
            of_server.len()
        ));
    }
    let mut text = String::new();
    let mut found = match wanted.is_empty() {
        true => of_server.clone(),
        false => Vec::new(),
    };
    let mut unknown = 0;
    let mut told = HashSet::new();
    // A tool may be asked for by several names.
    let mut loaded = HashSet::new();
    for name in wanted.into_iter().filter(|name| told.insert(*name)) {
        let mut tools = of_server.iter().copied();
        let is_called =
            |tool: &&ShownTool| [tool.name.as_str(), own_name(tool), tool.tool()].contains(&name);
        match tools.find(is_called) {
            Some(tool) if loaded.insert(tool.name.as_str()) => found.push(tool),
            Some(_) => {}
            None => {
                unknown += 1;
                let names = of_server.iter().map(|tool| own_name(tool));
                let near = (unknown <= MAX_LIKENED).then(|| names::nearest(name, names));
                let hint = hint_at(near.flatten(), || {
                    "`list_servers` lists its tools".to_owned()
                });
                let name = line_beginning(name, MAX_REPEATED_CHARS);
                // Writing to a string cannot fail.
                let _ = writeln!(text, "server `{server}` has no tool `{name}`; {hint}");
            }
        }
    }
    if found.is_empty() {
        return Err(text);
    }
    for tool in &found {
        text.push_str(&tool.as_found());
    }
    Ok(ToolsToLoad { tools: found, text })
}
