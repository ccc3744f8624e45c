//! Responses to HTTP requests.

use encoding_rs::{Encoding, UTF_8};
use url::Url;

/// Bytes from the start of a page in which a `<meta>` may name its encoding, as browsers have it.
const META_BYTES: usize = 1024;

/// Response as far as it matters to a page.
#[derive(Debug, Clone)]
pub struct Response {
    /// URL that it is from, after redirects.
    pub url: Url,
    /// Status code.
    pub status: u16,
    /// Target of a redirect, as the server writes it.
    pub location: Option<String>,
    /// Value of the header `Content-Type`, empty where there is none.
    pub content_type: String,
    /// Body, decompressed.
    pub body: Vec<u8>,
}

impl Response {
    /// Returns where this redirects to, or none where it is no redirect.
    pub fn redirect(&self) -> Option<Result<Url, String>> {
        let is_redirect = matches!(self.status, 301 | 302 | 303 | 307 | 308);
        let location = self.location.as_ref().filter(|_| is_redirect)?;
        let target = self.url.join(location);
        Some(target.map_err(|error| format!("it redirects to `{location}`: {error}")))
    }

    /// Returns the body as text, in the encoding that its first bytes, its content type or a
    /// `<meta>` name, else as UTF-8. What is invalid becomes replacement characters.
    pub fn text(&self) -> String {
        let encoding = charset(&self.content_type).or_else(|| self.meta_charset());
        // Sniffs the byte order mark, which counts for more.
        let (text, _, _) = encoding.unwrap_or(UTF_8).decode(&self.body);
        text.into_owned()
    }

    fn meta_charset(&self) -> Option<&'static Encoding> {
        let start: Vec<u8> = self.body.iter().copied().take(META_BYTES).collect();
        let start = String::from_utf8_lossy(&start).to_ascii_lowercase();
        let named = start.split("<meta").skip(1).find_map(charset)?;
        // What could be read so far is not in UTF-16, whatever it says.
        Some(named.output_encoding())
    }
}

/// Returns the first encoding that a text names as `charset=…`.
fn charset(text: &str) -> Option<&'static Encoding> {
    let lower = text.to_ascii_lowercase();
    let (_, value) = lower.split_once("charset=")?;
    let value = value.trim_start_matches(['"', '\'']);
    let label = value.split(['"', '\'', ';', ',', '/', '>', ' ']).next()?;
    Encoding::for_label(label.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::Response;

    fn response(content_type: &str, body: &[u8]) -> Response {
        Response {
            url: "https://example.com/a/b?c".parse().unwrap(),
            status: 200,
            location: None,
            content_type: content_type.to_owned(),
            body: body.to_vec(),
        }
    }

    #[test]
    fn text_is_read_in_the_encoding_that_is_named() {
        for (content_type, body, expected) in [
            ("text/plain", "żółw".as_bytes(), "żółw"),
            ("text/plain; charset=ISO-8859-2", b"\xbf\xf3\xb3w", "żółw"),
            ("text/html; Charset=\"shift_jis\"", b"\x8bT", "亀"),
            ("text/html; charset=nonsense", b"turtle", "turtle"),
            (
                "text/html",
                b"<meta charset=windows-1250>\xbf",
                "<meta charset=windows-1250>ż",
            ),
            (
                "text/html",
                b"<META http-equiv='Content-Type' content='text/html; charset=koi8-r'>\xde",
                "<META http-equiv='Content-Type' content='text/html; charset=koi8-r'>ч",
            ),
            // The header counts for more, and a byte order mark for most.
            (
                "text/html; charset=utf-8",
                b"<meta charset=koi8-r>\xc5\xbc",
                "<meta charset=koi8-r>ż",
            ),
            ("text/html; charset=koi8-r", b"\xff\xfe\x7c\x01", "ż"),
            (
                "text/html",
                b"<meta charset=utf-16>\xc5\xbc",
                "<meta charset=utf-16>ż",
            ),
            ("text/plain", b"\xff", "\u{fffd}"),
        ] {
            assert_eq!(response(content_type, body).text(), expected);
        }
    }

    #[test]
    fn redirects_are_relative_to_where_they_come_from() {
        let to = |status, location: Option<&str>| {
            let mut response = response("", b"");
            (response.status, response.location) = (status, location.map(str::to_owned));
            response.redirect()
        };
        for (location, expected) in [
            ("d", "https://example.com/a/d"),
            ("/d", "https://example.com/d"),
            ("//other.example", "https://other.example/"),
            ("http://other.example/x", "http://other.example/x"),
        ] {
            let target = to(307, Some(location)).unwrap().unwrap();
            assert_eq!(target.as_str(), expected);
        }
        assert!(to(302, Some("http://")).unwrap().is_err());
        for (status, location) in [(302, None), (304, Some("/d")), (200, Some("/d"))] {
            assert!(to(status, location).is_none());
        }
    }
}
