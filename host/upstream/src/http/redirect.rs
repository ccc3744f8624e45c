//! Redirects that are followed.

use reqwest::Url;
use reqwest::header::HeaderValue;

use super::Endpoint;
use crate::Lost;

/// Returns the URL that a redirect leads to. The client for that URL checks its address.
///
/// # Errors
/// The redirect must not be followed.
pub(super) fn target(from: &Url, location: &HeaderValue) -> Result<Url, Lost> {
    let shown = Endpoint::shown(from);
    let target = location.to_str().ok().and_then(|text| from.join(text).ok());
    let Some(target) = target.filter(|to| matches!(to.scheme(), "http" | "https")) else {
        return Err(Lost::Broken(format!(
            "`{shown}` redirects to what is no URL"
        )));
    };
    if from.scheme() == "https" && target.scheme() == "http" {
        return Err(Lost::Broken(format!(
            "`{shown}` redirects to `{}`, where everybody could read along\n\
             hint: configure the URL with `https://` that the server really has",
            Endpoint::shown(&target)
        )));
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
            let to = target(&Url::parse(from).unwrap(), &location).ok();
            assert_eq!(
                to.as_ref().map(Url::as_str),
                expected,
                "{from} {location:?}"
            );
        }
    }
}
