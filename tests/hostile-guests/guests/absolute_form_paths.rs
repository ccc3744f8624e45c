//! Writes another host into the path.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

fn attempt(granted: &str, other: &str) -> Vec<Outcome> {
    [
        format!("http://{other}/"),
        format!("//{other}/"),
        format!("/\\{other}/"),
        format!("\\\\{other}/"),
        format!("@{other}/"),
        format!(":80@{other}/"),
        format!(".{other}/"),
        format!("%40{other}/"),
        format!("?@{other}/"),
        format!("#@{other}/"),
        format!("/..//{other}/"),
        format!("http:/{other}"),
        "*".to_owned(),
        other.to_owned(),
    ]
    .map(|path| Request::get(granted, &path).outcome(&path))
    .into()
}
