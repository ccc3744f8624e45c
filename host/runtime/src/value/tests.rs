//! A type's schema accepts exactly the JSON that converts, and conversion has one canonical form.

mod strategies;

use dormouse_wit::{Case, Field, Function, Type, VariantCase};
use proptest::prelude::*;
use serde_json::{Value, json};
use wasmtime::component::Val;

use self::strategies::{a_type, a_value};
use super::decode::{arguments, decode, drop_nulls};
use super::encode::encode;
use super::json_size::json_size;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn what_the_schema_accepts_is_what_converts(
        (ty, value) in a_type().prop_flat_map(|ty| { let value = a_value(&ty); (Just(ty), value) })
    ) {
        let schema = dormouse_wit::schema::schema(&ty);
        let accepted = jsonschema::draft202012::is_valid(&schema, &value);
        let decoded = decode(&ty, &value);
        prop_assert_eq!(accepted, decoded.is_ok(), "{:?} {} {:?} {}", ty, value, decoded, schema);
        if let Ok(decoded) = decoded {
            let canonical = encode(&ty, decoded);
            let again = decode(&ty, &canonical);
            prop_assert!(again.is_ok(), "{:?} {} {:?}", ty, canonical, again);
            prop_assert_eq!(encode(&ty, again.unwrap()), canonical);
        }
    }
}

#[test]
fn bytes_are_canonical_base64() {
    for (text, good) in [
        ("", true),
        ("AQI=", true),
        ("AQI", false),
        ("AQJ=", false),
        ("!", false),
    ] {
        let decoded = decode(&Type::Bytes, &json!(text));
        assert_eq!(decoded.is_ok(), good, "{text}: {decoded:?}");
        if let Ok(value) = decoded {
            assert_eq!(encode(&Type::Bytes, value), json!(text));
        }
    }
}

#[test]
fn a_mismatch_says_where() {
    let ty = Type::List(Box::new(Type::Record(vec![Field {
        wit: "a".into(),
        json: "a/b".into(),
        ty: Type::U8,
        default: None,
    }])));
    let error = decode(&ty, &json!([{ "a/b": 1 }, { "a/b": 256 }])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`/1/a~1b`: `256` is out of the range of u8"
    );
}

#[test]
fn floats_that_json_has_no_number_for_are_null() {
    use wasmtime::component::Val;
    assert_eq!(encode(&Type::F64, Val::Float64(f64::NAN)), Value::Null);
    assert_eq!(encode(&Type::F32, Val::Float32(f32::INFINITY)), Value::Null);
    assert_eq!(encode(&Type::F32, Val::Float32(0.1)), json!(0.1));
    assert_eq!(encode(&Type::F64, Val::Float64(5.0)), json!(5));
}

#[test]
fn hints_that_are_none_are_left_out() {
    use wasmtime::component::Val;

    use super::tool_result;

    let some = |value: Val| Val::Option(Some(Box::new(value)));
    let result = |priority: f64, when: &str| {
        let hints = Val::Record(vec![
            ("audience".into(), Val::List(vec![])),
            ("priority".into(), some(Val::Float64(priority))),
            ("last-modified".into(), some(Val::String(when.to_owned()))),
        ]);
        let text = Val::Record(vec![
            ("text".into(), Val::String("hi".to_owned())),
            ("annotations".into(), some(hints)),
        ]);
        let block = Val::Variant("text".into(), Some(Box::new(text)));
        let result = tool_result("here", Some(&Type::Contents), Some(Val::List(vec![block])));
        assert_eq!(result["content"][0]["text"], "hi");
        result["content"][0]["annotations"].clone()
    };
    let when = "2026-07-28T12:00:00Z";
    assert_eq!(
        result(1.0, when),
        json!({ "priority": 1.0, "lastModified": when })
    );
    assert_eq!(result(7.0, when), json!({ "lastModified": when }));
    assert_eq!(result(f64::NAN, "yesterday"), json!({}));
}

#[test]
fn of_many_hints_that_are_none_three_are_logged() {
    use wasmtime::component::Val;

    use super::tool_result;

    let (logged, _guard) = dormouse_tests::logged::logged();
    let text = Val::Record(vec![
        ("text".into(), Val::String("hi".to_owned())),
        (
            "annotations".into(),
            Val::Option(Some(Box::new(Val::Record(vec![(
                "priority".into(),
                Val::Option(Some(Box::new(Val::Float64(7.0)))),
            )])))),
        ),
    ]);
    let block = Val::Variant("text".into(), Some(Box::new(text)));
    let blocks = Val::List(vec![block; 10_000]);
    let result = tool_result("here", Some(&Type::Contents), Some(blocks));
    assert_eq!(result["content"].as_array().unwrap().len(), 10_000);
    let logged = logged.lines();
    assert_eq!(logged.len(), 4, "{logged:?}");
    assert!(logged[3].contains("9997 more hints"), "{logged:?}");
}

/// Without the count, a declaration of a few kilobytes could make any number of values of no
/// arguments at all.
#[test]
fn defaults_of_defaults_are_counted() {
    let field = |ty: Type, default: Value| Field {
        wit: "a".into(),
        json: "a".into(),
        ty,
        default: Some(default),
    };
    let mut ty = Type::U8;
    let mut default = json!(1);
    for _ in 0..6 {
        ty = Type::List(Box::new(Type::Record(vec![field(ty, default)])));
        default = json!(vec![json!({}); 100]);
    }
    let function: Function = serde_json::from_value(json!({
        "export": { "function": "f" },
        "params": [serde_json::to_value(field(ty, default)).unwrap()],
    }))
    .unwrap();
    let start = dormouse_tests::growth::cpu_time();
    let refused = arguments(&function, &serde_json::Map::new(), u64::MAX).unwrap_err();
    assert!(refused.message.contains("too many values"), "{refused}");
    assert!(dormouse_tests::growth::cpu_time() - start < std::time::Duration::from_secs(10));
    // Few values may have long texts.
    let text = field(Type::String, json!("x".repeat(30_000)));
    let texts = field(
        Type::List(Box::new(Type::Record(vec![text]))),
        json!(vec![json!({}); 1000]),
    );
    let lists = field(
        Type::List(Box::new(Type::Record(vec![texts]))),
        json!(vec![json!({}); 600]),
    );
    let function: Function = serde_json::from_value(json!({
        "export": { "function": "f" }, "params": [serde_json::to_value(lists).unwrap()],
    }))
    .unwrap();
    let most = || dormouse_tests::processes::most_memory(std::process::id()).unwrap();
    let before = most();
    let refused = arguments(&function, &serde_json::Map::new(), 64 << 20).unwrap_err();
    assert!(refused.message.contains("more memory"), "{refused}");
    assert!(most() - before < 200 << 10);
    // It counts for one call alone.
    let few: Function = serde_json::from_value(json!({
        "export": { "function": "f" }, "params": [],
    }))
    .unwrap();
    assert!(arguments(&few, &serde_json::Map::new(), 1000).is_ok());
}

/// The author of the plugin chooses how many cases there are and how many values.
#[test]
fn values_with_many_cases_take_linear_time() {
    let name = |n: usize| format!("a{n:05}");
    let input = |count: usize| {
        let case = |n| Case {
            wit: name(n),
            json: name(n),
        };
        let of_variant = |n| VariantCase {
            wit: name(n),
            json: name(n),
            ty: None,
        };
        let both = |n: usize| {
            let name = name(count - 1 - n % 2);
            Val::Tuple(vec![Val::Enum(name.clone()), Val::Variant(name, None)])
        };
        let ty = Type::List(Box::new(Type::Tuple(vec![
            Type::Enum((0..count).map(case).collect()),
            Type::Variant((0..count).map(of_variant).collect()),
        ])));
        (ty, Val::List((0..count).map(both).collect()))
    };
    dormouse_tests::growth::is_linear("values with cases", 200, input, |(ty, value)| {
        let size = json_size(Some(ty), value, u64::MAX);
        assert!(encode(ty, value.clone()).to_string().len() as u64 >= size);
    });
}

#[test]
fn null_arguments_are_dropped_in_linear_time() {
    let input = |count: usize| {
        let param = |n: usize| json!({ "wit": format!("a{n}"), "json": format!("a{n}"), "type": { "option": "u8" } });
        let function: Function = serde_json::from_value(json!({
            "export": { "function": "f" },
            "params": (0..count).map(param).collect::<Vec<_>>(),
        }))
        .unwrap();
        let nulls: serde_json::Map<_, _> =
            (0..count).map(|n| (format!("a{n}"), Value::Null)).collect();
        (function, nulls)
    };
    dormouse_tests::growth::is_linear("nulls", 200, input, |(function, nulls)| {
        let mut nulls = nulls.clone();
        drop_nulls(function, &mut nulls);
        assert!(nulls.is_empty());
    });
}
