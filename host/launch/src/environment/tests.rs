//! Variables of children, and of those that lack some.

use super::withheld::withheld_of;
use super::*;

#[test]
fn a_child_gets_what_it_needs_and_no_secrets() {
    let patterns = ["AWS_*".to_owned(), "MINE".to_owned()];
    let table = [
        ("PATH", "/bin", true, true),
        ("SSL_CERT_FILE", "/ca.pem", true, true),
        ("https_proxy", "http://proxy:3128", true, true),
        ("KUBECONFIG", "/kube", true, true),
        ("UV_CACHE_DIR", "/cache", true, true),
        ("AWS_PROFILE", "work", true, true),
        ("AWS_SECRET_ACCESS_KEY", "x", false, true),
        ("MINE", "x", false, true),
        ("MINE_TOO", "x", false, false),
        ("GITHUB_TOKEN", "x", false, false),
        ("PATH_OF_SECRETS", "x", false, false),
        ("PATH", "() { evil; }", false, false),
        ("AWS_F", "() { evil; }", false, false),
    ];
    for (name, value, inherited, named) in table {
        for (patterns, expected) in [(&[][..], inherited), (&patterns, named)] {
            let found = passes(OsStr::new(name), OsStr::new(value), patterns);
            assert_eq!(found, expected, "{name}={value} {patterns:?}");
        }
    }
    // Whatever is passed, the token of a host is not.
    let all = ["*".to_owned()];
    for (name, expected) in [("GITHUB_TOKEN", true), ("DORMOUSE_TOKEN", false)] {
        assert_eq!(passes(OsStr::new(name), OsStr::new("x"), &all), expected);
    }
}

#[test]
fn a_variables_value_is_judged_by_its_name_and_as_a_url() {
    for (name, value, expected) in [
        ("PATH", "/bin", None),
        ("HTTPS_PROXY", "proxy:3128", None),
        (
            "HTTPS_PROXY",
            "me:pw@proxy:3128",
            Some("proxy://me:pw@proxy:3128"),
        ),
        ("all_proxy", "//me:p/w@proxy", Some("proxy://me:p/w@proxy")),
        ("HTTP_PROXY", "http://proxy", Some("http://proxy")),
        (
            "PIP_INDEX_URL",
            "https://u:p@index/x",
            Some("https://u:p@index/x"),
        ),
        ("GITHUB_TOKEN", "x", Some("x")),
        ("XDG_API_TOKEN", "x", Some("x")),
    ] {
        assert_eq!(
            secret_in(name, value).as_deref(),
            expected,
            "{name}={value}"
        );
    }
}

#[test]
fn no_key_is_passed_to_every_child() {
    for passed in PASSED {
        for name in passed.names {
            let is_secret = ["TOKEN", "SECRET", "PASSWORD", "API_KEY", "ACCESS_KEY"]
                .iter()
                .any(|word| name.contains(word));
            assert!(!is_secret && *name != "*", "{name}");
        }
    }
}

#[test]
fn what_is_set_here_and_not_passed_is_found_in_a_text() {
    // What the tests are built with is set for them, and for no child.
    let said = "CARGO_MANIFEST_DIR is missing, PATH is not, nor is NO_SUCH_VARIABLE_AT_ALL";
    assert_eq!(withheld(said, &[]), ["CARGO_MANIFEST_DIR"]);
    assert_eq!(withheld(said, &["CARGO_*".to_owned()]), [""; 0]);
}

#[test]
fn what_is_missing_is_found_where_a_text_does_not_name_it() {
    let set = [
        "ACME_CA_BUNDLE",
        "DORMOUSE_CERT",
        "GITHUB_TOKEN",
        "KUBE_CONTEXT",
        "PATH",
        "SSL_CERT_FILE",
        "VENDOR_PROFILE",
    ];
    let found = |said: &str| {
        let set = set.map(|name| (OsString::from(name), OsString::from("x")));
        withheld_of(set.into_iter(), said, &[])
    };
    for (said, expected) in [
        (
            "error: invalid peer certificate: UnknownIssuer",
            &["ACME_CA_BUNDLE"][..],
        ),
        (
            "context \"x\" does not exist: no such cluster",
            &["KUBE_CONTEXT"],
        ),
        ("Unable to locate credentials", &["VENDOR_PROFILE"]),
        ("cannot open display", &[]),
        ("set GITHUB_TOKEN", &["GITHUB_TOKEN"]),
        ("something else", &[]),
    ] {
        assert_eq!(found(said), expected, "{said}");
    }
}
