//! Names and ids that are Dormouse's alone.

use std::borrow::Cow;

use dormouse_text::visible::{visible_line, without_hidden};
use serde_json::{Map, Value};

/// Start of the names and ids that only Dormouse may use.
const RESERVED: &str = "dormouse";

/// Returns another id for a page whose own is one of Dormouse's.
pub(super) fn reserved_id(server: &str, page: &Map<String, Value>) -> Option<String> {
    let id = page.get("elicitationId").and_then(Value::as_str)?;
    match page_id(server, id) {
        Cow::Borrowed(_) => None,
        Cow::Owned(other) => Some(other),
    }
}

/// Returns the id of a server's page as clients are told it.
#[must_use]
pub fn page_id<'a>(server: &str, id: &'a str) -> Cow<'a, str> {
    match is_reserved(id) {
        true => Cow::Owned(format!("{}/{id}", unreserved(server))),
        false => Cow::Borrowed(id),
    }
}

pub(super) fn is_reserved(name: &str) -> bool {
    let name = without_hidden(name);
    let name = name.trim_start();
    let start = name.get(..RESERVED.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(RESERVED))
}

/// Returns a server's name to stand at the beginning: behind `server/`, where it looks like one of
/// Dormouse's.
pub(super) fn unreserved(server: &str) -> Cow<'_, str> {
    let shown = visible_line(server);
    match is_reserved(&shown) {
        true => Cow::Owned(format!("server/{shown}")),
        false => shown,
    }
}
