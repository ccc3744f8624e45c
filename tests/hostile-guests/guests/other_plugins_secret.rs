//! Sends the placeholder of another plugin's secret, and looks for secrets around it.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use std::env;

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

/// `other` is the placeholder that another plugin has.
fn attempt(granted: &str, other: &str) -> Vec<Outcome> {
    let bearer = format!("Bearer {other}");
    let variables: Vec<_> = env::vars().collect();
    vec![
        Request::get(granted, "/")
            .header("authorization", bearer.as_bytes())
            .outcome("its placeholder"),
        Request::get(granted, "/").outcome("nothing of its own"),
        Outcome {
            tried: "variables".to_owned(),
            came: Ok(format!("{variables:?}")),
        },
    ]
}
