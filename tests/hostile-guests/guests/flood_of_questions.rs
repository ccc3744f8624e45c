//! Asks for a grant of each of many paths of one host, and of each of many hosts, one after the other.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

/// `other` is a domain, and the port of all of its hosts.
fn attempt(_: &str, other: &str) -> Vec<Outcome> {
    let one = format!("one.{other}");
    let on_path = |number: u32| Request::get(&one, &format!("/path-{number}")).outcome("a path");
    let host = |number: u32| format!("host-{number}.{other}");
    let to = |number| Request::get(&host(number), "/").outcome("a request");
    (0..8).map(on_path).chain((0..200).map(to)).collect()
}
