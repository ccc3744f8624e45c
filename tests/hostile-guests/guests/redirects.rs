//! Follows redirects wherever they lead, with what it has sent to the first host.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::{Request, outcome};

dormouse_hostile_guests::guest!(attempt);

/// `other` has the locations that the granted host redirects to, with commas between them.
fn attempt(granted: &str, other: &str) -> Vec<Outcome> {
    let followed = |location: &str| outcome(location, follow(granted, location));
    other.split(',').map(followed).collect()
}

fn follow(granted: &str, location: &str) -> Result<String, String> {
    let path = format!("/away?to={location}");
    let answer = Request::get(granted, &path).send()?;
    let to = answer
        .lines()
        .find_map(|line| line.strip_prefix("location: "));
    let to = to.ok_or("redirects nowhere")?;
    let (scheme, rest) = to.split_once("://").ok_or("redirects to no URL")?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let path = format!("/{path}");
    let hop = Request {
        scheme,
        ..Request::get(authority, &path)
    };
    hop.header("authorization", b"Bearer of-the-first-host")
        .send()
}
