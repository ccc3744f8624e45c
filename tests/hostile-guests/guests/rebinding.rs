//! Sends requests to one name, whose server of names says another address each time.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

fn attempt(granted: &str, _: &str) -> Vec<Outcome> {
    // Each on a connection of its own, for which the name is looked up again.
    let closing = |_| Request::get(granted, "/close").outcome(granted);
    (0..6).map(closing).collect()
}
