//! Sends a request that its user is asked about, and that somebody else's session answers for them.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

fn attempt(_: &str, other: &str) -> Vec<Outcome> {
    vec![Request::get(other, "/").outcome("a request")]
}
