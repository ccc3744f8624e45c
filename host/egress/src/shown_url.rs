//! URLs as they may be shown.

use dormouse_launch::redaction::redacted_url;
use reqwest::Url;

/// Returns a URL without its user, query and fragment, and without what may be secret in its path.
#[must_use]
pub fn shown_url(url: &Url) -> String {
    let shown = format!("{}{}", url.origin().ascii_serialization(), url.path());
    redacted_url(&shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_user_nor_query_nor_fragment_is_shown() {
        let url = Url::parse("https://user:secret@example.com/mcp?key=secret#secret").unwrap();
        assert_eq!(shown_url(&url), "https://example.com/mcp");
    }
}
