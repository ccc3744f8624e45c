use super::*;
use crate::{AddressKind, Reach};

mod endless_heads;
mod repeated;

fn granted(grants: &[&str]) -> GrantedHttp {
    let grants: Vec<_> = grants.iter().map(|grant| grant.parse().unwrap()).collect();
    GrantedHttp::new(&grants, PluginSecrets::default())
}

#[test]
fn a_request_reaches_as_far_as_its_grant_says() {
    use AddressKind::{LinkLocal, Loopback, Private, Reserved};
    let not = |wanted: &str| Err(HttpRefusal::NotGranted(Some(wanted.to_owned())));
    let beyond = |kind, wanted: &str| {
        let wanted = (!wanted.is_empty()).then(|| wanted.to_owned());
        Err(HttpRefusal::OutOfReach { kind, wanted })
    };
    for (grant, url, expected) in [
        ("https://a.example", "https://a.example/", Ok(Reach::Public)),
        (
            "https://a.example",
            "https://b.example/",
            not("https://b.example"),
        ),
        (
            "https://a.example",
            "http://a.example:8/",
            not("http://a.example:8"),
        ),
        (
            "https://a.example private",
            "https://a.example/",
            Ok(Reach::And(Private)),
        ),
        (
            "http://127.0.0.1:8",
            "http://127.0.0.1:8/",
            Ok(Reach::Configured),
        ),
        (
            "http://127.0.0.1:8",
            "http://127.0.0.1:9/",
            not("http://127.0.0.1:9"),
        ),
        (
            "http://localhost",
            "http://localhost/",
            Ok(Reach::And(Loopback)),
        ),
        ("http://*", "http://a.example/", Ok(Reach::Public)),
        ("http://*", "http://1.1.1.1/", Ok(Reach::Public)),
        (
            "http://*",
            "http://localhost/",
            beyond(Loopback, "http://localhost"),
        ),
        (
            "http://*",
            "http://127.0.0.1/",
            beyond(Loopback, "http://127.0.0.1"),
        ),
        ("http://*", "http://0/", beyond(Reserved, "http://0.0.0.0")),
        (
            "http://*",
            "http://10.1.2.3/",
            beyond(Private, "http://10.1.2.3"),
        ),
        (
            "http://*",
            "http://169.254.169.254/x",
            beyond(LinkLocal, "http://169.254.169.254"),
        ),
        (
            "http://*",
            "http://[::ffff:127.0.0.1]/",
            beyond(Loopback, "http://[::ffff:7f00:1]"),
        ),
        (
            "http://* private",
            "http://127.0.0.1/",
            beyond(Loopback, "http://127.0.0.1"),
        ),
        (
            "http://* private",
            "http://10.1.2.3/",
            Ok(Reach::And(Private)),
        ),
    ] {
        let found = reach_by(
            granted(&[grant]).grants.iter(),
            "GET",
            &Url::parse(url).unwrap(),
            false,
        );
        assert_eq!(found.map(|found| found.reach), expected, "{grant}: {url}");
    }
}

#[test]
fn through_a_proxy_go_only_names_that_are_granted_exactly() {
    let url = Url::parse("https://b.a.example/").unwrap();
    let wanted = Some("https://b.a.example".to_owned());
    for (grants, expected) in [
        (&["https://*"][..], Err(HttpRefusal::Proxy(wanted.clone()))),
        (&["https://*.a.example"], Err(HttpRefusal::Proxy(wanted))),
        (&["https://*", "https://b.a.example"], Ok(Reach::Public)),
    ] {
        let found = reach_by(granted(grants).grants.iter(), "GET", &url, true);
        assert_eq!(found.map(|found| found.reach), expected, "{grants:?}");
    }
}

#[test]
fn the_user_is_asked_for_what_the_plugin_asks_for_and_for_nothing_else() {
    let requested = [
        "GET https://*",
        "https://api.example/v1",
        "http://127.0.0.1:8",
        "POST https://* private",
    ];
    let requested = requested.map(|request| request.parse().unwrap());
    let session = Arc::<SessionGrants>::default();
    let http = granted(&[]).asking(&requested, Arc::clone(&session));
    let askable = |method, url| {
        let url = Url::parse(url).unwrap();
        http.askable(method, &url).map(|grant| grant.to_string())
    };
    for (method, url, expected) in [
        ("GET", "https://a.example/x", Some("GET https://a.example")),
        (
            "POST",
            "https://a.example/x",
            Some("POST https://a.example"),
        ),
        ("POST", "https://10.0.0.1/", None),
        ("POST", "https://[::ffff:a00:1]/", None),
        ("POST", "https://localhost/", None),
        (
            "POST",
            "https://api.example/v1/x",
            Some("https://api.example/v1"),
        ),
        ("GET", "http://127.0.0.1:8/", Some("http://127.0.0.1:8")),
        ("GET", "https://127.0.0.1/", None),
        ("GET", "https://localhost/", None),
        ("GET", "https://10.0.0.1/", None),
        ("GET", "https://169.254.169.254/", None),
        ("GET", "http://a.example/", None),
    ] {
        assert_eq!(askable(method, url).as_deref(), expected, "{method} {url}");
    }
    session.refuse("GET https://a.example".parse().unwrap());
    assert_eq!(askable("GET", "https://a.example/y"), None);
    assert!(askable("GET", "https://b.example/").is_some());
    let url = Url::parse("https://b.example/").unwrap();
    assert!(http.reach("GET", &url, &[]).is_err());
    let once = ["GET https://b.example".parse().unwrap()];
    assert!(http.reach("GET", &url, &once).is_ok());
    session.grant("GET https://b.example".parse().unwrap());
    assert!(http.reach("GET", &url, &[]).is_ok());
    assert!(http.reach("POST", &url, &[]).is_err());
}

/// At whatever port, by whatever method and below whatever path it is asked for next.
#[test]
fn a_no_holds_for_its_host_and_for_no_other() {
    let requested = ["https://*", "http://*:8080", "http://127.0.0.1:8"];
    let requested = requested.map(|request| request.parse().unwrap());
    let session = Arc::<SessionGrants>::default();
    let asking = |grants: &[&str]| granted(grants).asking(&requested, Arc::clone(&session));
    session.refuse("GET https://a.example/v1".parse().unwrap());
    let http = asking(&[]);
    for (url, expected) in [
        ("https://a.example/v1", false),
        ("https://A.example./v2", false),
        ("http://a.example:8080/", false),
        ("https://b.example/v1", true),
        ("https://x.a.example/v1", true),
        ("http://127.0.0.1:8/", true),
    ] {
        let is_asked = http.askable("GET", &Url::parse(url).unwrap()).is_some();
        assert_eq!(is_asked, expected, "{url}");
    }
    // Who grants it after all is heard, by a command or for another call.
    let url = Url::parse("https://a.example/v2").unwrap();
    let once = ["https://a.example".parse().unwrap()];
    assert!(http.reach("GET", &url, &[]).is_err());
    assert!(http.reach("GET", &url, &once).is_ok());
    assert!(
        asking(&["https://a.example"])
            .reach("GET", &url, &[])
            .is_ok()
    );
}

#[tokio::test]
async fn a_response_has_no_secret_in_it_and_is_not_compressed() {
    use http_body_util::BodyExt as _;

    let secret = dormouse_policy::HttpSecret {
        name: "token".to_owned(),
        source: dormouse_policy::SecretSource::Variable("CARGO_MANIFEST_DIR".to_owned()),
        hosts: vec!["a.example".parse().unwrap()],
        placement: dormouse_policy::SecretPlacement::Query("key".to_owned()),
    };
    let secrets = PluginSecrets::new("web", &[secret]);
    let mut url = Url::parse("https://a.example/").unwrap();
    let put = secrets.put_into(&mut url, &mut HeaderMap::new()).await;
    put.unwrap();
    assert!(secrets.goes_any_to(&url));
    let secrets = Arc::new(secrets);
    let mask = || ResponseMask::new(&secrets, &url);
    let text = env!("CARGO_MANIFEST_DIR");
    let encoded = |header: &str, coding: &str| {
        let response = Response::builder().header(header, coding);
        let response = response.header("location", url.as_str());
        response
            .body(reqwest::Body::from(format!("<{text}>")))
            .unwrap()
    };
    let response = |coding| encoded("content-encoding", coding);
    let shown = masked(response("identity"), mask()).unwrap();
    let location = shown.headers()["location"].to_str().unwrap();
    assert_eq!(location.len(), url.as_str().len());
    assert!(
        location.starts_with("https://a.example/?key=***"),
        "{location}"
    );
    let body = shown.collect().await.unwrap().to_bytes();
    assert_eq!(body, format!("<{}>", "*".repeat(text.len())));
    let refused = masked(response("gzip"), mask());
    assert!(matches!(refused, Err(SendError::Compressed)), "{refused:?}");
    for (transfer, is_refused) in [("chunked", false), ("gzip", true), ("gzip, chunked", true)] {
        let masked = masked(encoded("transfer-encoding", transfer), mask());
        let refused = matches!(masked, Err(SendError::Compressed));
        assert_eq!(refused, is_refused, "{transfer}");
    }
    let mut part = response("identity");
    *part.status_mut() = StatusCode::PARTIAL_CONTENT;
    let refused = masked(part, mask());
    assert!(matches!(refused, Err(SendError::Part)), "{refused:?}");
    // The error says nothing of what its host has written there.
    let charset = format!("text/plain; charset={text}");
    let refused = masked(encoded("content-type", &charset), mask()).unwrap_err();
    assert!(matches!(refused, SendError::Charset), "{refused:?}");
    assert!(!refused.to_string().contains(text), "{refused}");
    let none = ResponseMask::new(&Arc::default(), &url);
    let plain = masked(response("gzip"), none).unwrap();
    assert_eq!(plain.headers()["location"], url.as_str());
}

/// The next request on its connection would be taken for a body that does not come.
#[test]
fn a_request_without_a_body_has_no_length() {
    for (length, is_sent) in [("7", false), ("0", true)] {
        let url = Url::parse("http://a.example/").unwrap();
        let mut request = Request::new(Method::POST, url);
        let length = HeaderValue::from_static(length);
        request.headers_mut().insert(CONTENT_LENGTH, length);
        remove_length(&mut request);
        assert_eq!(request.headers().contains_key(CONTENT_LENGTH), is_sent);
    }
}

/// Whoever answers for a name may say that it is at any address.
#[tokio::test]
async fn a_name_is_judged_by_the_address_that_is_connected_to() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = Url::parse(&format!("http://localhost:{port}/")).unwrap();
    let granted = granted(&["http://*"]);
    let request = PluginHttpRequest {
        method: Method::GET,
        url,
        headers: HeaderMap::new(),
        body: http_body_util::Empty::new(),
        open: granted.open().await.unwrap(),
    };
    let refused = granted.send(request, PUBLIC, || false).await.unwrap_err();
    let SendError::Refused(HttpRefusal::OutOfReach { kind, .. }) = refused else {
        panic!("{refused}");
    };
    assert_eq!(kind, AddressKind::Loopback);
    let nobody = tokio::time::timeout(std::time::Duration::from_millis(100), listener.accept());
    assert!(nobody.await.is_err());
}

/// Reach of a request to the internet by a pattern.
const PUBLIC: GrantedReach = GrantedReach {
    reach: Reach::Public,
    is_exact: false,
};

/// In whatever order they are written.
#[test]
fn of_several_grants_the_one_that_reaches_furthest_counts() {
    let url = Url::parse("http://a.example/").unwrap();
    let private = GrantedReach {
        reach: Reach::And(AddressKind::Private),
        is_exact: true,
    };
    for grants in [
        ["http://*", "http://a.example private"],
        ["http://a.example private", "http://*"],
    ] {
        let found = reach_by(granted(&grants).grants.iter(), "GET", &url, false);
        assert_eq!(found, Ok(private), "{grants:?}");
    }
}
