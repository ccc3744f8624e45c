//! Sends requests to a host to which another plugin has connections.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

fn attempt(granted: &str, _: &str) -> Vec<Outcome> {
    let to = |_| Request::get(granted, "/").outcome("a request");
    (0..3).map(to).collect()
}
