//! Fuzz target: grants of requests over HTTP, and the URLs that they are held against.

#![allow(
    clippy::expect_used,
    reason = "what does not hold has to end the run, with the input that has shown it"
)]

use percent_encoding::percent_decode_str;
use url::Url;

use crate::{HttpGrant, SecretHost, bare_host, grant_of_origin};

/// Grants and URLs: the first line is a grant, the second a host of a secret, the third a method, the
/// rest a URL. What is read is written as it is read again, and what is allowed is at the very host
/// that is granted, as those see it who send the request.
pub fn grants(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.splitn(4, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let (grant, secret_host, method, url) = (line(), line(), line(), line());
    let url = Url::parse(url.trim()).ok();
    if let Ok(host) = secret_host.parse::<SecretHost>() {
        assert_eq!(host.to_string().parse().as_ref(), Ok(&host), "{host}");
        if let Some(url) = url.as_ref().filter(|url| host.is_host_of(url)) {
            let is_here = ["127.0.0.1", "[::1]", "localhost"].contains(&bare_host(url).as_str());
            assert!(url.scheme() == "https" || is_here, "{host} {url}");
        }
    }
    if let Some(url) = &url
        && let Some(of_origin) = grant_of_origin(url)
    {
        assert!(
            of_origin.is_exact() && of_origin.allows("GET", url),
            "{url}"
        );
    }
    let Ok(grant) = grant.parse::<HttpGrant>() else {
        return;
    };
    let written = grant.to_string();
    assert_eq!(written.parse().as_ref(), Ok(&grant), "{written}");
    assert!(grant.is_within(std::slice::from_ref(&grant)), "{written}");
    let words = grant.in_words();
    assert!(
        words.bytes().all(|byte| matches!(byte, b' '..=b'~')),
        "{words}"
    );
    if let Some(url) = url.filter(|url| grant.allows(method, url)) {
        is_at_host(&grant, method, &url);
    }
}

/// Checks that a URL which a grant allows is what the grant says.
fn is_at_host(grant: &HttpGrant, method: &str, url: &Url) {
    let narrowed = grant.narrowed_to(url);
    assert!(
        narrowed.is_exact() && narrowed.allows(method, url),
        "{grant} {url}"
    );
    assert!(
        narrowed.is_within(std::slice::from_ref(grant)),
        "{grant} {url}"
    );
    let written = narrowed.to_string();
    let place = written.split(' ').find(|word| word.contains("://"));
    let place = place.and_then(|place| Url::parse(place).ok());
    let place = place.expect("a grant of one host has a URL");
    let host = |url: &Url| {
        url.host_str()
            .map(|host| host.trim_end_matches('.').to_owned())
    };
    assert_eq!(host(&place), host(url), "{grant} {url}");
    assert_eq!(place.scheme(), url.scheme(), "{grant} {url}");
    let port = Url::port_or_known_default;
    assert_eq!(port(&place), port(url), "{grant} {url}");
    // Whoever takes escapes for what they say gets no further up either.
    if place.path() != "/" {
        let below = url.path().strip_prefix(place.path());
        let below = below.expect("its path begins as the granted one");
        let below = percent_decode_str(below).decode_utf8();
        let below = below.expect("its path is text").replace('\\', "/");
        assert!(below.split('/').all(|part| part != ".."), "{grant} {url}");
    }
}

#[cfg(test)]
mod tests {
    dormouse_tests::fuzz_loops! { grants }
}
