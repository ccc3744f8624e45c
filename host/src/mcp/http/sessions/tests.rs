use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _};
use rmcp::model::{ClientJsonRpcMessage, NumberOrString, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport as _;
use serde_json::{Value, json};

use super::reader::Reader;
use super::*;

/// Something that belongs to no request, of about that many bytes.
pub(super) fn log(bytes: usize) -> ServerJsonRpcMessage {
    let params = json!({ "level": "info", "data": "x".repeat(bytes) });
    let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params });
    serde_json::from_value(log).unwrap()
}
