//! How an upstream is, for whoever wants to know.

use std::time::SystemTime;

use dormouse_protocol::SessionId;
use serde_json::{Map, Value};

/// How an upstream is.
#[derive(Debug, Clone, Default)]
pub struct Status {
    /// Its connections.
    pub connections: Vec<Connected>,
    /// Whether one is being made.
    pub connecting: bool,
    /// Why it was last lost or could not be reached; none once it is reached again.
    pub error: Option<String>,
    /// That it wants its user to log in, with its `WWW-Authenticate` header.
    pub needs_auth: Option<Option<String>>,
    /// What it said of itself when it was last connected (MCP `serverInfo`).
    pub server_info: Map<String, Value>,
}

/// One connection.
#[derive(Debug, Clone)]
pub struct Connected {
    /// The session that it is for; none where it is shared.
    pub session: Option<SessionId>,
    /// The process behind it, where it is a child.
    pub pid: Option<u32>,
    /// When it was made.
    pub since: SystemTime,
    /// The protocol version that it speaks.
    pub protocol: String,
}
