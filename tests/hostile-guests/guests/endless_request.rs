//! Sends a body that never ends.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

fn attempt(granted: &str, _: &str) -> Vec<Outcome> {
    // More than any call may send.
    let much = vec![b'x'; 8 << 20];
    let post = |tried: &str| {
        Request::get(granted, "/")
            .with_body("POST", &much)
            .outcome(tried)
    };
    ["once", "twice", "again"].map(post).into()
}
