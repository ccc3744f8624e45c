//! Headers that must not be repeated.

use hyper::HeaderMap;
use hyper::header::AsHeaderName;

/// Headers of which several values would be read differently by different readers.
const SINGLE: [&str; 6] = [
    "content-type",
    "last-event-id",
    super::endpoint::SESSION,
    super::repeated::METHOD,
    super::repeated::NAME,
    super::repeated::VERSION,
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
