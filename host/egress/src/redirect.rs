//! Redirects that are followed.

use reqwest::Url;
use reqwest::header::HeaderValue;

use crate::{EgressError, shown_url};

/// Returns the URL that a redirect leads to. The client for that URL checks its address.
///
/// # Errors
/// The redirect must not be followed.
pub fn redirect_target(from: &Url, location: &HeaderValue) -> Result<Url, EgressError> {
    let target = location.to_str().ok().and_then(|text| from.join(text).ok());
    let target = target.filter(|to| matches!(to.scheme(), "http" | "https"));
    let target = target.ok_or_else(|| EgressError::RedirectToNoUrl(shown_url(from)))?;
    if from.scheme() == "https" && target.scheme() == "http" {
        return Err(EgressError::RedirectInTheOpen {
            from: shown_url(from),
            to: shown_url(&target),
        });
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_lead_to_what_is_as_safe() {
        for (from, location, expected) in [
            (
                "https://a.example/mcp",
                "/mcp/",
                Some("https://a.example/mcp/"),
            ),
            (
                "https://a.example/mcp",
                "https://b.example/",
                Some("https://b.example/"),
            ),
            (
                "http://a.example/mcp",
                "https://a.example/mcp",
                Some("https://a.example/mcp"),
            ),
            (
                "http://a.example/x/mcp?k=1",
                "other",
                Some("http://a.example/x/other"),
            ),
            ("https://a.example/mcp", "http://a.example/mcp", None),
            ("https://a.example/mcp", "//", None),
            (
                "http://localhost/mcp",
                "http://127.0.0.1:8080/",
                Some("http://127.0.0.1:8080/"),
            ),
            ("http://a.example/mcp", "file:///etc/passwd", None),
            ("http://a.example/mcp", "javascript:x", None),
        ] {
            let location = HeaderValue::from_static(location);
            let to = redirect_target(&Url::parse(from).unwrap(), &location).ok();
            assert_eq!(
                to.as_ref().map(Url::as_str),
                expected,
                "{from} {location:?}"
            );
        }
    }
}
