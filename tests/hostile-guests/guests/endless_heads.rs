//! Leaves requests open whose answers never begin.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::{Request, outcome};

dormouse_hostile_guests::guest!(attempt);

/// Requests that are open at once.
const REQUESTS: usize = 16;

/// `other` is the path of the responses.
fn attempt(granted: &str, other: &str) -> Vec<Outcome> {
    let open = |_| {
        let opened = Request::get(granted, other).open();
        outcome("a request", opened.map(|()| "opened".to_owned()))
    };
    (0..REQUESTS).map(open).collect()
}
