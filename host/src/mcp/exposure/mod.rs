//! Exposure: how the tools of all servers are shown to one agent, in its list or by tools of
//! Dormouse's own that find, load and call the others ("meta tools").

mod call_arguments;
mod called_tool;
mod costs_for_client;
mod index_of_names;
mod load_tools;
mod loaded_tools;
mod meta_tools;
mod search_tools;
mod token_counting;

use dormouse_policy::exposure::{ExposureDecision, ShownMode};
use dormouse_protocol::{Answer, Era};
use dormouse_upstream::without_blocking;
use serde_json::{Map, Value, json};

pub(in crate::mcp) use call_arguments::CallArguments;
pub(in crate::mcp) use called_tool::{unfit, unknown_access, with_schema, wrong_tool};
pub use costs_for_client::{CostsForClient, add_token_costs};
pub(in crate::mcp) use loaded_tools::LoadedTools;
pub(in crate::mcp) use meta_tools::MetaTool;
pub use token_counting::{count_deciding_texts, keep_counting};

use super::client::client_table;
use super::messages::request_context::RequestContext;
use super::server::Host;
use crate::roster::Snapshot;
use crate::roster::status::ShownTo;

/// Tools of Dormouse's own that may be listed beside meta tools: the one that asks for trust.
const OTHER_OWN_TOOLS: usize = 1;

/// Most characters that are noted of the name of a client.
const MAX_NAME_CHARS: usize = 128;

/// Most characters that are repeated of the name of a tool that there is not.
const MAX_REPEATED_CHARS: usize = 128;

impl Host {
    /// Decides how tools are shown to the agent of this host: by its client, where it has a session,
    /// and by costs alone where it has none, because all such agents are shown the same.
    pub(in crate::mcp) fn exposure(&self, era: Era, snapshot: &Snapshot) -> ExposureDecision {
        let name = match era {
            Era::Handshake => Some(self.client_name.lock().clone()),
            Era::Stateless => None,
        };
        let decision = decision(snapshot, name.as_deref());
        let session = self.session.filter(|_| name.is_some());
        let shown = ShownTo {
            client: name.map(|name| name.chars().take(MAX_NAME_CHARS).collect()),
            profile: self.profile.as_deref().map(str::to_owned),
            mode: decision.mode.word().to_owned(),
            why: decision.reason.to_string(),
        };
        self.common.roster.note_shown(session, shown);
        decision
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
            Era::Handshake => self.loaded.names(self.room_for_loaded(snapshot, mode)),
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

    /// Returns the number of loaded tools that the list of the agent's client has room for, beside those
    /// that are in it anyway: one that takes so many may lose any of a longer list, also those by which
    /// it calls all others.
    fn room_for_loaded(&self, snapshot: &Snapshot, mode: ShownMode) -> usize {
        let client = client_table::of(&self.client_name.lock());
        let Some(most) = client.traits().most_tools else {
            return usize::MAX;
        };
        let tools = snapshot.tools().iter();
        let listed = tools.filter(|tool| snapshot.is_listed(tool, mode)).count();
        let own = meta_tools::count(mode) + OTHER_OWN_TOOLS;
        (most as usize).saturating_sub(listed + own)
    }

    /// Answers a call of a meta tool that calls no other.
    pub(in crate::mcp) async fn answer_meta_tool(
        &self,
        tool: MetaTool,
        arguments: &Map<String, Value>,
        snapshot: &Snapshot,
        context: &RequestContext<'_>,
    ) -> Answer {
        // Each looks through the tools of all servers.
        let answer =
            |made: fn(&_, &_) -> _| without_blocking(usize::MAX, || made(arguments, snapshot));
        let answered = match tool {
            MetaTool::SearchTools => answer(search_tools::search),
            MetaTool::DescribeTool => answer(search_tools::describe),
            MetaTool::ListServers => answer(index_of_names::list_servers),
            MetaTool::LoadTools => self.load_tools(arguments, snapshot, context).await,
            MetaTool::CallTool(_) => Err("`name` is missing".to_owned()),
        };
        match answered {
            Ok(text) => json!({ "content": [{ "type": "text", "text": text }] }).into(),
            Err(why) => failed(why),
        }
    }
}

/// Decides how tools are shown to a session of the client of that name, or to whoever has no session.
pub(in crate::mcp) fn decision(snapshot: &Snapshot, client: Option<&str>) -> ExposureDecision {
    let client = client.map(client_table::of);
    let description_bytes = client.as_ref().and_then(|client| client.description_bytes);
    let own = |mode| meta_tools::mapped_texts(mode, snapshot, description_bytes);
    let traits = client.map(|client| client.traits());
    snapshot.exposure(traits, description_bytes, own)
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

/// Returns a hint at the name that was probably meant, or else another one.
fn hint_at(near: Option<&str>, or_else: impl FnOnce() -> String) -> String {
    near.map_or_else(or_else, |near| format!("did you mean `{near}`?"))
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
