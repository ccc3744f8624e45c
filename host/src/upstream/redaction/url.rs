//! Secrets that are written out in a URL.

use std::ops::Range;

use super::super::server_url::UrlParts;
use super::secret_value::looks_like_a_token;
use super::{is_variable, range_in, without};

/// The parts of a URL that are secrets, in order: who is said to ask, the values of its query,
/// parameters of its path, and what looks like a token there. Variables that are not filled in
/// are none.
pub(in crate::upstream) fn secrets_in_url(url: &str) -> Vec<Range<usize>> {
    let parts = UrlParts::of(url);
    let mut found = Vec::new();
    let mut hide = |text: &str| found.push(range_in(url, text));
    if let Some(user) = parts.user {
        hide(user);
    } else if !parts.is_web()
        && let Some((user, _)) = parts.rest.rsplit_once('@')
        && user.contains(':')
    {
        // In a password for a database a `/` is often left as it is.
        hide(user);
    }
    for segment in parts.rest.split('/').skip(1) {
        let mut parameters = segment.split(';');
        let names = parameters.next().unwrap_or_default().split(':');
        names
            .filter(|name| looks_like_a_token(name))
            .for_each(&mut hide);
        parameters
            .filter_map(|parameter| parameter.split_once('='))
            .for_each(|(_, value)| hide(value));
    }
    // What is behind the `#` is sent to nobody, and may be what a login came back with.
    let fragment = url.split_once('#').map_or("", |(_, fragment)| fragment);
    let query = parts.query.unwrap_or_default();
    for pair in query.split('&').chain(fragment.split('&')) {
        // One that has no value may be one.
        let value = pair.split_once('=').map_or(pair, |(_, value)| value);
        if !value.is_empty() && !is_variable(value) {
            hide(value);
        }
    }
    found.sort_by_key(|part| part.start);
    found
}

/// A URL without its secrets.
#[must_use]
pub(in crate::upstream) fn redacted_url(url: &str) -> String {
    // What is behind the `#` is sent to nobody, and may be anything.
    let url = url.split_once('#').map_or(url, |(url, _)| url);
    without(url, &secrets_in_url(url)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_secrets() {
        for (url, shown) in [
            ("https://example.com/mcp", "https://example.com/mcp"),
            (
                "https://user:pass@example.com:1/mcp",
                "https://…@example.com:1/mcp",
            ),
            ("https://a@b@example.com", "https://…@example.com"),
            (
                "https://example.com/@scope/x",
                "https://example.com/@scope/x",
            ),
            (
                "https://e.com/mcp?key=abc&b=#frag",
                "https://e.com/mcp?key=…&b=",
            ),
            ("https://e.com/?secret", "https://e.com/?…"),
            ("https://e.com/${T}?k=${KEY}", "https://e.com/${T}?k=${KEY}"),
            ("example.com/x?k=v", "example.com/x?k=…"),
            (
                r"http://127.0.0.1:1\@example.com/mcp",
                r"http://127.0.0.1:1\@example.com/mcp",
            ),
            (r"redis://u:p\ss@db/x", "redis://…@db/x"),
            ("amqp://u:p/ss@db/x", "amqp://…@db/x"),
            ("https://e.com:8080/@scope/x", "https://e.com:8080/@scope/x"),
            (
                "https://e.com/bot123:aB3dE5gH7jK9mN1pQ3sT/x",
                "https://e.com/bot123:…/x",
            ),
            ("", ""),
        ] {
            assert_eq!(redacted_url(url), shown, "{url}");
        }
    }
}
