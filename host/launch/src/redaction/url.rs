//! Secrets that are written out in a URL.

use dormouse_text::server_url::UrlParts;

use super::secret_value::looks_like_a_token;
use super::variable::is_variable;
use super::{SecretPart, is_secret_name, range_in, without};

/// Finds the parts of a URL that are secrets, in order: its user, the values of its query and its
/// fragment, parameters of its path, and what looks like a token there. Variables that are not
/// filled in are none. Values whose names are none of a secret may be settings.
pub(crate) fn secrets_in_url(url: &str) -> Vec<SecretPart> {
    let parts = UrlParts::of(url);
    let mut found = Vec::new();
    let mut add = |text: &str, is_certain: bool| {
        found.push(SecretPart {
            range: range_in(url, text),
            is_certain,
        });
    };
    if let Some(user) = parts.user {
        add(user, true);
    } else if !parts.is_web()
        && let Some((user, _)) = parts.rest.rsplit_once('@')
        && user.contains(':')
    {
        // In a password for a database a `/` is often left as it is.
        add(user, true);
    }
    let mut is_webhook = parts.rest.starts_with("hooks.");
    for segment in parts.rest.split('/').skip(1) {
        let mut parameters = segment.split(';');
        let names = parameters.next().unwrap_or_default().split(':');
        for name in names {
            if looks_like_a_token(name) || (is_webhook && is_webhook_secret(name)) {
                add(name, true);
            }
        }
        for (name, value) in parameters.filter_map(|parameter| parameter.split_once('=')) {
            add(value, is_secret_name(name));
        }
        is_webhook = is_webhook || WEBHOOK_SEGMENTS.contains(&segment);
    }
    // What is behind the `#` is sent to nobody, and may be what a login came back with.
    let fragment = url.split_once('#').map_or("", |(_, fragment)| fragment);
    let query = parts.query.unwrap_or_default();
    for pair in query.split('&').chain(fragment.split('&')) {
        // One that has no value may be one.
        let (name, value) = pair.split_once('=').unwrap_or(("", pair));
        if !value.is_empty() && !is_variable(value) {
            add(value, is_secret_name(name));
        }
    }
    found.retain(|part| !part.range.is_empty());
    found.sort_by_key(|part| part.range.start);
    found
}

/// Segments of a path behind which whoever knows the rest may send something.
const WEBHOOK_SEGMENTS: [&str; 3] = ["hooks", "webhook", "webhooks"];

/// Fewest letters of a secret in the path of a webhook that has small letters alone.
const MIN_WEBHOOK_LETTERS: usize = 16;

/// Whether a segment of the path of a webhook is a part of its secret, and no word.
fn is_webhook_secret(segment: &str) -> bool {
    let is_word = |letter: char| letter.is_ascii_lowercase() || matches!(letter, '-' | '_');
    segment.len() >= MIN_WEBHOOK_LETTERS || !segment.chars().all(is_word)
}

/// Removes the secrets from a URL.
#[must_use]
pub fn redacted_url(url: &str) -> String {
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
            ("https://e.com/?k=$abc", "https://e.com/?k=…"),
            (
                "https://hooks.zapier.com/hooks/catch/123/abc/",
                "https://hooks.zapier.com/hooks/catch/…/abc/",
            ),
            (
                "https://discord.com/api/webhooks/123/abcdefghijklmnopq",
                "https://discord.com/api/webhooks/…/…",
            ),
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
