//! Sends its placeholder in a path and in a query.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use std::env;

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

fn attempt(granted: &str, _: &str) -> Vec<Outcome> {
    let token = env::var("TOKEN").unwrap_or_default();
    [
        "/",
        "/?authorization=",
        "/?q=x&token=",
        "/authorization:%20Bearer%20",
    ]
    .map(|before| format!("{before}{token}"))
    .map(|path| Request::get(granted, &path).outcome("a path"))
    .into()
}
