//! Exposure: how the tools of all servers are shown to one agent, in its list or by tools of
//! Dormouse's own that find, load and call the others ("meta tools").

mod call_arguments;
mod called_tool;
mod compact_signature;
mod index_of_names;
mod load_tools;
mod loaded_tools;
mod meta_tools;
mod search_tools;

use dormouse_policy::exposure::{ExposureDecision, ShownMode};
use dormouse_protocol::{Answer, Era};
use serde_json::{Map, Value, json};

pub(in crate::mcp) use call_arguments::CallArguments;
pub(in crate::mcp) use called_tool::{unknown_access, with_schema, wrong_access};
pub(in crate::mcp) use loaded_tools::LoadedTools;
pub(in crate::mcp) use meta_tools::MetaTool;

use super::client::client_table;
use super::messages::request_context::RequestContext;
use super::server::Host;
use crate::roster::Snapshot;

impl Host {
    /// Decides how tools are shown to the agent of this host: by its client, where it has a session,
    /// and by costs alone where it has none, because all such agents are shown the same.
    pub(in crate::mcp) fn exposure(&self, era: Era, snapshot: &Snapshot) -> ExposureDecision {
        let client = (era == Era::Handshake).then(|| client_table::of(&self.client_name.lock()));
        snapshot.exposure(client.map(|client| client.traits()))
    }

    /// Appends the JSON array of the tools that are listed to an agent.
    pub(in crate::mcp) fn write_tools(
        &self,
        snapshot: &Snapshot,
        context: &RequestContext<'_>,
        text: &mut String,
    ) {
        let era = context.era();
        let mode = self.exposure(era, snapshot).mode;
        let loaded = match era {
            Era::Handshake => self.loaded.names(),
            Era::Stateless => Default::default(),
        };
        let lists = |tool: &_| snapshot.is_listed(tool, mode) || loaded.contains(&tool.name);
        snapshot.write_list(era, lists, text);
        if has_meta_tools(snapshot, mode) {
            let client = client_table::of(&self.client_name.lock());
            let description_bytes = match era {
                Era::Handshake => client.description_bytes,
                Era::Stateless => None,
            };
            meta_tools::append(mode, snapshot, description_bytes, text);
        }
    }

    /// Answers a call of a meta tool that calls no other.
    pub(in crate::mcp) async fn answer_meta_tool(
        &self,
        tool: MetaTool,
        arguments: &Map<String, Value>,
        snapshot: &Snapshot,
        context: &RequestContext<'_>,
    ) -> Answer {
        let answered = match tool {
            MetaTool::SearchTools => search_tools::search(arguments, snapshot),
            MetaTool::DescribeTool => search_tools::describe(arguments, snapshot),
            MetaTool::ListServers => index_of_names::list_servers(arguments, snapshot),
            MetaTool::LoadTools => self.load_tools(arguments, snapshot, context).await,
            MetaTool::CallTool(_) => Err("`name` is missing".to_owned()),
        };
        match answered {
            Ok(text) => json!({ "content": [{ "type": "text", "text": text }] }).into(),
            Err(why) => failed(why),
        }
    }
}

/// Whether an agent in that mode has meta tools in its list.
fn has_meta_tools(snapshot: &Snapshot, mode: ShownMode) -> bool {
    let mut tools = snapshot.tools().iter();
    mode != ShownMode::Direct || tools.any(|tool| !snapshot.is_listed(tool, mode))
}

/// Returns the result of a call that could not be made, for a model to read.
pub(in crate::mcp) fn failed(why: String) -> Answer {
    json!({ "content": [{ "type": "text", "text": why }], "isError": true }).into()
}

/// Returns an argument of a meta tool that is a text.
fn text_argument<'a>(
    arguments: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a str>, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("`{name}` has to be a string, not `{other:.60}`")),
    }
}

/// Returns an argument of a meta tool that is a list of names, or one name.
fn names_argument<'a>(
    arguments: &'a Map<String, Value>,
    name: &str,
) -> Result<Vec<&'a str>, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(one)) => Ok(vec![one]),
        Some(Value::Array(all)) => {
            let names = all.iter().map(Value::as_str);
            let names: Option<Vec<_>> = names.collect();
            names.ok_or_else(|| format!("`{name}` has to be a list of names"))
        }
        Some(_) => Err(format!("`{name}` has to be a list of names")),
    }
}
