//! URLs as they may be shown.

use dormouse_launch::redaction::redacted_url;
use reqwest::Url;

/// Most bytes of a URL that are shown: others than its user may have named it, as by a redirect.
const MAX_SHOWN_BYTES: usize = 300;

/// Returns a URL without its user, query and fragment, and without what may be secret in its path. A
/// long one is cut.
#[must_use]
pub fn shown_url(url: &Url) -> String {
    let shown = format!("{}{}", url.origin().ascii_serialization(), url.path());
    let shown = redacted_url(&shown);
    let (beginning, rest) = shown.split_at(shown.floor_char_boundary(MAX_SHOWN_BYTES));
    if rest.is_empty() {
        return shown;
    }
    // Not within a part of its path: nobody could tell that half of a secret is one.
    let whole = beginning.rsplit_once('/');
    format!("{}/…", whole.map_or("", |(whole, _)| whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_user_nor_query_nor_fragment_is_shown() {
        let url = Url::parse("https://user:secret@example.com/mcp?key=secret#secret").unwrap();
        assert_eq!(shown_url(&url), "https://example.com/mcp");
    }

    #[test]
    fn a_long_url_is_cut_between_parts_of_its_path() {
        let shown = |text: String| shown_url(&Url::parse(&text).unwrap());
        let parts = shown(format!("https://example.com/{}", "part/".repeat(1000)));
        assert!(parts.starts_with("https://example.com/part/"), "{parts}");
        assert!(parts.ends_with("/part/…") && parts.len() < 310, "{parts}");
        let long = "w".repeat(1000);
        let part = shown(format!("https://example.com/mcp/{long}/b"));
        assert_eq!(part, "https://example.com/mcp/…");
        assert_eq!(shown(format!("https://{long}/b")), "https://…");
        let whole = format!("https://example.com/{}", "a/".repeat(140));
        assert_eq!(shown(whole.clone()), whole);
    }
}
