use dormouse_tests::growth::is_linear;
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;

const ANY: usize = usize::MAX;

fn edited(text: &str, edit: impl FnOnce(&mut Object<'_>)) -> String {
    let mut object = Object::parse(text, ANY).unwrap();
    edit(&mut object);
    object.into_text().into_owned()
}

#[test]
fn members_are_read_as_they_are_written() {
    let text = " { \"a\" : 1.10, \"\\u0062\":[1, {\"a\":2}] ,\"a\":\"x\\\"\" } ";
    let object = Object::parse(text, 3).unwrap();
    let found: Vec<_> = object.iter().map(|one| (&*one.name, &*one.value)).collect();
    assert_eq!(
        found,
        [("a", "1.10"), ("b", "[1, {\"a\":2}]"), ("a", "\"x\\\"\"")]
    );
    assert_eq!(object.get("a"), Some("\"x\\\"\""));
    assert_eq!(object.string("a").as_deref(), Some("x\""));
    assert_eq!(object.get("c"), None);
    assert_eq!(object.into_text(), text);
    assert_eq!(member(text, "b"), Some("[1, {\"a\":2}]"));
    // What no type here can hold is JSON all the same.
    assert_eq!(member("{\"\\ud800\": 1e999}", "\\ud800"), Some("1e999"));
    for bad in ["", "[]", "1", "{\"a\":}", "{} x", "{\"a\":1"] {
        assert!(Object::parse(bad, ANY).is_err(), "{bad}");
    }
}

#[test]
fn members_are_found_however_their_names_are_written() {
    for text in [
        r#"{"isError":1}"#,
        r#"{"\u0069sError":1}"#,
        r#"{"is\u0045rro\u0072":1}"#,
    ] {
        assert_eq!(member(text, "isError"), Some("1"), "{text}");
    }
    assert_eq!(member(r#"{"a\/b":1}"#, "a/b"), Some("1"));
    assert_eq!(member(r#"{"a":"isError \u0041"}"#, "isError"), None);
    assert_eq!(member(r#"{"a":1}"#, "isError"), None);
}

#[test]
fn members_have_a_limit() {
    let error = Object::parse(r#"{"a":1,"b":2,"c":3}"#, 2).unwrap_err();
    assert!(matches!(error, ObjectError::TooManyMembers { limit: 2 }));
    assert_eq!(error.to_string(), "it has more than 2 members");
    let error = Object::parse(r#"{"a":1,"b":"#, 2).unwrap_err();
    assert!(matches!(error, ObjectError::NoObject(_)), "{error}");
}

#[test]
fn what_is_not_edited_stays_as_it_is() {
    for (before, after) in [
        ("{}", r#"{"f":0,"k":7,"l":8}"#),
        (" { } ", r#" {"f":0,"k":7,"l":8} "#),
        (r#"{ "a" : 1.10 }"#, r#"{"f":0, "a" : 1.10 ,"k":7,"l":8}"#),
        (
            "{\"k\" :\t1e999 ,\"a\":-0.0}",
            "{\"f\":0,\"k\" :\t7 ,\"a\":-0.0,\"l\":8}",
        ),
        (r#"{"l":0,"l":1}"#, r#"{"f":0,"l":0,"l":8,"k":7}"#),
    ] {
        let text = edited(before, |object| {
            object.set("k", "7");
            object.set_first("f", "0");
            object.set("l", "8");
        });
        assert_eq!(text, after, "{before}");
    }
    for (before, after) in [
        (r#"{"k":1}"#, "{}"),
        (r#"{"k":1,"a":2}"#, r#"{"a":2}"#),
        (r#"{"a":2, "k":1}"#, r#"{"a":2}"#),
        (r#"{"k":1,"a":2,"k":3}"#, r#"{"a":2}"#),
        (r#"{"\u006b":{"k":1},"a":{"k":2}}"#, r#"{"a":{"k":2}}"#),
        (r#"{"a" : 1}"#, r#"{"a" : 1}"#),
    ] {
        let text = edited(before, |object| {
            assert_eq!(object.remove("k"), before != after);
        });
        assert_eq!(text, after, "{before}");
    }
}

#[test]
fn members_go_into_members() {
    for (before, extended) in [
        ("{}", r#"{"m":{"k":2}}"#),
        (r#"{"m":{"k":1,"a":1.10}}"#, r#"{"m":{"k":2,"a":1.10}}"#),
        (r#"{"m":null}"#, r#"{"m":{"k":2}}"#),
    ] {
        let by = [("k", "2".to_owned())];
        let text = edited(before, |object| object.extend("m", by).unwrap());
        assert_eq!(text, extended);
    }
    let mut object = Object::parse(r#"{"m":{"a":1,"b":2}}"#, 1).unwrap();
    assert!(object.extend("m", []).is_err());
}

#[test]
fn the_last_of_several_is_kept() {
    let last = |text| {
        edited(text, |object| {
            object.keep_last();
        })
    };
    assert_eq!(last(r#"{"a":1, "b":2,"a":3}"#), r#"{ "b":2,"a":3}"#);
    assert_eq!(last(r#"{"a":1, "b":2}"#), r#"{"a":1, "b":2}"#);
}

fn many(members: usize) -> String {
    let members = (0..members).map(|number| format!("\"m{number}\":{number}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn alike(members: usize) -> String {
    format!("{{{}}}", vec!["\"k\":1"; members].join(","))
}

#[test]
fn reading_and_editing_take_linear_time() {
    for (what, text) in [
        ("other names", many as fn(usize) -> String),
        ("one name", alike),
    ] {
        is_linear(what, 5_000, text, |text| {
            let mut object = Object::parse(text, ANY).unwrap();
            let names: Vec<_> = object.iter().map(|member| member.name.clone()).collect();
            for name in &names {
                object.set(name, "null");
            }
            for (index, name) in names.iter().enumerate() {
                object.set_first("f", "0");
                object.set(&format!("new{index}"), "1");
                if index % 2 == 0 {
                    object.remove(name);
                }
            }
            let _ = object.into_text();
        });
    }
    is_linear("nested members", 5_000, many, |text| {
        let outer = format!("{{\"_meta\":{text}}}");
        let mut object = Object::parse(&outer, ANY).unwrap();
        let by: Vec<_> = (0..text.matches(',').count())
            .map(|number| format!("x{number}"))
            .collect();
        let by = by.iter().map(|name| (name.as_str(), "1".to_owned()));
        object.extend("_meta", by).unwrap();
        let _ = object.into_text();
    });
}

proptest! {
    /// The same as with a map of values, whatever comes.
    #[test]
    fn edits_are_those_of_a_map(
        names in proptest::collection::vec("[a-e]{1,2}", 0..40),
        edits in proptest::collection::vec(("[a-e]{1,2}", any::<bool>()), 0..40),
    ) {
        let members = names.iter().enumerate();
        let members: Vec<_> = members.map(|(value, name)| format!(" \"{name}\": {value} ")).collect();
        let text = format!("{{{}}}", members.join(","));
        let mut map: Map<String, Value> = serde_json::from_str(&text).unwrap();
        let mut object = Object::parse(&text, ANY).unwrap();
        for (index, (name, is_set)) in edits.iter().enumerate() {
            if *is_set {
                object.set(name, index.to_string());
                map.insert(name.clone(), index.into());
            } else {
                prop_assert_eq!(object.remove(name), map.shift_remove(name).is_some());
            }
            let now = object.get(name).map(str::to_owned);
            prop_assert_eq!(now, map.get(name).map(ToString::to_string));
        }
        let edited: Map<String, Value> = serde_json::from_str(&object.into_text()).unwrap();
        prop_assert_eq!(edited, map);
    }
}
