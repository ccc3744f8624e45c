//! Answers that are edited.

use serde_json::json;

use super::*;

fn read(text: &str) -> Answer {
    Answer::read(text.to_owned()).unwrap()
}

#[test]
fn nothing_but_the_member_itself_changes() {
    let odd = r#"{ "a" : 1.10, "kind":"x","b":[-0.0 , 1E5], "a": 12345678901234567890123 }"#;
    let mut answer = read(odd);
    assert_eq!(answer.get("kind").as_deref(), Some(&json!("x")));
    assert_eq!(answer.size(), odd.len() as u64);
    answer.remove("nothing");
    assert_eq!(answer, read(odd));
    answer.remove("kind");
    answer.edit(&Edit {
        first: Some(("kind", json!("y"))),
        defaults: vec![("a", json!("z")), ("ttl", json!(0))],
        within: None,
    });
    assert_eq!(
        answer.into_text(),
        r#"{"kind":"y", "a" : 1.10,"b":[-0.0 , 1E5], "a": 12345678901234567890123 ,"ttl":0}"#
    );
}

#[test]
fn members_are_kept_by_their_names() {
    let text = r#"{ "a":1.10,"\u006bind":{"a":1},"Kind" :2, "b":[] }"#;
    let value = serde_json::from_str(text).unwrap();
    for mut answer in [read(text), Answer::Made(value)] {
        let whole = answer.clone();
        answer.retain(|_| true);
        assert_eq!(answer, whole);
        answer.retain(|name| !name.eq_ignore_ascii_case("kind"));
        let left = answer.into_value().unwrap();
        assert_eq!(left, json!({ "a": 1.1, "b": [] }));
    }
}

#[test]
fn members_go_and_come_wherever_they_are() {
    for (object, left) in [
        (r#"{"k":1}"#, "{}"),
        (r#"{ "k":1 }"#, "{}"),
        (r#"{"k":1,"a":2}"#, r#"{"a":2}"#),
        (r#"{"a":2, "k":1}"#, r#"{"a":2}"#),
        (r#"{"k":1,"a":2,"k":3}"#, r#"{"a":2}"#),
        (r#"{"\u006b":{"k":1},"a":{"k":2}}"#, r#"{"a":{"k":2}}"#),
    ] {
        let mut answer = read(object);
        answer.remove("k");
        assert_eq!(answer.clone().into_text(), left);
        for edit in [
            Edit {
                first: Some(("k", json!("}"))),
                ..Edit::default()
            },
            Edit {
                defaults: vec![("k", json!("}"))],
                ..Edit::default()
            },
        ] {
            let mut answer = answer.clone();
            answer.edit(&edit);
            assert_eq!(answer.get("k").as_deref(), Some(&json!("}")), "{answer:?}");
        }
    }
}

#[test]
fn members_come_into_members() {
    let edit = Edit {
        first: Some(("f", json!(0))),
        defaults: vec![("d", json!(1))],
        within: Some(("m", "k", "2")),
    };
    for (object, expected) in [
        ("{}", r#"{"f":0,"d":1,"m":{"k":2}}"#),
        (" { } ", r#" {"f":0,"d":1,"m":{"k":2}} "#),
        (r#"{"a":1.10}"#, r#"{"f":0,"a":1.10,"d":1,"m":{"k":2}}"#),
        (
            r#"{"m":{},"a":1.0}"#,
            r#"{"f":0,"m":{"k":2},"a":1.0,"d":1}"#,
        ),
        (
            r#"{"d": 7, "m" : { "a":"}" } }"#,
            r#"{"f":0,"d": 7, "m" : { "a":"}" ,"k":2} }"#,
        ),
        // One that is there stays, and what has no place for one.
        (r#"{"m":{"\u006b":1}}"#, r#"{"f":0,"m":{"\u006b":1},"d":1}"#),
        (r#"{"m":null}"#, r#"{"f":0,"m":null,"d":1}"#),
        (
            r#"{"m":{"k":1},"m":{}}"#,
            r#"{"f":0,"m":{"k":1},"m":{"k":2},"d":1}"#,
        ),
    ] {
        let mut answer = read(object);
        answer.edit(&edit);
        let value = answer.to_value().unwrap().into_owned();
        assert_eq!(answer.into_text(), expected);
        // The same as in a value, but for the order of what is there twice.
        let mut made = Answer::Made(serde_json::from_str(object).unwrap());
        made.edit(&edit);
        assert_eq!(made.into_value().unwrap(), value);
    }
}

#[test]
fn texts_come_behind_the_content() {
    let block = r#"{"type":"text","text":"a \"b\""}"#;
    for (object, expected) in [
        ("{}", format!(r#"{{"content":[{block}]}}"#)),
        (
            r#"{"content": [ ] ,"x":1.10}"#,
            format!(r#"{{"content": [ {block}] ,"x":1.10}}"#),
        ),
        (
            r#"{"content":[{"x":1.10}]}"#,
            format!(r#"{{"content":[{{"x":1.10}},{block}]}}"#),
        ),
        (r#"{"content":null}"#, r#"{"content":null}"#.to_owned()),
    ] {
        let mut answer = read(object);
        answer.push_text("a \"b\"");
        assert_eq!(answer.into_text(), expected);
    }
    let mut made = Answer::Made(json!({ "content": [1] }));
    made.push_text("a");
    let expected = json!({ "content": [1, { "type": "text", "text": "a" }] });
    assert_eq!(made.into_value().unwrap(), expected);
}

#[test]
fn an_answer_is_an_object() {
    for bad in ["", "[]", "1", "\"{}\"", "{\"a\":01}", "{} {}"] {
        assert!(Answer::read(bad.to_owned()).is_err(), "{bad}");
    }
}

#[test]
fn an_answer_has_no_number_that_a_client_cannot_read() {
    let long = "7".repeat(1001);
    for number in ["1e400", "-1e999", &long] {
        for text in [
            format!(r#"{{"structuredContent":{{"a":{number}}}}}"#),
            format!(r#"{{"content":[],"_meta":{{"a":[{number}]}}}}"#),
        ] {
            assert!(Answer::read(text.clone()).is_err(), "{text}");
        }
    }
    for fine in [r#"{"a":1.10e300}"#, r#"{"a":"1e999"}"#] {
        assert_eq!(read(fine).into_text(), fine);
    }
}
