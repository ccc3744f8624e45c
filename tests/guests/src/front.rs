//! Stands in front of an upstream, and hands on whatever it is told to.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_bindings::dormouse::plugin::upstream::{UpstreamError, request};

struct Front;

dormouse_sdk::plugin!(Front, world = "front");

fn asked(method: &str, params: &str) -> Result<String, String> {
    request(method, params).map_err(|error| match error {
        UpstreamError::Refused(refusal) => refusal.message,
        UpstreamError::Failed(why) => why,
    })
}

impl Guest for Front {
    fn hand_on(method: String, params: String) -> Result<String, String> {
        asked(&method, &params)
    }

    fn tell(method: String, params: String) -> String {
        asked(&method, &params).unwrap_or_else(|error| error)
    }

    fn wipe() -> Result<String, String> {
        asked("tools/call", r#"{"name":"wipe","arguments":{}}"#)
    }
}
