//! Writes a user name in front of a host, so that one reader takes another part for the host.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

fn attempt(granted: &str, other: &str) -> Vec<Outcome> {
    let port = granted.rsplit(':').next().unwrap_or_default();
    [
        format!("me:password@{granted}"),
        format!("me@{other}"),
        format!("@{other}"),
        format!(":@{granted}"),
        format!("{granted}@{other}"),
        format!("{granted}:80@{other}"),
        format!("{granted}%40{other}"),
        format!("{other}%40{granted}"),
        format!("{granted}\\@{other}"),
        format!("{granted}#@{other}"),
        format!("{granted}?@{other}"),
        format!("{granted}/@{other}"),
        format!("me@{other}:{port}@{granted}"),
    ]
    .map(|authority| Request::get(&authority, "/").outcome(&authority))
    .into()
}
