//! Reading of headers.

use hyper::HeaderMap;
use hyper::header::{ACCEPT, AsHeaderName, CONTENT_TYPE};

/// Headers of which several values would be read differently by different readers.
const SINGLE: [&str; 6] = [
    "content-type",
    "last-event-id",
    super::endpoint::SESSION,
    super::repeated_headers::METHOD,
    super::repeated_headers::NAME,
    super::repeated_headers::VERSION,
];

/// Name of a header that is there more than once although it must not be.
pub(super) fn doubled(headers: &HeaderMap) -> Option<&'static str> {
    let is_doubled = |name: &&str| headers.get_all(*name).iter().nth(1).is_some();
    SINGLE.into_iter().find(|name| is_doubled(name))
}

/// The value of a header that may be there once at most: proxies and servers do
/// not agree on which of several counts.
pub(super) fn only(headers: &HeaderMap, name: impl AsHeaderName) -> Result<Option<&str>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| ()),
        (Some(_), Some(_)) => Err(()),
    }
}

/// Returns the type of a message's content, without parameters; empty where it has none.
pub(super) fn content_type(headers: &HeaderMap) -> &str {
    let said = headers.get(CONTENT_TYPE);
    let said = said.and_then(|said| said.to_str().ok());
    let essence = said.and_then(|said| said.split(';').next());
    essence.unwrap_or_default().trim()
}

/// Checks whether a client accepts a type of content by its name.
pub(super) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let values = headers.get_all(ACCEPT).iter();
    let ranges = values.filter_map(|value| value.to_str().ok());
    ranges.flat_map(|value| value.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_named = parts
            .next()
            .is_some_and(|named| named.eq_ignore_ascii_case(kind));
        let has_no_weight = parts
            .filter_map(|part| part.split_once('='))
            .any(|(name, weight)| {
                name.trim().eq_ignore_ascii_case("q") && weight.trim().parse() == Ok(0.0)
            });
        is_named && !has_no_weight
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_accepted_is_named_and_has_a_weight() {
        for (values, expected) in [
            (&["application/json, text/event-stream"][..], true),
            (&["application/json", "TEXT/Event-Stream ; q=0.1"], true),
            (&["text/event-stream;charset=utf-8;q=1"], true),
            (&["text/event-stream;q=x"], true),
            (&["text/event-stream; Q=0.000"], false),
            (&["text/event-streams", "*/*", "text/*"], false),
            (&[], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(ACCEPT, value.parse().unwrap());
            }
            assert_eq!(
                accepts(&headers, "text/event-stream"),
                expected,
                "{values:?}"
            );
        }
    }
}
