//! Status of an upstream.

use std::time::SystemTime;

use dormouse_protocol::SessionId;
use serde_json::{Map, Value};

/// Status of an upstream.
#[derive(Debug, Clone, Default)]
pub struct UpstreamStatus {
    /// Its connections.
    pub connections: Vec<Connected>,
    /// Whether a connection is being made.
    pub connecting: bool,
    /// Reason for which it was last lost or could not be reached; none once it is reached again.
    pub error: Option<String>,
    /// Present where it wants its user to log in, with its `WWW-Authenticate` header.
    pub needs_auth: Option<Option<String>>,
    /// MCP `serverInfo` of its last connection.
    pub server_info: Map<String, Value>,
}

/// Open connection.
#[derive(Debug, Clone)]
pub struct Connected {
    /// The session that it is for; none where it is shared.
    pub session: Option<SessionId>,
    /// The process behind it, where it is a child.
    pub pid: Option<u32>,
    /// Time at which it was made.
    pub since: SystemTime,
    /// The protocol version that it speaks.
    pub protocol: String,
}
