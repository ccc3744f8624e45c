use super::*;

mod allowed_requests;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[test]
fn a_grant_is_written_as_it_is_read() {
    for (text, written) in [
        ("https://api.example.com", "https://api.example.com"),
        ("https://API.example.com./", "https://api.example.com"),
        (
            "https://api.example.com:443/v1",
            "https://api.example.com/v1",
        ),
        ("http://localhost:8080", "http://localhost:8080"),
        (
            "GET,HEAD  https://*.example.com",
            "GET,HEAD https://*.example.com",
        ),
        ("https://*", "https://*"),
        ("https://*:8443/docs/", "https://*:8443/docs/"),
        (
            "https://git.corp.example private",
            "https://git.corp.example private",
        ),
        ("http://127.1", "http://127.0.0.1"),
        ("http://[::1]:9", "http://[::1]:9"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
    ] {
        let grant: HttpGrant = text.parse().unwrap();
        assert_eq!(grant.to_string(), written, "{text}");
        assert_eq!(written.parse(), Ok(grant), "{text}");
    }
}

#[test]
fn what_grants_nothing_is_refused_with_what_is_wrong() {
    let long = format!("https://a.example/{}", "x".repeat(MAX_URL_BYTES));
    for (text, why) in [
        (long.as_str(), "more than 1024 bytes"),
        ("", "is no grant of HTTP requests"),
        ("private", "is no grant of HTTP requests"),
        ("api.example.com", "is no grant of HTTP requests"),
        ("GET POST https://a.example", "is no grant of HTTP requests"),
        ("get https://a.example", "`get` is no method"),
        ("GET,,POST https://a.example", "`` is no method"),
        ("https://", "is no URL"),
        ("https://a b.example", "is no method"),
        ("https://*example.com", "a `*` stands for a name"),
        ("https://*.1.2.3.4", "a `*` stands for a name"),
        ("https://*.*.example.com", "a `*` stands for a name"),
        ("https://a.*.example.com", "a `*` stands for a name"),
        (
            "https://a';id;'.example",
            "characters that no name of a host has",
        ),
        (
            "https://$(id).example",
            "characters that no name of a host has",
        ),
        (
            "https://*.a&b.example",
            "characters that no name of a host has",
        ),
        ("ftp://a.example", "another scheme"),
        ("https://me:secret@a.example", "a user name"),
        ("https://a.example/?q=1", "a query or a fragment"),
        ("https://a.example/#x", "a query or a fragment"),
        ("https://a.example/v1/*", "a path with escapes or `*`"),
        ("https://a.example/a%2fb", "a path with escapes or `*`"),
    ] {
        let refused = text.parse::<HttpGrant>().unwrap_err().to_string();
        assert!(refused.contains(why), "{text}: {refused}");
        assert!(refused.contains("hint: "), "{refused}");
    }
}

#[test]
fn the_grant_of_an_origin_allows_it_all() {
    for text in [
        "https://a.example:8443/x?y#z",
        "http://[::1]:9/",
        "http://localhost/a",
    ] {
        let grant = grant_of_origin(&url(text)).unwrap();
        assert!(grant.allows("POST", &url(text)), "{grant}");
    }
    assert_eq!(grant_of_origin(&url("data:x")), None);
}

#[test]
fn a_grant_is_told_in_words() {
    for (text, words) in [
        (
            "https://api.example.com",
            "requests to api.example.com over HTTPS",
        ),
        (
            "http://localhost:8080",
            "requests to localhost (port 8080) over HTTP, which is not encrypted",
        ),
        (
            "GET,HEAD https://*.example.org",
            "GET and HEAD requests to all hosts below example.org over HTTPS",
        ),
        (
            "GET,POST,PUT https://*:8443/v1",
            "GET, POST and PUT requests to every host on the internet (port 8443, /v1 and below) \
             over HTTPS",
        ),
        (
            "GET https://a.example/v1/",
            "GET requests to a.example (below /v1) over HTTPS",
        ),
        (
            "https://git.corp.example private",
            "requests to git.corp.example over HTTPS, also where it is in a private network",
        ),
        (
            "http://*.corp.example private",
            "requests to all hosts below corp.example over HTTP, which is not encrypted, also in \
             private networks",
        ),
        (
            "https://* private",
            "requests to every host over HTTPS, also in private networks",
        ),
        (
            "https://\u{430}pple.example/\u{202e}`x",
            "requests to xn--pple-43d.example (/%E2%80%AE%60x and below) over HTTPS",
        ),
    ] {
        let grant: HttpGrant = text.parse().unwrap();
        assert_eq!(grant.in_words(), words, "{text}");
    }
}

#[test]
fn what_is_within_others_is_allowed_by_them_and_nothing_else_is() {
    for (grant, others, expected) in [
        ("https://a.example", &["https://a.example"][..], true),
        ("https://a.example private", &["https://a.example"], true),
        ("https://a.example", &[], false),
        ("https://a.example", &["https://b.example"], false),
        ("https://a.example", &["http://a.example"], false),
        ("https://a.example", &["https://a.example:444"], false),
        ("https://a.example", &["https://*"], true),
        ("https://*", &["https://a.example"], false),
        ("https://*", &["https://*"], true),
        ("https://*.example", &["https://*"], true),
        ("https://*", &["https://*.example"], false),
        ("https://b.a.example", &["https://*.a.example"], true),
        ("https://a.example", &["https://*.a.example"], false),
        ("https://ba.example", &["https://*.a.example"], false),
        ("https://*.b.example", &["https://*.example"], true),
        ("https://*.example", &["https://*.b.example"], false),
        ("https://*.example", &["https://a.example"], false),
        ("GET https://a.example", &["https://a.example"], true),
        ("https://a.example", &["GET https://a.example"], false),
        (
            "GET,POST https://a.example",
            &["GET https://a.example", "POST,PUT https://*"],
            true,
        ),
        (
            "GET,POST https://a.example",
            &["GET https://a.example", "POST https://b.example"],
            false,
        ),
        ("https://a.example/v1", &["https://a.example"], true),
        ("https://a.example", &["https://a.example/v1"], false),
        ("https://a.example/v1/x", &["https://a.example/v1"], true),
        ("https://a.example/v10", &["https://a.example/v1"], false),
        ("https://a.example/v1", &["https://a.example/v1/"], false),
        ("https://a.example/v1/", &["https://a.example/v1"], true),
    ] {
        let read = |text: &str| text.parse::<HttpGrant>().unwrap();
        let all: Vec<_> = others.iter().map(|other| read(other)).collect();
        assert_eq!(
            read(grant).is_within(&all),
            expected,
            "{grant} in {others:?}"
        );
    }
}

/// A plugin writes the URL: what its user is told to grant, or is asked for, must be no pattern.
#[test]
fn a_url_whose_host_is_written_as_a_pattern_is_nobodys() {
    for text in [
        "https://*/x",
        "https://*.example.com/",
        "https://a..example.com/",
        "https://a.example.com../",
    ] {
        let url = Url::parse(text).unwrap();
        assert_eq!(grant_of_origin(&url), None, "{text}");
        for grant in [
            "https://*",
            "https://*.example.com",
            "https://a.example.com",
        ] {
            let grant: HttpGrant = grant.parse().unwrap();
            assert!(!grant.allows("GET", &url), "{grant} {text}");
        }
    }
    for text in [
        "https://a..example.com",
        "https://a.example.com..",
        "https://*.a..example.com",
    ] {
        assert!(text.parse::<HttpGrant>().is_err(), "{text}");
    }
    let whole: HttpGrant = "https://a.example.com.".parse().unwrap();
    assert_eq!(whole.to_string(), "https://a.example.com");
}

#[test]
fn a_grant_reaches_the_hosts_that_it_names_and_no_other() {
    for (grant, host, expected) in [
        ("https://a.example", "a.example", true),
        ("https://a.example", "https://A.example:443", true),
        ("POST https://a.example/v1", "a.example", true),
        ("https://*.example", "a.example", true),
        ("https://*", "a.example:8443", false),
        ("https://a.example:8443", "a.example:8443", true),
        ("https://a.example", "a.example:8443", false),
        ("https://a.example", "b.example", false),
        ("https://*.a.example", "a.example", false),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080", true),
        ("http://127.0.0.1:8080", "https://127.0.0.1:8080", false),
    ] {
        let read: HttpGrant = grant.parse().unwrap();
        assert_eq!(
            read.reaches(&host.parse().unwrap()),
            expected,
            "{grant} and {host}"
        );
    }
}
