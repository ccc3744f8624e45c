//! Tools of Dormouse's own by which agents find, load and call tools that are not in their lists.

use dormouse_policy::exposure::{ShownMode, ToolAccess};
use serde_json::{Value, json};

use super::index_of_names;
use crate::mcp::methods::commands::push;
use crate::roster::client_meta::{ALWAYS_LOAD, LARGEST_RESULT_SIZE, MAX_RESULT_SIZE, SEARCH_HINT};
use crate::roster::{Snapshot, mapped};

/// A tool of Dormouse's own by which others are found, loaded or called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mcp) enum MetaTool {
    /// Finds tools by words.
    SearchTools,
    /// Describes tools in full.
    DescribeTool,
    /// Lists the servers, with the names of their tools.
    ListServers,
    /// Puts tools into the list of the session.
    LoadTools,
    /// Calls a tool that may do this much.
    CallTool(ToolAccess),
}

impl MetaTool {
    const ALL: [Self; 7] = [
        Self::ListServers,
        Self::LoadTools,
        Self::SearchTools,
        Self::DescribeTool,
        Self::CallTool(ToolAccess::Read),
        Self::CallTool(ToolAccess::Write),
        Self::CallTool(ToolAccess::Destructive),
    ];

    /// Returns the tool of that name.
    pub(in crate::mcp) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Returns its name, which no server's tool has ([`dormouse_config::name::is_of_meta_tool`]).
    pub(in crate::mcp) fn name(self) -> &'static str {
        match self {
            Self::ListServers => "list_servers",
            Self::LoadTools => "load_tools",
            Self::SearchTools => "search_tools",
            Self::DescribeTool => "describe_tool",
            Self::CallTool(access) => access.call_tool(),
        }
    }

    /// Checks whether it is listed to agents in that mode. In the direct one it is for the few tools
    /// that are not.
    fn is_of(self, mode: ShownMode) -> bool {
        match self {
            Self::ListServers | Self::LoadTools => mode == ShownMode::Index,
            Self::SearchTools => mode != ShownMode::Index,
            Self::DescribeTool | Self::CallTool(_) => true,
        }
    }

    /// Returns its MCP `Tool` object, the same from start to start. `about` is what its description
    /// says of the servers.
    fn object(self, about: &str) -> Value {
        let text = json!({ "type": "string" });
        let names = json!({ "type": "array", "items": text, "minItems": 1, "maxItems": 5 });
        let server = json!({ "type": "string", "description": "Only this server's tools." });
        let (description, properties, required) = match self {
            Self::SearchTools => (
                format!(
                    "Finds tools by what they do. Most tools are not in your list of tools: search \
                     here before you say that something cannot be done. {about}"
                ),
                json!({
                    "query": { "type": "string", "description": "What is to be done, in a few words, or a tool's name." },
                    "server": server,
                    "limit": { "type": "integer", "minimum": 1, "maximum": 25, "default": 10 },
                }),
                json!(["query"]),
            ),
            Self::DescribeTool => (
                "Returns the full description and JSON Schema of up to 5 tools, by their names."
                    .to_owned(),
                json!({ "names": names }),
                json!(["names"]),
            ),
            Self::ListServers => (
                "Lists the servers and the names of their tools, most of which are not in your list \
                 of tools."
                    .to_owned(),
                json!({ "server": server }),
                json!([]),
            ),
            Self::LoadTools => (
                format!(
                    "Loads tools of a server into your list of tools and returns their signatures. \
                     Where your list does not change, call them by `call_tool` and its kind. {about}"
                ),
                json!({
                    "server": { "type": "string" },
                    "names": { "type": "array", "items": text, "minItems": 1, "maxItems": MAX_LOADED_AT_ONCE,
                        "description": "Names of its tools; all of them, if left out." },
                }),
                json!(["server"]),
            ),
            Self::CallTool(access) => {
                let kind = match access {
                    ToolAccess::Read => "that only reads",
                    ToolAccess::Write => "that adds or changes something, and destroys nothing",
                    ToolAccess::Destructive => "that may change or remove anything",
                };
                (
                    format!("Calls a tool {kind}: one of those that are marked with this tool's name."),
                    json!({
                        "name": { "type": "string", "description": "Name of the tool, with its server's." },
                        "arguments": { "type": "object", "description": "Its arguments." },
                    }),
                    json!(["name"]),
                )
            }
        };
        let annotations = match self {
            Self::CallTool(access) => json!({
                "readOnlyHint": access == ToolAccess::Read,
                "destructiveHint": access == ToolAccess::Destructive,
                "openWorldHint": true,
            }),
            _ => json!({ "readOnlyHint": true, "openWorldHint": false }),
        };
        json!({
            "name": self.name(),
            "description": description.trim_end(),
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
            "annotations": annotations,
            "_meta": self.meta(),
        })
    }

    /// Returns what clients read of it that its model does not: that it is never to be deferred, by
    /// which words it is found all the same, and that its answer may be long, so that it is not cut.
    fn meta(self) -> Value {
        let hint = match self {
            Self::SearchTools => "find tool search capability mcp server",
            Self::DescribeTool => "describe tool schema parameters arguments",
            Self::ListServers => "list mcp servers and names of their tools",
            Self::LoadTools => "load tools of an mcp server",
            Self::CallTool(ToolAccess::Read) => "call tool that reads",
            Self::CallTool(ToolAccess::Write) => "call tool that writes adds changes",
            Self::CallTool(ToolAccess::Destructive) => "call tool that deletes removes destroys",
        };
        let mut meta = json!({ ALWAYS_LOAD: true, SEARCH_HINT: hint });
        // A schema that is cut is of no use, nor is an index. How long the result of another tool may
        // be, nobody knows.
        let is_long = matches!(
            self,
            Self::DescribeTool | Self::ListServers | Self::LoadTools
        );
        if let (true, Some(meta)) = (is_long, meta.as_object_mut()) {
            meta.insert(MAX_RESULT_SIZE.to_owned(), json!(LARGEST_RESULT_SIZE));
        }
        meta
    }
}

/// Most tools that are loaded by one call.
pub(super) const MAX_LOADED_AT_ONCE: usize = 50;

/// Returns the MCP `Tool` objects of those that agents in that mode have, with their names.
/// `description_bytes` is what the client keeps of a description.
fn objects(
    mode: ShownMode,
    snapshot: &Snapshot,
    description_bytes: Option<usize>,
) -> impl Iterator<Item = (&'static str, Value)> {
    let tools = MetaTool::ALL.into_iter();
    tools.filter(move |tool| tool.is_of(mode)).map(move |tool| {
        let room = description_bytes.map(|bytes| bytes.saturating_sub(RESERVED_BYTES));
        let about = match tool {
            MetaTool::SearchTools => index_of_names::servers(snapshot, mode, room),
            MetaTool::LoadTools => index_of_names::names(snapshot, mode, room),
            _ => String::new(),
        };
        (tool.name(), tool.object(&about))
    })
}

/// Returns the number of those that agents in that mode have.
pub(super) fn count(mode: ShownMode) -> usize {
    let tools = MetaTool::ALL.into_iter();
    tools.filter(|tool| tool.is_of(mode)).count()
}

/// Appends the MCP `Tool` objects of those that agents in that mode have to the text of a list.
/// `description_bytes` is what the client keeps of a description.
pub(super) fn append(
    mode: ShownMode,
    snapshot: &Snapshot,
    description_bytes: Option<usize>,
    list: &mut String,
) {
    for (_, object) in objects(mode, snapshot, description_bytes) {
        push(list, &object);
    }
}

/// Returns what a model reads of those that agents in that mode have, one after another.
pub(super) fn mapped_texts(
    mode: ShownMode,
    snapshot: &Snapshot,
    description_bytes: Option<usize>,
) -> String {
    let objects = objects(mode, snapshot, description_bytes);
    let texts = objects.map(|(name, object)| mapped(name, &object.to_string()));
    texts.collect()
}

/// Bytes of the longest description without what it says of the servers.
const RESERVED_BYTES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_its_name_which_no_servers_tool_has() {
        let names: Vec<_> = MetaTool::ALL.iter().map(|tool| tool.name()).collect();
        assert_eq!(names, dormouse_config::name::META_TOOLS);
        for tool in MetaTool::ALL {
            assert_eq!(MetaTool::named(tool.name()), Some(tool));
            assert!(dormouse_config::name::is_of_meta_tool(tool.name()));
            let object = tool.object("");
            let description = object["description"].as_str().unwrap();
            assert!(description.len() <= RESERVED_BYTES, "{description}");
        }
    }

    #[test]
    fn clients_read_that_each_is_always_there_and_which_answers_are_long() {
        for tool in MetaTool::ALL {
            let meta = tool.object("")["_meta"].clone();
            assert_eq!(meta["anthropic/alwaysLoad"], true, "{tool:?}");
            let hint = meta["anthropic/searchHint"].as_str().unwrap();
            assert!(hint.len() > 10, "{tool:?}");
            let is_long = meta["anthropic/maxResultSizeChars"] == json!(500_000);
            let long = ["list_servers", "load_tools", "describe_tool"];
            assert_eq!(is_long, long.contains(&tool.name()), "{tool:?}");
        }
    }

    #[test]
    fn what_may_destroy_says_so() {
        for (access, hints) in [
            (ToolAccess::Read, (true, false)),
            (ToolAccess::Write, (false, false)),
            (ToolAccess::Destructive, (false, true)),
        ] {
            let said = MetaTool::CallTool(access).object("")["annotations"].clone();
            let said = (&said["readOnlyHint"], &said["destructiveHint"]);
            assert_eq!(said, (&json!(hints.0), &json!(hints.1)));
        }
    }
}
