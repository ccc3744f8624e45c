//! Sends its placeholder in parts, or changed, and puts the parts together from what comes back.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use std::env;

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

fn attempt(granted: &str, _: &str) -> Vec<Outcome> {
    let token = env::var("TOKEN").unwrap_or_default();
    let (first, second) = token.split_at(token.len() / 2);
    let folded = format!("Bearer {first}\t{second}");
    let escaped = token.replace('-', "%2d");
    let capital = token.to_uppercase();
    let reversed: String = token.chars().rev().collect();
    let request = || Request::get(granted, "/");
    vec![
        request()
            .header("authorization", first.as_bytes())
            .header("authorization", second.as_bytes())
            .outcome("over two headers"),
        request()
            .header("authorization", folded.as_bytes())
            .outcome("over a blank"),
        request()
            .header("authorization", escaped.as_bytes())
            .outcome("escaped"),
        request()
            .header("authorization", capital.as_bytes())
            .outcome("in capitals"),
        request()
            .header("authorization", reversed.as_bytes())
            .outcome("backwards"),
        request()
            .header("authorization", first.as_bytes())
            .outcome("its beginning"),
    ]
}
