use super::*;

const PLACEHOLDER: &str = "dormouse-placeholder-1";

fn headers(of: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in of {
        headers.append(*name, value.parse().unwrap());
    }
    headers
}

fn written(headers: &HeaderMap) -> Vec<(String, String)> {
    let all = headers.iter();
    let all = all.map(|(name, value)| {
        let value = String::from_utf8(value.as_bytes().to_vec()).unwrap();
        (name.to_string(), value)
    });
    all.collect()
}

#[test]
fn a_header_stands_in_place_of_those_of_the_plugin() {
    let mut all = headers(&[("x-key", "mine"), ("x-key", "again"), ("accept", "*/*")]);
    set_header(&mut all, "X-Key", "s3cret ü").unwrap();
    assert_eq!(all.get_all("x-key").iter().count(), 1);
    assert_eq!(all["x-key"].as_bytes(), "s3cret ü".as_bytes());
    assert!(all["x-key"].is_sensitive());
    assert!(!format!("{all:?}").contains("s3cret"), "{all:?}");
    assert_eq!(all["accept"], "*/*");
    for text in ["two\nlines", "a\r", "\0", "\u{7f}"] {
        let wrong = set_header(&mut all, "x-key", text).unwrap_err();
        assert!(wrong.why.contains("control character"), "{wrong:?}");
    }
    assert!(set_header(&mut all, "no header", "x").is_err());
}

#[test]
fn a_parameter_stands_in_place_of_those_of_the_plugin() {
    for (url, expected) in [
        ("https://a.example", "https://a.example/?key=s3%20%26%2B"),
        (
            "https://a.example/x?",
            "https://a.example/x?key=s3%20%26%2B",
        ),
        (
            "https://a.example/?a=%2f+b&key=mine&c&k%65y=x&key",
            "https://a.example/?a=%2f+b&c&key=s3%20%26%2B",
        ),
        (
            "https://a.example/?keys=1#part",
            "https://a.example/?keys=1&key=s3%20%26%2B#part",
        ),
    ] {
        let mut url = Url::parse(url).unwrap();
        set_parameter(&mut url, "key", "s3 &+");
        assert_eq!(url.as_str(), expected);
    }
    let mut url = Url::parse("https://a.example").unwrap();
    set_parameter(&mut url, "a&b", "x");
    assert_eq!(url.query(), Some("a%26b=x"));
}

#[test]
fn a_placeholder_is_replaced_in_its_header_alone() {
    let encoded = |text: &str| STANDARD.encode(text);
    let basic = |text: &str| format!("Basic {}", encoded(text));
    let own = basic(&format!("me:{PLACEHOLDER}"));
    for (name, value, expected) in [
        ("authorization", PLACEHOLDER, Some("s3cret".to_owned())),
        (
            "authorization",
            &format!("token {PLACEHOLDER}"),
            Some("token s3cret".to_owned()),
        ),
        (
            "authorization",
            &format!("{PLACEHOLDER}, {PLACEHOLDER};"),
            Some("s3cret, s3cret;".to_owned()),
        ),
        ("authorization", &own, Some(basic("me:s3cret"))),
        ("authorization", &own.to_lowercase()[..5], None),
        ("authorization", "Bearer another", None),
        ("authorization", &basic("me:another"), None),
        ("authorization", "Basic %%%", None),
        ("x-other", PLACEHOLDER, None),
        ("x-other", &own, None),
    ] {
        let mut all = headers(&[(name, value), (name, "second")]);
        let has = has_placeholder(&all, "Authorization", PLACEHOLDER);
        assert_eq!(has, expected.is_some(), "{name}: {value}");
        replace_placeholder(&mut all, "Authorization", PLACEHOLDER, "s3cret").unwrap();
        let value = expected.clone().unwrap_or_else(|| value.to_owned());
        let expected_all = [(name, value.as_str()), (name, "second")];
        let expected_all = expected_all.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(written(&all), expected_all);
        assert_eq!(all[name].is_sensitive(), expected.is_some(), "{name}");
    }
    let mut all = headers(&[("authorization", PLACEHOLDER)]);
    assert!(replace_placeholder(&mut all, "authorization", PLACEHOLDER, "a\nb").is_err());
}
