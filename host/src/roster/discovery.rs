//! Discovery of a server by an agent: the answer of Dormouse's own tool that connects it.

use std::collections::HashMap;
use std::sync::Arc;

use dormouse_protocol::attribution;
use serde_json::{Value, json};

use super::error::tool_error;
use super::server::signatures;
use super::{CallContext, Roster, Server};

impl Roster {
    /// Connects a server's upstream if nothing is known of it, and returns a text on its tools: of one
    /// that is known, by what is known. What rules of exposure hide from an agent of that profile, or of
    /// none, it does not tell.
    pub(super) async fn discover(
        &self,
        server: &Arc<Server>,
        profile: Option<&str>,
        context: CallContext,
    ) -> Value {
        let name = &server.config().name;
        if server.is_unknown()
            && let Err(why) = server.connect(self, None, context).await
        {
            return tool_error(format!("server `{name}` could not be connected: {why}"));
        }
        if let Some(why) = self.not_kept(name) {
            return tool_error(why);
        }
        // As it is now: the server has been connected since, and a profile may have become another one.
        let view = self.view(profile);
        let Some(found) = view.servers().get(name) else {
            return tool_error(format!("server `{name}` is gone"));
        };
        // By the names under which agents see them: others' and Dormouse's own are no names of it.
        let tools = view.tools_for_models();
        let tools = tools.filter(|tool| tool.server() == name && !found.is_discover(tool.tool()));
        let names: HashMap<&str, &str> = tools.map(|tool| (tool.tool(), &*tool.name)).collect();
        let shown = |tool: &str| names.get(tool).map(|name| (*name).to_owned());
        let mut text = match found.listed() {
            Some(listing) => signatures(name, listing, shown),
            None => format!("server `{name}` is disabled"),
        };
        let mut instructions = view.instructions();
        if let Some((_, instructions)) = instructions.find(|(server, _)| *server == name.as_str()) {
            text.push_str("\n\nIts instructions:\n");
            text.push_str(&attribution::message(name, instructions));
        }
        json!({ "content": [{ "type": "text", "text": text }] })
    }
}
