//! Fuzz targets: secrets that are put into requests, and hidden in responses.

#![allow(
    clippy::expect_used,
    reason = "what does not hold has to end the run, with the input that has shown it"
)]

use http::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderValue};
use url::Url;

use super::kept_tail::Separators;
use super::masker::{Mask, Masker};
use super::pattern::Pattern;
use super::placement::{
    basic_credentials, has_placeholder, replace_placeholder, set_header, set_parameter,
};

/// A placeholder as plugins see it.
const PLACEHOLDER: &str = "dormouse-placeholder-0123456789abcdef0123456789abcdef";

/// Text that stands for the placeholder in inputs.
const PLACE: &str = "{}";

/// Secrets in requests: the first line is a secret, the second a query, the rest the value of a header,
/// with `{}` for the placeholder. It stands in the named header and parameter, and nowhere else.
pub fn placeholders(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.splitn(3, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let (secret, query, value) = (line(), line(), line());
    in_parameter(secret, query);
    let Ok(value) = HeaderValue::from_str(&value.replace(PLACE, PLACEHOLDER)) else {
        return;
    };
    let mut headers = HeaderMap::new();
    for name in [AUTHORIZATION, COOKIE] {
        headers.append(name.clone(), value.clone());
        headers.append(name, HeaderValue::from_static("other"));
    }
    let before = headers.clone();
    let is_there = has_placeholder(&headers, "Authorization", PLACEHOLDER);
    let replaced = replace_placeholder(&mut headers, "Authorization", PLACEHOLDER, secret);
    let all =
        |headers: &HeaderMap, name| -> Vec<_> { headers.get_all(name).iter().cloned().collect() };
    assert_eq!(all(&headers, COOKIE), all(&before, COOKIE));
    assert_eq!(headers.len(), before.len());
    if replaced.is_err() || !is_there {
        assert_eq!(headers, before);
        return;
    }
    let [first, second] = &all(&headers, AUTHORIZATION)[..] else {
        unreachable!("there are two");
    };
    assert_eq!(second, "other");
    assert!(first.is_sensitive());
    let written = value.to_str().expect("it has a placeholder, which is text");
    let expected = match written.contains(PLACEHOLDER) {
        true => written.replace(PLACEHOLDER, secret),
        false => basic_credentials(written)
            .expect("the placeholder is in credentials")
            .replace(PLACEHOLDER, secret),
    };
    let sent = String::from_utf8_lossy(first.as_bytes());
    let decoded = basic_credentials(&sent);
    assert!(
        sent == expected || decoded.as_ref() == Some(&expected),
        "{sent:?}"
    );
}

fn in_parameter(secret: &str, query: &str) {
    let mut headers = HeaderMap::new();
    if set_header(&mut headers, "x-key", secret).is_ok() {
        let set: Vec<_> = headers.iter().map(|(_, value)| value.as_bytes()).collect();
        assert_eq!(set, [secret.as_bytes()]);
    }
    let mut url = Url::parse("https://api.example:8443/a/b").expect("it is one");
    url.set_query(Some(query));
    let others = |url: &Url| -> Vec<_> {
        let pairs = url.query_pairs().into_owned();
        pairs.filter(|(name, _)| name != "key").collect()
    };
    let before = url.clone();
    set_parameter(&mut url, "key", secret);
    assert_eq!(others(&url), others(&before), "{before}");
    let own: Vec<_> = url
        .query_pairs()
        .filter(|(name, _)| name == "key")
        .collect();
    assert_eq!(own.len(), 1, "{url}");
    assert!(own.iter().all(|(_, value)| value == secret), "{url}");
    let place = |url: &Url| (url.origin(), url.path().to_owned());
    assert_eq!(place(&url), place(&before));
    assert_eq!(Url::parse(url.as_str()).as_ref(), Ok(&url));
}

/// Secrets in responses: the first line is one, the second another, the third says how the body is cut,
/// the rest is the body. However it is cut, the same is hidden, and no more than is known; and what is
/// given out of it when is the same for other secrets.
pub fn masked_bodies(data: &[u8]) {
    let mut lines = data.splitn(4, |byte| *byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let secrets = [line(), line()].map(|line| String::from_utf8_lossy(line).into_owned());
    let (cuts, body) = (line(), line());
    let patterns: Vec<_> = secrets.iter().filter_map(Pattern::new).collect();
    let mask = Mask::new(patterns);
    let whole = mask.hidden_in(body);
    let is_changed = whole.is_some();
    let whole = whole.unwrap_or_else(|| body.to_vec());
    let others = secrets.iter().map(|text| unlike(text));
    let others = others.filter_map(|text| Pattern::new(&text)).collect();
    let mut of_others = Masker::new(Mask::new(others));
    let mut masker = Masker::new(mask);
    let (mut rest, mut shown) = (body, Vec::new());
    for cut in cuts
        .iter()
        .cycle()
        .take(if cuts.is_empty() { 0 } else { 1 << 10 })
    {
        let (piece, after) = rest.split_at(usize::from(*cut).min(rest.len()));
        let now = masker.push(piece);
        assert_eq!(now.len(), of_others.push(piece).len());
        shown.extend_from_slice(&now);
        rest = after;
    }
    shown.extend_from_slice(&masker.push(rest));
    shown.extend_from_slice(&masker.finish());
    assert_eq!(shown, whole);
    assert_eq!(shown.len(), body.len());
    let has = |bytes: &[u8], text: &str| {
        let mut windows = bytes.windows(text.len().max(1));
        !text.is_empty() && windows.any(|window| window == text.as_bytes())
    };
    for secret in secrets.iter().filter(|secret| !secret.contains('*')) {
        assert!(!has(&shown, secret), "{secret:?}");
    }
    let is_hidden = secrets.iter().any(|secret| has(body, secret));
    // With escapes it may be there in other letters.
    let has_escape = body.iter().any(|byte| br"\%&".contains(byte));
    assert!(is_hidden || !is_changed || has_escape);
    let mut pairs = shown.iter().zip(body);
    assert!(pairs.all(|(shown, byte)| shown == byte || *shown == b'*'));
}

/// Returns a text that has nothing of another but its length and its separators.
fn unlike(text: &str) -> String {
    let letters = text.bytes().map(|byte| match byte {
        byte if Separators::OfWords.has(byte) => char::from(byte),
        _ => '~',
    });
    letters.collect()
}
