//! URLs as they may be shown.

use dormouse_launch::redaction::redacted_url;
use url::Url;

/// Returns a URL without its user, query and fragment, and without what may be secret in its path.
#[must_use]
pub fn shown_url(url: &Url) -> String {
    let shown = format!("{}{}", url.origin().ascii_serialization(), url.path());
    redacted_url(&shown)
}
