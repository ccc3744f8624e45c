//! Secrets in all forms, and texts that have none.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use serde_json::Value;

use super::patterns::in_form;
use super::*;

fn hidden(secrets: &[&str]) -> HiddenTexts {
    let mut hidden = HiddenTextsBuilder::default();
    secrets.iter().for_each(|secret| hidden.add(secret));
    hidden.build()
}

#[test]
fn base64_that_is_said_again_and_again_takes_linear_time() {
    let secret = "github_pat_aZ9kaZ9kaZ9kaZ9kaZ9k";
    let hidden = hidden(&[secret]);
    let encoded = STANDARD_NO_PAD.encode(secret);
    let input = |times: usize| encoded.repeat(times);
    dormouse_tests::growth::is_linear("Base64", 300, input, |text| {
        assert_eq!(hidden.redact(text), HIDDEN);
        // Of what stands before the part that is shown, nothing is looked at twice either.
        let long = format!("{text} {}", "x".repeat(64));
        assert_eq!(hidden.redact_end(&long, long.len() - 8), "x".repeat(8));
    });
}

#[test]
fn base64_that_is_broken_into_lines_is_found() {
    let secret = format!("github_pat_{}", "aZ9k".repeat(21));
    let hidden = hidden(&[&secret]);
    for (before, width) in [("", 76), ("user:", 64), ("ab", 76), ("", 60), ("x", 48)] {
        let encoded = STANDARD.encode(format!("{before}{secret}"));
        let lines: Vec<&str> = (0..encoded.len())
            .step_by(width)
            .map(|at| &encoded[at..encoded.len().min(at + width)])
            .collect();
        for end in ["\n", "\r\n", "\\n"] {
            let shown = hidden.redact(&lines.join(end));
            // What a last short line has is too little to be of use.
            let left: usize = shown.split(['…', '\r', '\n', '\\']).map(str::len).sum();
            assert!(left <= 24, "{before} {width}: {shown:?}");
        }
    }
}

#[test]
fn lines_that_tell_nothing_and_paths_of_windows_are_no_secrets() {
    let value = "debug=1\ntrue\nproduction\nkey=hunter-two-three\n";
    let mut lines = HiddenTextsBuilder::default();
    lines.add_possible(value);
    let lines = lines.build();
    let honest = "true, debug=1 in production";
    assert_eq!(lines.redact(honest), honest);
    assert_eq!(lines.redact("it was key=hunter-two-three"), "it was …");
    assert_eq!(lines.redact(&format!("<{value}>")), "<…\n>");
    // What is one for sure is hidden line by line.
    let codes = hidden(&["12345678\n/correct/horse\nhunt3r2\n"]);
    let said = "12345678, /correct/horse and hunt3r2";
    assert_eq!(codes.redact(said), "…, … and …");
    let path = hidden(&[r"D:\new\table\readings of the users"]);
    let honest = "able to readings, ew, of the users";
    assert_eq!(path.redact(honest), honest);
    let said = r#"{"in":"D:\\new\\table\\readings of the users"}"#;
    assert_eq!(path.redact_json(said), r#"{"in":"…"}"#);
}

#[test]
fn json_stays_as_it_was_written_where_nothing_is_hidden() {
    let hidden = hidden(&["hunter-two", "8675309"]);
    for (json, shown) in [
        (r#" {"a" : 1.10, "b":[1e999,-0, null]} "#, None),
        (
            r#"{"n":8675309,"m":[86753091]}"#,
            Some(r#"{"n":"…","m":["…1"]}"#),
        ),
        (
            r#"{"a":"\u0068unter-two","b":"\\\""}"#,
            Some(r#"{"a":"…","b":"\\\""}"#),
        ),
        (r#""\ud800""#, Some(r#""…""#)),
        ("[1,", Some("null")),
    ] {
        assert_eq!(hidden.redact_json(json), shown.unwrap_or(json), "{json}");
    }
}

#[test]
fn secrets_are_taken_out() {
    let mut hidden = HiddenTextsBuilder::default();
    hidden.add("abc");
    hidden.add("secret");
    hidden.add("longer-secret");
    hidden.add_credential("Bearer t0ken");
    hidden.add("-----BEGIN\nline-of-key\n");
    hidden.add("a\"b c");
    hidden.add_user("me:p%40ss1");
    hidden.add(&"x".repeat(3000));
    let hidden = hidden.build();
    for (text, shown) in [
        ("abc is too short", "abc is too short"),
        (
            "secret, longer-secret, Bearer t0ken and t0ken",
            "…, …, … and …",
        ),
        ("line-of-key", "…"),
        ("a\"b c, a\\\"b c, a%22b%20c", "…, …, …"),
        ("p%40ss1, p@ss1, Basic bWU6cEBzczE=", "…, …, Basic …"),
    ] {
        assert_eq!(hidden.redact(text), shown);
    }
    assert_eq!(hidden.redact(&format!("a {} b", "x".repeat(3000))), "a … b");
    assert_eq!(hidden.redact_beginning("x longer-secret", 8), "x …");
    assert_eq!(hidden.redact_beginning("x longer-secret", 1), "x");
    assert_eq!(HiddenTextsBuilder::default().build().redact("a b"), "a b");
    for (start, shown) in [(0, "x … y"), (2, "… y"), (9, "… y"), (15, " y"), (16, "y")] {
        assert_eq!(
            hidden.redact_end("x longer-secret y", start),
            shown,
            "{start}"
        );
    }
}

/// A text with the digits of its escapes in small letters, as some write URLs.
fn in_small_letters(percent: &str) -> String {
    let mut parts = percent.split('%');
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at(2);
        text.push_str(&format!("%{}{rest}", digits.to_lowercase()));
    }
    text
}

#[test]
fn a_secret_is_found_however_it_is_written() {
    for secret in [
        "CANARYa/b+c==dEf1",
        "CANARY<x>&\"y'z",
        "CANARYpäß wörd/+ x",
        r"C:\users\dev\x41%41",
        "two words",
    ] {
        let hidden = hidden(&[secret]);
        let json = Value::from(secret).to_string();
        let ascii: String = json
            .chars()
            .map(|letter| match letter.is_ascii() {
                true => letter.to_string(),
                false => format!("\\u{:04X}", u32::from(letter)),
            })
            .collect();
        let percent =
            percent_encoding::utf8_percent_encode(secret, percent_encoding::NON_ALPHANUMERIC);
        let percent = percent.to_string();
        let html = secret
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('"', "&quot;")
            .replace('\'', "&#39;");
        for written in [
            secret.to_owned(),
            json.replace('/', "\\/"),
            json.replace('<', "\\u003c").replace('&', "\\u0026"),
            ascii,
            in_small_letters(&percent),
            percent.replace("%20", "+"),
            percent.replace('%', "%25"),
            Value::from(json.clone()).to_string(),
            Value::from(Value::from(json.clone()).to_string()).to_string(),
            secret.escape_debug().to_string(),
            secret.replace('\\', "\\\\").replace('\'', "\\'"),
            html,
            STANDARD.encode(secret),
            STANDARD.encode(format!("user:{secret}")),
            STANDARD.encode(format!("me:{secret}:more")),
            STANDARD.encode(format!("me:{}", in_form(secret))),
            base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(format!("ab{secret}")),
            Value::from(STANDARD.encode(secret))
                .to_string()
                .replace('/', "\\/"),
        ] {
            let said = format!("before [{written}] after");
            let shown = hidden.redact(&said);
            let rest = shown.replace(['"', '\\', '='], "");
            assert_eq!(rest, "before […] after", "{secret}: {written}");
        }
    }
}

#[test]
fn honest_texts_stay_as_they_are() {
    let hidden = hidden(&["CANARYa/b+c==dEf1", "hunter2hunter2"]);
    for text in [
        r#"{"path": "C:\\users\\new", "pattern": "\\d+%20\u00e9&amp;", "url": "https://e.com/?a=1&b=%2F+c"}"#,
        "100% sure; a+b=c \\o/ &lt;b&gt;",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=",
        "",
    ] {
        assert_eq!(hidden.redact(text), text);
        assert_eq!(
            hidden.redact_json(&Value::from(text).to_string()),
            Value::from(text).to_string()
        );
    }
}

#[test]
fn names_of_json_are_hidden_only_where_they_are_no_words() {
    let hidden = hidden(&["type", "s3cret-one", "12345678"]);
    for (json, shown) in [
        (r#"{"type":"a type"}"#, r#"{"type":"a …"}"#),
        (r#"{"s3cret-one":1}"#, r#"{"…":1}"#),
        (
            r#"[{"a": "s3cret-\u006fne"}, 1.10]"#,
            r#"[{"a": "…"}, 1.10]"#,
        ),
        (r#"{"n":12345678,"m":1}"#, r#"{"n":"…","m":1}"#),
        (r#"{"a": 1.10}"#, r#"{"a": 1.10}"#),
        (r#"{"a": 1e999, "b": "type"}"#, r#"{"a": 1e999, "b": "…"}"#),
    ] {
        assert_eq!(hidden.redact_json(json), shown);
    }
}

#[test]
fn secrets_across_the_windows_of_a_long_text_are_found() {
    let hidden = hidden(&["CANARYa/b+c==dEf1"]);
    for written in ["CANARYa/b+c==dEf1", r"CANARYa\/b%2Bc==dEf1"] {
        for before in WINDOW_BYTES - 30..WINDOW_BYTES + 10 {
            let text = format!("{}é{written}é{}", "x".repeat(before), "y".repeat(100_000));
            let shown = hidden.redact(&text);
            assert!(!shown.contains("dEf1") && !shown.contains("CANARY"));
            assert_eq!(shown.len(), text.len() - written.len() + HIDDEN.len());
        }
    }
}

#[test]
fn many_secrets_are_as_few() {
    let secrets: Vec<_> = (0..10_000).map(|number| format!("s{number:06}")).collect();
    let hidden = hidden(&secrets.iter().map(String::as_str).collect::<Vec<_>>());
    let text = "s000001 and more ".repeat(10_000);
    assert!(hidden.is_complete());
    assert_eq!(hidden.redact(&text), "… and more ".repeat(10_000));
}

#[test]
fn short_secrets_are_found_beside_long_ones_and_too_many_hide_everything() {
    let long = |lines: usize| -> String {
        let lines = (0..lines).map(|line| format!("line{line:06} x y<>x y<>x y<>x y<>\n"));
        lines.collect()
    };
    let both = hidden(&[&long(8000), "CANARYztok12345"]);
    assert!(both.is_complete());
    assert_eq!(both.redact("token is CANARYztok12345"), "token is …");
    assert_eq!(both.redact("line000007 x y<>x y<>x y<>x y<>"), "…");
    let too_many = hidden(&[&long(50_000), "CANARYztok12345"]);
    assert!(!too_many.is_complete());
    assert_eq!(too_many.redact("anything"), HIDDEN);
}

#[test]
fn texts_are_searched_in_linear_time() {
    let mut hidden = HiddenTextsBuilder::default();
    // Secrets that begin alike, and one that is found late.
    for length in 1..200 {
        hidden.add(&"aé".repeat(length));
        hidden.add(&format!("{}b", "a".repeat(length)));
    }
    hidden.add(&format!("{}c", "a".repeat(MAX_PIECE_BYTES)));
    let hidden = hidden.build();
    for part in [
        "aé", "a", "ab", "x", "\"", "\\", "%", "%25", "\\u00", "\\ud83d", "&#", "+",
    ] {
        let text = |size: usize| part.repeat(size);
        dormouse_tests::growth::is_linear(part, 5_000, text, |text: &String| {
            std::hint::black_box(hidden.redact(text));
            let json = Value::from(vec![text.as_str(); 2]).to_string();
            std::hint::black_box(hidden.redact_json(&json));
        });
    }
    let members = |size: usize| {
        let members = (0..size).map(|number| format!("\"m{number}ab\":\"aaaab\""));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    };
    dormouse_tests::growth::is_linear("members", 1_000, members, |text: &String| {
        std::hint::black_box(hidden.redact_json(text));
    });
}

#[test]
fn secrets_are_gathered_in_linear_time() {
    let secrets = |size: usize| (0..size).map(|number| format!("s\n{number}é{number}"));
    let secrets = |size: usize| secrets(size).collect::<Vec<_>>();
    dormouse_tests::growth::is_linear("secrets", 100, secrets, |secrets: &Vec<String>| {
        let mut hidden = HiddenTextsBuilder::default();
        secrets.iter().for_each(|secret| hidden.add(secret));
        std::hint::black_box(hidden.build());
    });
}

#[test]
fn a_long_secret_takes_memory_in_proportion_to_its_length() {
    let mut hidden = HiddenTextsBuilder::default();
    hidden.add(&"[]'\"x://me:pass@e.com/x?key=pass".repeat(300));
    let bytes = hidden.secrets.keys().map(String::len).sum::<usize>();
    let memory = hidden.build().automaton.unwrap().memory_usage();
    assert!(memory < 64 * bytes, "{memory} bytes for {bytes}");
}
