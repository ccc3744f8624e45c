//! Sends its placeholder in headers that it is not for.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use std::env;

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

fn attempt(granted: &str, _: &str) -> Vec<Outcome> {
    let token = env::var("TOKEN").unwrap_or_default();
    let names = [
        "cookie",
        "x-authorization",
        "authorization2",
        "user-agent",
        "referer",
        "accept",
        "te",
    ];
    let in_value = names.map(|name| {
        Request::get(granted, "/")
            .header(name, token.as_bytes())
            .outcome(name)
    });
    let in_name = Request::get(granted, "/")
        .header(&token, b"authorization")
        .outcome("as a name");
    in_value.into_iter().chain([in_name]).collect()
}
