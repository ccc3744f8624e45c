//! Answers of `load_tools`.

use std::fmt::Write as _;

use dormouse_protocol::{Era, ListKind};
use dormouse_text::visible::line_beginning;
use serde_json::{Map, Value};

use super::index_of_names::{known_server, own_name};
use super::meta_tools::MAX_LOADED_AT_ONCE;
use super::{MAX_REPEATED_CHARS, hint_at, names_argument, text_argument};
use crate::mcp::client::client_connection::Notification;
use crate::mcp::messages::request_context::RequestContext;
use crate::mcp::server::Host;
use crate::roster::{ShownTool, Snapshot, names};

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
        for name in wanted {
            let mut tools = of_server.iter().copied();
            let is_called = |tool: &&ShownTool| {
                [tool.name.as_str(), own_name(tool), tool.tool()].contains(&name)
            };
            match tools.find(is_called) {
                Some(tool) => found.push(tool),
                None => {
                    let near = names::nearest(name, of_server.iter().map(|tool| own_name(tool)));
                    let hint = hint_at(near, || "`list_servers` lists its tools".to_owned());
                    let name = line_beginning(name, MAX_REPEATED_CHARS);
                    // Writing to a string cannot fail.
                    let _ = writeln!(text, "server `{server}` has no tool `{name}`; {hint}");
                }
            }
        }
        if found.is_empty() {
            return Err(text);
        }
        let has_session = context.era() == Era::Handshake && self.session.is_some();
        let names = found.iter().map(|tool| tool.name.as_str());
        let is_changed = has_session && {
            let mode = self.exposure(context.era(), snapshot).mode;
            let room = self.room_for_loaded(snapshot, mode);
            self.loaded.add(names, room)
        };
        if is_changed {
            // A client that is gone needs no list.
            let _ = context
                .connection
                .notify(Notification::list_changed(ListKind::Tools))
                .await;
        }
        for tool in found {
            text.push_str(&tool.as_found());
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
