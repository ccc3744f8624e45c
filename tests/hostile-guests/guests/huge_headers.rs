//! Sends requests with headers that are as large and as many as can be.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

/// `other` says in which way.
fn attempt(granted: &str, other: &str) -> Vec<Outcome> {
    let long = "x".repeat(200_000);
    let request = Request::get(granted, "/");
    let request = match other {
        "a long name" => request.header(&long, b"x"),
        "a long value" => request.header("x", long.as_bytes()),
        _ => (0..100_000).fold(request, |request, _| request.header("x", b"y")),
    };
    vec![request.outcome(other)]
}
