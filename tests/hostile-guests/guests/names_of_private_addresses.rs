//! Sends a request to names whose server of names says a private address.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

/// `other` has the names, with commas between them.
fn attempt(_: &str, other: &str) -> Vec<Outcome> {
    let to = |authority: &str| Request::get(authority, "/").outcome(authority);
    other.split(',').map(to).collect()
}
