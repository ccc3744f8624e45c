//! Fuzz targets of the guard, and of the ids that clients come back with.

#![allow(
    clippy::expect_used,
    reason = "what does not hold has to end the run, with the input that has shown it"
)]

use std::net::IpAddr;

use hyper::header::{HOST, HeaderValue, ORIGIN};
use hyper::{HeaderMap, Uri};
use url::Url;

use super::guard::RequestGuard;
use super::sessions::EventId;
use crate::fuzz::{first_line, text};

/// Heads of requests: every admitted client comes, as browsers read the head, from this machine or
/// from an allowed place. The lines are `Host`, `Origin` and the request's address.
pub fn guard(data: &[u8]) {
    const LOCAL: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 168, 1, 7));
    let text = text(data);
    let (host, rest) = first_line(&text);
    let (origin, uri) = first_line(rest);
    let mut headers = HeaderMap::new();
    for (name, value) in [(HOST, host), (ORIGIN, origin)] {
        if let (false, Ok(value)) = (value.is_empty(), HeaderValue::from_str(value)) {
            headers.insert(name, value);
        }
    }
    let Ok(uri) = uri.parse::<Uri>().or_else(|_| "/mcp".parse::<Uri>()) else {
        return;
    };
    let guard = RequestGuard {
        hosts: vec!["mcp.example".parse().expect("it is written here")],
        origins: vec!["https://app.example".parse().expect("it is written here")],
        token: None,
    };
    if guard.place(LOCAL, &uri, &headers).is_err() {
        return;
    }
    let served = |url: &Url| match url.host_str() {
        Some("localhost" | "mcp.example" | "192.168.1.7") => true,
        Some(host) => {
            let host = host.trim_matches(['[', ']']).parse::<IpAddr>();
            let host = host.map(|host| host.to_canonical());
            host.is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified() || ip == LOCAL)
        }
        None => false,
    };
    assert!(headers.contains_key(HOST));
    let named = uri.authority().map_or(host, |authority| authority.as_str());
    for name in [host, named] {
        if let Ok(url) = Url::parse(&format!("http://{name}/")) {
            assert!(served(&url), "`{name}` is served");
            assert_eq!((url.username(), url.password()), ("", None));
        }
    }
    if !headers.contains_key(ORIGIN) {
        return;
    }
    let page = Url::parse(origin).expect("an origin that is let in is a URL");
    let page = page.origin();
    let is_allowed = page.ascii_serialization() == "https://app.example";
    let ours = Url::parse(&format!("{}://{named}/", scheme(origin)));
    assert!(
        is_allowed || ours.is_ok_and(|ours| ours.origin() == page),
        "`{origin}` is let in to `{named}`"
    );
}

/// Ids of events: what is read is what is written, and no count of events goes over it.
pub fn event_ids(data: &[u8]) {
    let text = text(data);
    let Ok(id) = text.parse::<EventId>() else {
        return;
    };
    assert!(id.index <= EventId::MAX_INDEX);
    assert_eq!(id.to_string().parse(), Ok(id));
}

fn scheme(origin: &str) -> &str {
    origin.split_once("://").map_or("", |(scheme, _)| scheme)
}
