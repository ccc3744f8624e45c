//! A type's schema accepts exactly the JSON that converts, and conversion has one canonical form.

use dormouse_wit::{Case, Field, Function, Type, VariantCase};
use proptest::prelude::*;
use serde_json::{Value, json};
use wasmtime::component::Val;

use super::decode::{arguments, decode, drop_nulls};
use super::encode::encode;
use super::json_size::json_size;

fn name() -> impl Strategy<Value = String> {
    "[a-z]{1,6}"
}

fn names() -> impl Strategy<Value = Vec<Case>> {
    prop::collection::btree_set(name(), 1..4).prop_map(|names| {
        let case = |wit: String| Case {
            json: format!("{wit}_j"),
            wit,
        };
        names.into_iter().map(case).collect()
    })
}

fn a_type() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        Just(Type::Bool),
        Just(Type::S8),
        Just(Type::U8),
        Just(Type::S16),
        Just(Type::U16),
        Just(Type::S32),
        Just(Type::U32),
        Just(Type::S64),
        Just(Type::U64),
        Just(Type::F32),
        Just(Type::F64),
        Just(Type::Char),
        Just(Type::String),
        names().prop_map(Type::Enum),
        names().prop_map(Type::Flags),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let fields = prop::collection::btree_map(name().boxed(), inner.clone(), 1..4);
        prop_oneof![
            inner.clone().prop_map(|ty| Type::List(Box::new(ty))),
            (inner.clone(), 0_u32..3).prop_map(|(ty, n)| Type::FixedList(Box::new(ty), n)),
            prop::collection::vec(inner.clone(), 1..3).prop_map(Type::Tuple),
            fields.prop_map(|fields| {
                let field = |(wit, ty): (String, Type)| Field {
                    json: format!("{wit}J"),
                    wit,
                    ty,
                    default: None,
                };
                Type::Record(fields.into_iter().map(field).collect())
            }),
            inner
                .clone()
                .prop_filter("an option of an option is no tool type", |ty| !matches!(
                    ty,
                    Type::Option(_)
                ))
                .prop_map(|ty| Type::Option(Box::new(ty))),
            prop::collection::btree_map(name(), prop::option::of(inner.clone()), 1..4).prop_map(
                |cases| {
                    let case = |(wit, ty): (String, Option<Type>)| VariantCase {
                        json: wit.clone(),
                        wit,
                        ty,
                    };
                    Type::Variant(cases.into_iter().map(case).collect())
                }
            ),
            (
                prop::option::of(inner.clone()),
                prop::option::of(inner.clone())
            )
                .prop_map(|(ok, err)| Type::Result {
                    ok: ok.map(Box::new),
                    err: err.map(Box::new),
                }),
            inner
                .clone()
                .prop_map(|ty| Type::Map(Box::new(Type::String), Box::new(ty))),
            inner.prop_map(|ty| Type::Map(Box::new(Type::U8), Box::new(ty))),
        ]
    })
}

/// Generates JSON that is a value of the type, most of the time.
fn a_value(ty: &Type) -> BoxedStrategy<Value> {
    let good = match ty {
        Type::Bool => any::<bool>().prop_map(Value::from).boxed(),
        Type::S8 | Type::U8 => (-130_i64..260).prop_map(Value::from).boxed(),
        Type::S16 | Type::U16 | Type::S32 | Type::U32 => {
            prop_oneof![any::<i64>(), -70_000_i64..70_000]
                .prop_map(Value::from)
                .boxed()
        }
        Type::S64 | Type::U64 => prop_oneof![
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from)
        ]
        .boxed(),
        Type::F32 | Type::F64 => any::<f64>().prop_map(|n| json!(n)).boxed(),
        Type::Char => "\\PC{0,2}".prop_map(Value::from).boxed(),
        Type::String => "\\PC{0,8}".prop_map(Value::from).boxed(),
        Type::Enum(cases) => some_of(cases, 1)
            .prop_map(|v| v.into_iter().next().unwrap())
            .boxed(),
        Type::Flags(cases) => some_of(cases, 3).prop_map(Value::from).boxed(),
        Type::List(item) => prop::collection::vec(a_value(item), 0..3)
            .prop_map(Value::from)
            .boxed(),
        Type::FixedList(item, n) => {
            let n = *n as usize;
            prop::collection::vec(a_value(item), n..=n)
                .prop_map(Value::from)
                .boxed()
        }
        Type::Tuple(items) => items
            .iter()
            .map(a_value)
            .collect::<Vec<_>>()
            .prop_map(Value::from)
            .boxed(),
        Type::Record(fields) => {
            let names: Vec<_> = fields.iter().map(|field| field.json.clone()).collect();
            let values: Vec<_> = fields
                .iter()
                .map(|field| prop::option::weighted(0.9, a_value(&field.ty)))
                .collect();
            values
                .prop_map(move |values| {
                    let members = names.iter().cloned().zip(values);
                    Value::Object(members.filter_map(|(name, v)| Some((name, v?))).collect())
                })
                .boxed()
        }
        Type::Option(inner) => prop_oneof![Just(Value::Null), a_value(inner)].boxed(),
        Type::Variant(cases) => prop::sample::select(cases.clone())
            .prop_flat_map(|case| match &case.ty {
                Some(ty) => {
                    let tag = case.json.clone();
                    a_value(ty)
                        .prop_map(move |v| json!({ "tag": tag, "value": v }))
                        .boxed()
                }
                None => Just(json!({ "tag": case.json })).boxed(),
            })
            .boxed(),
        Type::Result { ok, err } => {
            let side =
                |ty: &Option<Box<Type>>| ty.as_deref().map_or(Just(Value::Null).boxed(), a_value);
            prop_oneof![
                side(ok).prop_map(|v| json!({ "ok": v })),
                side(err).prop_map(|v| json!({ "err": v })),
            ]
            .boxed()
        }
        Type::Map(key, item) if **key == Type::String => {
            prop::collection::btree_map("[a-z]{0,3}", a_value(item), 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect()))
                .boxed()
        }
        Type::Map(key, item) => prop::collection::vec((a_value(key), a_value(item)), 0..3)
            .prop_map(|pairs| pairs.into_iter().map(|(k, v)| json!([k, v])).collect())
            .boxed(),
        Type::Bytes | Type::Content | Type::Contents | Type::Messages | Type::Embedded => {
            Just(Value::Null).boxed()
        }
    };
    let odd = prop::sample::select(vec![
        json!(null),
        json!(5.0),
        json!(5.5),
        json!("x"),
        json!([]),
        json!({}),
        json!({ "tag": "zzz" }),
        json!(true),
        json!(-1),
        json!(1e300),
    ]);
    prop_oneof![8 => good, 1 => odd].boxed()
}

fn some_of(cases: &[Case], most: usize) -> BoxedStrategy<Vec<Value>> {
    let names: Vec<_> = cases
        .iter()
        .map(|case| Value::from(case.json.as_str()))
        .collect();
    prop::collection::vec(prop::sample::select(names), 1..=most).boxed()
}

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
            let canonical = encode(&ty, &decoded);
            let again = decode(&ty, &canonical);
            prop_assert!(again.is_ok(), "{:?} {} {:?}", ty, canonical, again);
            prop_assert_eq!(encode(&ty, &again.unwrap()), canonical);
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
            assert_eq!(encode(&Type::Bytes, &value), json!(text));
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
    assert_eq!(encode(&Type::F64, &Val::Float64(f64::NAN)), Value::Null);
    assert_eq!(
        encode(&Type::F32, &Val::Float32(f32::INFINITY)),
        Value::Null
    );
    assert_eq!(encode(&Type::F32, &Val::Float32(0.1)), json!(0.1));
    assert_eq!(encode(&Type::F64, &Val::Float64(5.0)), json!(5));
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
        let result = tool_result("here", Some(&Type::Contents), Some(&Val::List(vec![block])));
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
    let result = tool_result("here", Some(&Type::Contents), Some(&blocks));
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
        assert!(encode(ty, value).to_string().len() as u64 >= size);
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
