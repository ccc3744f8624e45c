//! Sends a request that it asks for, while another client answers questions that nobody was asked.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

fn attempt(_: &str, other: &str) -> Vec<Outcome> {
    vec![Request::get(other, "/").outcome("a request")]
}
