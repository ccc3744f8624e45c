//! Sends requests to hosts whose names are nearly those of the granted ones.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

/// Beside `api.example` and `*.good.example`, which are granted.
const HOSTS: [&str; 20] = [
    "api.example.evil.example",
    "api.example-evil.example",
    "api-example",
    "apiexample",
    "evilapi.example",
    "evil.api.example",
    "api.exampl",
    "api.examples",
    "api.example..",
    ".api.example",
    "аpi.example",
    "api.exаmple",
    "apı.example",
    "xn--pi-7kc.example",
    "api%00.evil.example",
    "api.example%2eevil.example",
    "good.example",
    "evilgood.example",
    "a.good.example.evil.example",
    "a.gооd.example",
];

fn attempt(_: &str, _: &str) -> Vec<Outcome> {
    let to = |host: &&str| Request::get(host, "/").outcome(host);
    HOSTS.iter().map(to).collect()
}
