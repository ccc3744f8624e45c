//! What an upstream says that it offers.

use dormouse_protocol::DeclaredCapabilities;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Reactions;
use super::self_description::{bounded_instructions, bounded_object};

/// All that an upstream says of itself when it is connected: the answers to the
/// handshake and to its lists, each object byte for byte as it came.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Offered {
    /// MCP `serverInfo`: name, version and what else there is.
    pub server_info: Map<String, Value>,
    /// The protocol version that was agreed on.
    pub protocol: String,
    /// What it says it can do (MCP `ServerCapabilities`).
    pub capabilities: Map<String, Value>,
    /// What the client could be asked that it has said this to.
    #[serde(default)]
    pub able: DeclaredCapabilities,
    /// What it has done with the first requests of MCP's eras, as far as that is known.
    #[serde(default, skip_serializing_if = "Reactions::is_unknown")]
    pub reactions: Reactions,
    /// What it wants a model to know of it.
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
    /// The number of the connection that it has said this over.
    #[serde(skip)]
    pub connection: u64,
    /// Tools that it had over this very connection and has no longer: these are gone,
    /// whoever asks.
    #[serde(skip)]
    pub withdrawn: Vec<String>,
}

impl Offered {
    /// Leaves out what is too much of what the upstream says of itself: in a record, it may
    /// be from when there were no caps.
    pub fn bound_self_description(&mut self) {
        for (called, object) in [
            ("serverInfo", &mut self.server_info),
            ("capabilities", &mut self.capabilities),
        ] {
            *object = bounded_object(called, std::mem::take(object));
        }
        self.instructions = bounded_instructions(self.instructions.take());
    }

    /// The size of all objects together, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let lists = [&self.tools, &self.prompts, &self.resources, &self.templates];
        let objects = lists.into_iter().flatten();
        objects.map(|object| object.get().len()).sum()
    }
}
