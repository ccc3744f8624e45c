//! Notifications of clients.

use dormouse_jsonrpc::member;
use rmcp::model::RequestId;

/// Notifications of clients that have an effect.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::mcp) enum ClientNotification {
    Initialized,
    /// A request is cancelled.
    Cancelled(RequestId),
    RootsChanged,
}

impl ClientNotification {
    /// Reads a notification from the text of its parameters; none of one that has no effect.
    pub(in crate::mcp) fn read(method: &str, params: Option<&str>) -> Option<Self> {
        match method {
            "notifications/initialized" => Some(Self::Initialized),
            "notifications/cancelled" => {
                let id = member(params?, "requestId")?;
                serde_json::from_str(id).ok().map(Self::Cancelled)
            }
            "notifications/roots/list_changed" => Some(Self::RootsChanged),
            _ => None,
        }
    }
}
