//! Sends its placeholder to a host that is granted, but is none of the secret's.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use std::env;

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

fn attempt(granted: &str, other: &str) -> Vec<Outcome> {
    let token = env::var("TOKEN").unwrap_or_default();
    let bearer = format!("Bearer {token}");
    let with = |authority: &str, host: Option<&str>| {
        let request = Request::get(authority, "/").header("authorization", bearer.as_bytes());
        match host {
            Some(host) => request
                .header("host", host.as_bytes())
                .outcome("with a header of a host"),
            None => request.outcome("to another host"),
        }
    };
    vec![with(other, None), with(other, Some(granted))]
}
