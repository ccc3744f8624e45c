//! Offers of an upstream, as it describes itself.

use dormouse_protocol::DeclaredCapabilities;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::Reactions;
use crate::opening::self_description::{bounded_instructions, bounded_object};

/// Self-description of an upstream that is connected: the answers to the handshake and to its
/// lists, each object of a list as it came, but for secrets of logins.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Offered {
    /// MCP `serverInfo`: name, version and what else there is.
    pub server_info: Map<String, Value>,
    /// The protocol version that was agreed on.
    pub protocol: String,
    /// Capabilities that it has declared (MCP `ServerCapabilities`).
    pub capabilities: Map<String, Value>,
    /// Capabilities of the client that it has told this.
    #[serde(default)]
    pub able: DeclaredCapabilities,
    /// Reactions to the first requests of MCP's eras, as far as they are known.
    #[serde(default, skip_serializing_if = "Reactions::is_unknown")]
    pub reactions: Reactions,
    /// MCP `instructions`, which it wants a model to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Its MCP `Tool` objects.
    pub tools: Vec<Box<RawValue>>,
    /// Its MCP `Prompt` objects.
    #[serde(default)]
    pub prompts: Vec<Box<RawValue>>,
    /// Its MCP `Resource` objects.
    #[serde(default)]
    pub resources: Vec<Box<RawValue>>,
    /// Its MCP `ResourceTemplate` objects.
    #[serde(default)]
    pub templates: Vec<Box<RawValue>>,
    /// Its MCP `Resource` objects that it has only had since its first list over this connection:
    /// they may be there for that connection alone.
    #[serde(skip)]
    pub added_resources: Vec<Box<RawValue>>,
    /// Lists that it has and did not tell, so that what is recorded of them stays.
    #[serde(skip)]
    pub untold: UntoldLists,
    /// Number of the connection that this came over.
    #[serde(skip)]
    pub connection: u64,
    /// Number of the changes of its lists that it had told of over this connection when it was asked.
    #[serde(skip)]
    pub changes: u64,
    /// Tools that it had over this very connection and has no longer: these are gone for every
    /// client.
    #[serde(skip)]
    pub withdrawn: Vec<String>,
}

/// Lists that an upstream has and did not tell, or not to their end: nothing of them counts as gone.
/// Without its tools, it is not connected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after what they list")]
pub struct UntoldLists {
    pub prompts: bool,
    pub resources: bool,
    pub templates: bool,
}

impl Offered {
    /// Leaves out the parts of `serverInfo`, `capabilities` and `instructions` that are too large:
    /// a record may be from before there were caps.
    pub fn bound_self_description(&mut self) {
        for (called, object) in [
            ("serverInfo", &mut self.server_info),
            ("capabilities", &mut self.capabilities),
        ] {
            *object = bounded_object(called, std::mem::take(object));
        }
        self.instructions = bounded_instructions(self.instructions.take());
    }
}
