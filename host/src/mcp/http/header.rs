//! Headers that must not be said twice.

use hyper::HeaderMap;
use hyper::header::AsHeaderName;

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
