//! Reads responses that never end, or become more when they are read.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

/// `other` is the path of the response.
fn attempt(granted: &str, other: &str) -> Vec<Outcome> {
    vec![Request::get(granted, other).outcome(other)]
}
