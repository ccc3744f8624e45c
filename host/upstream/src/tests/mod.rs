//! Real child processes, each odd in its own way.

mod eras;
mod limits;
mod lists;
mod messages;
mod odd_server;
mod oddities;
mod one_tool_withheld;
mod processes;
mod recording_listener;
mod roots;
mod sessions;
mod starts;

use std::sync::Arc;
use std::time::Duration;

use dormouse_policy::UpstreamLimits;
use dormouse_protocol::{Capability, ClientEra, Listener, SessionId};
use serde_json::{Value, json};

pub(crate) use one_tool_withheld::OneToolWithheld;
pub(crate) use recording_listener::RecordingListener;

use odd_server::{OddServer, launch, limited, odd, patient};

use crate::{Failure, ForwardedRequest, Reactions, discover};

const ONE: SessionId = SessionId(1);
const LIMIT: Duration = Duration::from_secs(30);

const CAPS: UpstreamLimits = UpstreamLimits {
    message_bytes: 64 << 20,
    list_bytes: 8 << 20,
    list_items: 10_000,
    list_pages: 200,
    batch_messages: 1000,
    log_bytes: 32 << 10,
    request_bytes: 16 << 20,
    connections: 128,
};

/// Returns a call of a tool with these parameters.
pub(crate) fn called(params: &str) -> ForwardedRequest<'_> {
    ForwardedRequest::read("tools/call", params).unwrap()
}

fn text(answer: &Value) -> String {
    answer["content"][0]["text"].as_str().unwrap().to_owned()
}

fn why(result: Result<Value, Failure>) -> String {
    match result {
        Err(Failure::Lost(lost)) => lost.to_string(),
        other => panic!("{other:?}"),
    }
}
