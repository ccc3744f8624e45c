//! Sends requests with URLs that are as long as can be.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

fn attempt(granted: &str, _: &str) -> Vec<Outcome> {
    let long = "x".repeat(60_000);
    let path = format!("/{long}");
    let query = format!("/?{}", "%41&".repeat(15_000));
    let labels = format!("{}{granted}", "x.".repeat(30_000));
    let user = format!("{long}@{granted}");
    let port = format!("{granted}{}", "0".repeat(60_000));
    let dots = format!("/{}", "../".repeat(20_000));
    vec![
        Request::get(granted, &path).outcome("a long path"),
        Request::get(granted, &query).outcome("a long query"),
        Request::get(granted, &dots).outcome("a path that leads up"),
        Request::get(&labels, "/").outcome("a long name"),
        Request::get(&user, "/").outcome("a long user"),
        Request::get(&port, "/").outcome("a long port"),
        Request::get(granted, "/")
            .with_body(&long, &[])
            .outcome("a long method"),
        Request {
            scheme: &long,
            ..Request::get(granted, "/")
        }
        .outcome("a long scheme"),
    ]
}
