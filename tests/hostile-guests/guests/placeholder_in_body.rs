//! Sends its placeholder in a body.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use std::env;

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

fn attempt(granted: &str, _: &str) -> Vec<Outcome> {
    let token = env::var("TOKEN").unwrap_or_default();
    let form = format!("authorization=Bearer {token}");
    let header = format!("\r\nauthorization: Bearer {token}\r\n\r\n");
    [token, form, header]
        .map(|body| {
            Request::get(granted, "/")
                .with_body("POST", body.as_bytes())
                .outcome("a body")
        })
        .into()
}
