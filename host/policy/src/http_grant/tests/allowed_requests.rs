//! Requests beside grants, each with whether it is allowed.

use super::*;

#[test]
fn a_grant_allows_what_it_says_and_nothing_else() {
    let table = [
        ("https://a.example", "GET", "https://a.example/", true),
        (
            "https://a.example",
            "DELETE",
            "https://a.example:443/x?y",
            true,
        ),
        ("https://a.example", "GET", "https://A.example./", true),
        ("https://a.example", "GET", "http://a.example/", false),
        ("https://a.example", "GET", "https://a.example:444/", false),
        ("https://a.example", "GET", "https://b.a.example/", false),
        (
            "https://a.example",
            "GET",
            "https://a.example.evil.example/",
            false,
        ),
        ("https://a.example", "GET", "https://aa.example/", false),
        ("https://a.example", "GET", "https://a.example..", false),
        (
            "https://a.example",
            "GET",
            "https://a.example@evil.example/",
            false,
        ),
        (
            "https://a.example",
            "GET",
            "https://a.example:443@evil.example/",
            false,
        ),
        ("https://*.a.example", "GET", "https://b.a.example/", true),
        ("https://*.a.example", "GET", "https://c.b.a.example/", true),
        ("https://*.a.example", "GET", "https://a.example/", false),
        ("https://*.a.example", "GET", "https://.a.example/", false),
        ("https://*.a.example", "GET", "https://ba.example/", false),
        ("https://*", "GET", "https://anything.example/", true),
        ("https://*", "GET", "http://anything.example/", false),
        (
            "GET,HEAD https://a.example",
            "HEAD",
            "https://a.example/",
            true,
        ),
        (
            "GET,HEAD https://a.example",
            "POST",
            "https://a.example/",
            false,
        ),
        ("GET https://a.example", "get", "https://a.example/", false),
        ("https://a.example/v1", "GET", "https://a.example/v1", true),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/x?y=/../z",
            true,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v10",
            false,
        ),
        ("https://a.example/v1", "GET", "https://a.example/", false),
        (
            "https://a.example/v1/",
            "GET",
            "https://a.example/v1",
            false,
        ),
        (
            "https://a.example/v1/",
            "GET",
            "https://a.example/v1/x",
            true,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/../admin",
            false,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/%2E%2e/admin",
            false,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/..%2fadmin",
            false,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/..;/admin",
            false,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/..%5cadmin",
            false,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/%252e%252e/admin",
            false,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/..\\admin",
            false,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/..%3b/x",
            false,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/%00",
            false,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/.%00./x",
            false,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/%c0%ae%c0%ae/x",
            false,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/%u002e%u002e/x",
            false,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/..%20/x",
            false,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/%2",
            false,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/caf%C3%A9%20x",
            true,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1/a%3fb",
            true,
        ),
        (
            "https://a.example/v1",
            "GET",
            "https://a.example/v1//x",
            true,
        ),
        ("http://127.0.0.1:80", "GET", "http://2130706433/", true),
        ("http://127.0.0.1", "GET", "http://127.0.0.2/", false),
        ("http://[::1]", "GET", "http://[0:0::1]/", true),
        (
            "https://bücher.example",
            "GET",
            "https://xn--bcher-kva.example/",
            true,
        ),
        // A Cyrillic letter that looks like a Latin one.
        (
            "https://apple.example",
            "GET",
            "https://\u{430}pple.example/",
            false,
        ),
    ];
    for (grant, method, to, expected) in table {
        let grant: HttpGrant = grant.parse().unwrap();
        assert_eq!(
            grant.allows(method, &url(to)),
            expected,
            "{grant}: {method} {to}"
        );
    }
}
