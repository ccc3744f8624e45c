//! Tool by which an agent's user can be asked to trust the project that they are in. An agent is
//! shown nothing else of such a project, and each agent is shown the same.

use dormouse_protocol::Capability;
use serde_json::json;

use super::commands::push;
use crate::mcp::client::session_client::can;
use crate::mcp::messages::request_context::RequestContext;
use crate::roster::Snapshot;
use crate::roster::client_meta::{REQUIRES_USER_INTERACTION, SEARCH_HINT};

/// Name of the tool.
pub(in crate::mcp) const NAME: &str = "dormouse__trust_project";

/// Checks whether a client is shown the tool: there is something to trust, and its user can be
/// asked and may decide it.
pub(in crate::mcp) fn is_offered(context: &RequestContext<'_>, snapshot: &Snapshot) -> bool {
    snapshot.untrusted().is_some()
        && context.may_decide
        && can(&context.capabilities, Capability::ElicitationForm)
}

/// Appends the MCP `Tool` object to the text of a list.
pub(in crate::mcp) fn append(list: &mut String) {
    let tool = json!({
        "name": NAME,
        "title": "Trust this project",
        "description": "The files of the project that this session is in name MCP servers, and \
            its user has not said to trust them, so they are neither shown nor started. This \
            asks the user, who is shown what they would run.",
        "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
        "annotations": { "readOnlyHint": false, "destructiveHint": false, "openWorldHint": false },
        // Whoever else would answer for the user is not to call it.
        "_meta": { REQUIRES_USER_INTERACTION: true, SEARCH_HINT: "trust project mcp servers" },
    });
    push(list, &tool);
}
