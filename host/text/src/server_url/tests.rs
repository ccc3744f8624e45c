//! URLs that are wrong, or mislead.

use super::*;

#[test]
fn a_wrong_url_is_shown_without_what_may_be_its_password() {
    for (url, shown) in [
        (r"https://u:PW\x@h/mcp", "https://…@h/mcp"),
        (r"https://u:PW/x@h/mcp", "https://…@h/mcp"),
        ("https://u:P@W?x#@h/mcp", "https://…@h/mcp"),
        ("//u:PW@h", "…@h"),
        ("u:PW://x@h", "…@h"),
        ("u:PW@h", "…@h"),
        ("htp://h/mcp", "htp://h/mcp"),
    ] {
        assert_eq!(shown_wrong(url), shown, "{url}");
    }
}

#[test]
fn a_url_that_leads_to_another_host_than_it_shows_is_refused() {
    use WrongUrl::{Character, NoUrl, OtherHost};
    for (url, written, wrong) in [
        ("https://example.com/mcp", None, None),
        ("HTTPS://Example.com:443?x", None, None),
        ("http://[::1]:8080/", None, None),
        ("https://b\u{fc}cher.example/", None, None),
        ("https://user:p%40ss@example.com/@scope", None, None),
        ("https://example.com/", Some("https://${HOST}/"), None),
        ("https://example.com/", Some("${URL}"), None),
        (
            "https://example.com:8080/",
            Some("https://example.com${PORT}/"),
            None,
        ),
        (
            "https://example.com:443/",
            Some("https://example.com:${PORT}/"),
            None,
        ),
        (
            "https://eu.example.com/",
            Some("https://${REGION:-eu/}.example.com/"),
            None,
        ),
        (
            "https://api.example.com/",
            Some("https://api.{env:DOMAIN}/"),
            None,
        ),
        (
            "https://b%C3%BCcher.example/",
            Some("https://b%C3%BCcher.example/$A"),
            None,
        ),
        (
            "https://example.com/mcp",
            Some("${BASE:-https://example.org}/mcp"),
            None,
        ),
        (
            "https://u:p@example.com/",
            Some("https://${U}:${P}@example.com/"),
            None,
        ),
        (
            r"http://127.0.0.1:1\@example.com/mcp",
            None,
            Some(Character('\\')),
        ),
        (r"http:\\example.com/", None, Some(Character('\\'))),
        ("https://example.com/a b", None, Some(Character(' '))),
        ("https://exam\tple.com/", None, Some(Character('\t'))),
        (
            "https://example.com/\u{7f}",
            None,
            Some(Character('\u{7f}')),
        ),
        (" https://example.com/", None, Some(Character(' '))),
        ("example.com", None, Some(NoUrl)),
        ("ftp://example.com/", None, Some(NoUrl)),
        ("file:///etc/passwd", None, Some(NoUrl)),
        ("http:example.com@example.org/", None, Some(NoUrl)),
        ("http:///example.com/", None, Some(NoUrl)),
        ("http:x://y@example.com/", None, Some(NoUrl)),
        ("https://", None, Some(NoUrl)),
        ("https://${HOST}:${PORT}/", None, Some(NoUrl)),
        (
            "http://127.0.0.1:1/home/me@example.com/mcp",
            Some("http://127.0.0.1:1${HOME}@example.com/mcp"),
            Some(OtherHost),
        ),
        (
            "http://evil.example?@example.com/mcp",
            Some("http://${USER}@example.com/mcp"),
            Some(OtherHost),
        ),
        (
            "http://evil.example#@example.com/mcp",
            Some("http://${USER}@example.com/mcp"),
            Some(OtherHost),
        ),
        (
            "http://evil.example/@example.com/mcp",
            Some("${HOMEPAGE}@example.com/mcp"),
            Some(OtherHost),
        ),
        (
            "http://example.com@evil.example/mcp",
            Some("http://example.com${A}/mcp"),
            Some(OtherHost),
        ),
        (
            "http://example.com:80@evil.example/mcp",
            Some("http://example.com:${PORT}/mcp"),
            Some(OtherHost),
        ),
        (
            "http://example.com:80@evil.example/mcp",
            Some("http://example.com:80$A/mcp"),
            Some(OtherHost),
        ),
        (
            "http://example.com.evil.example/mcp",
            Some("http://example.com%A%/mcp"),
            Some(OtherHost),
        ),
        (
            "http://evil.example/github.com/mcp",
            Some("http://${A:-evil.example/}github.com${B:-}/mcp"),
            Some(OtherHost),
        ),
        (
            "http://evil.example/?://github.com/",
            Some("${S:-http://evil.example/?}://github.com/"),
            Some(OtherHost),
        ),
        (
            "http://evil.example/good.example/",
            Some("http:${V:-//evil.example}/good.example/"),
            Some(OtherHost),
        ),
        (
            "https://github.com/",
            Some("${S:-https}://github.com/"),
            None,
        ),
        (
            "http://evil.example/.example.com/mcp",
            Some("http://${A}.example.com/mcp"),
            Some(OtherHost),
        ),
    ] {
        let found = check(url, written.unwrap_or(url)).err();
        assert_eq!(found, wrong, "{url} {written:?}");
    }
}
