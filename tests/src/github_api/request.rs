//! Requests to the API, read.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Request to the API.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Method of HTTP.
    pub method: String,
    /// Path, decoded.
    pub path: String,
    /// Query, decoded.
    pub query: BTreeMap<String, String>,
    /// Body, null where there is none.
    pub body: Value,
    /// Value of the header `Authorization`.
    pub authorization: Option<String>,
}

impl Request {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (head, body) = text.split_once("\r\n\r\n")?;
        let mut words = head.split(' ');
        let (method, target) = (words.next()?, words.next()?);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let decoded = |text: &str| {
            let text = text.replace('+', " ");
            percent_decode_str(&text).decode_utf8_lossy().into_owned()
        };
        let query = query.split('&').filter_map(|pair| pair.split_once('='));
        let headers = head.lines().filter_map(|line| line.split_once(": "));
        let mut tokens = headers.filter(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        Some(Self {
            method: method.to_owned(),
            path: percent_decode_str(path).decode_utf8_lossy().into_owned(),
            query: query
                .map(|(name, value)| (decoded(name), decoded(value)))
                .collect(),
            body: serde_json::from_str(unchunked(body)).unwrap_or_default(),
            authorization: tokens.next().map(|(_, value)| value.to_owned()),
        })
    }
}

/// Returns a body that came as one chunk, without its lengths.
fn unchunked(body: &str) -> &str {
    body.find('{').map_or("", |start| {
        let end = body.rfind('}').map_or(start, |end| end + 1);
        body.get(start..end).unwrap_or_default()
    })
}
