//! Requests over HTTP/2 that their hosts have not processed.

use std::error::Error as _;

/// Beginnings of the words of h2 for what RFC 9113 (8.7) says a request was not processed by, received
/// from its host: the end of a connection in good order (`GOAWAY` with `NO_ERROR`, which only requests
/// fail by that came behind the last one that it names), and `REFUSED_STREAM`. The reason itself is in a
/// type of h2, which reqwest does not give to others.
const WORDS: [&str; 2] = [
    "connection error received: not a result of an error",
    "stream error received: refused stream before processing any application logic",
];

/// Checks whether a request's host has said that it has not processed the request.
pub(super) fn is_unprocessed(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if WORDS.iter().any(|known| words.starts_with(known)) {
            return true;
        }
        cause = inner.source();
    }
    false
}
